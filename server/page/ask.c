/* A page asks the hub's own API: see ask.h. */
#include "server/page/ask.h"

#include "server/api/handlers.h"
#include "storage/base/time.h"

#include <math.h>
#include <stdlib.h>

enum { ANSWER_LIMIT = 32 * 1024 * 1024, ROWS_MS = 5000 };

/* What pages ask for. */
static const struct hub_route asked[] = {
    {"GET", "/api/v1/datasets", hub_datasets_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}", hub_dataset_show, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}/~statistics", hub_statistics_show, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}/~findings", hub_findings_show, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}/episodes", hub_episodes_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}?fields", hub_fields_data, "", 0, HUB_FOR_ALL, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}", hub_episode_show, "", 0, HUB_FOR_ALL, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/~media", hub_media_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/datasets/{id}/episodes/{n}/{path}", hub_field_data, "", 0, HUB_FOR_ALL, ROWS_MS},
    {"GET", "/api/v1/datasets/{id}/files", hub_files_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/namespaces", hub_namespaces_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/status", hub_status_show, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/jobs", hub_jobs_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/problems", hub_problems_list, "", 0, HUB_FOR_ALL, 0},
    {"GET", "/api/v1/mirrors", hub_mirrors_list, "", 0, HUB_FOR_ALL, 0},
    {NULL, NULL, NULL, NULL, 0, false, 0},
};

/* The body of an answer, wherever it lies; `made` holds what is made as it is sent. */
static enum hub_status body_of(struct hub_response *response, struct hub_buf *made, struct hub_view *out,
                               struct hub_error *err)
{
    *out = hub_buf_view(&response->buffer);
    if (response->kind == HUB_BODY_SHARED)
        *out = hub_bytes_view(response->shared);
    if (response->kind != HUB_BODY_MADE)
        return HUB_OK;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf stretch = HUB_BUF_INIT(HUB_MADE_LIMIT);
    HUB_TRY(hub_buf_add_view(made, hub_buf_view(&response->buffer), err));
    do {
        stretch.size = 0;
        HUB_TRY(response->maker->more(response->maker, &stretch, err));
        HUB_TRY(hub_buf_add_view(made, hub_buf_view(&stretch), err));
    } while (stretch.size);
    *out = hub_buf_view(made);
    return HUB_OK;
}

/* Where an integer needs more than 63 bits, which jansson refuses, those beyond 2^53 are text, with all their digits. */
static enum hub_status parse(struct hub_view body, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf quoted = HUB_BUF_INIT(2 * ANSWER_LIMIT);
    if (!hub_json_parse(body, ANSWER_LIMIT, out, NULL))
        return HUB_OK;
    HUB_TRY(hub_json_strict(body, &quoted, err));
    return hub_json_parse(hub_buf_view(&quoted), 2 * ANSWER_LIMIT, out, err);
}

static enum hub_status call(struct hub_request *request, struct hub_response *response, json_t **out,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf made = HUB_BUF_INIT(ANSWER_LIMIT);
    const struct hub_route *route;
    struct hub_view body;
    char allow[64];
    HUB_TRY(hub_route_find(request, asked, &route, allow, err));
    request->ceiling_ms = route->ceiling_ms;
    HUB_TRY(route->handler(request, response, err));
    HUB_TRY(body_of(response, &made, &body, err));
    return parse(body, out, err);
}

enum hub_status hub_page_ask(struct hub_request *page, const char *target, char **extra, json_t **out,
                             struct hub_error *err)
{
    struct hub_request request = {0};
    struct hub_response response;
    enum hub_status st = hub_request_init(&request, HUB_GET, target, err);
    hub_response_init(&response);
    request.app = page->app;
    request.base_url = page->base_url;
    request.names_server = page->names_server;
    request.may_block = request.partial = true;
    request.heavy = page->heavy;
    request.client = page->client;
    request.granted = page->granted;
    request.parallel = page->parallel;
    page->granted = 0;
    if (!st)
        st = call(&request, &response, out, err);
    page->granted = request.granted;
    page->wait = request.wait; /* so does the page, and asks again from its start */
    if (st == HUB_AGAIN && request.wait.on != HUB_WAIT_MEMORY && request.wait.on != HUB_WAIT_HEAVY)
        st = hub_fail_as(err, HUB_BUSY, "overloaded",
                         "the upstream of this dataset has not sent it yet: try again soon");
    if (st && extra) { /* the answer's to give */
        free(*extra);
        *extra = response.problem_extra;
        response.problem_extra = NULL;
    }
    hub_response_dispose(&response);
    hub_request_end(&request);
    hub_request_dispose(&request);
    return st;
}

struct hub_view page_text(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return (struct hub_view){json_string_value(value), json_string_length(value)};
}

uint64_t page_count(const json_t *object, const char *key)
{
    const double value = page_double(object, key);
    return value > 0 && value < 1.8e19 ? (uint64_t)value : 0;
}

double page_double_of(const json_t *value)
{
    if (json_is_number(value))
        return json_number_value(value);
    if (json_is_boolean(value))
        return json_is_true(value);
    return json_is_string(value) && json_string_length(value) ? strtod(json_string_value(value), NULL) : NAN;
}

double page_double(const json_t *object, const char *key)
{
    return page_double_of(json_object_get(object, key));
}

bool page_flag(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}
