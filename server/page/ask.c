/* A page asks the hub's own API: see ask.h. */
#include "server/page/ask.h"

#include "server/api/app.h"
#include "server/http/inner.h"
#include "server/http/server.h"

#include <math.h>
#include <stdlib.h>

enum { ANSWER_LIMIT = 32 * 1024 * 1024 };

/* Where an integer needs more than 63 bits, which jansson refuses, those beyond 2^53 are text, with all
 * their digits. */
static enum hub_status parse(struct hub_view body, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf quoted = HUB_BUF_INIT(2 * ANSWER_LIMIT);
    if (!hub_json_parse(body, ANSWER_LIMIT, out, NULL))
        return HUB_OK;
    HUB_TRY(hub_json_strict(body, &quoted, err));
    return hub_json_parse(hub_buf_view(&quoted), 2 * ANSWER_LIMIT, out, err);
}

enum hub_status hub_page_fetch(struct hub_request *page, const char *target, char **extra, json_t **out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_inner_dispose) struct hub_inner inner = {0};
    struct hub_view body;
    enum hub_status st = hub_inner_get(&inner, page, hub_http_routes(page->app->http), target, err);
    if (!st)
        st = hub_inner_body(&inner, ANSWER_LIMIT, &body, err);
    if (!st)
        st = parse(body, out, err);
    if (st && extra) { /* the answer's to give */
        free(*extra);
        *extra = inner.response.problem_extra;
        inner.response.problem_extra = NULL;
    }
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
