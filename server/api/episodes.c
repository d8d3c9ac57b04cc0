/* Pages of episodes and one episode's document. SQL: always on a worker. */
#include "server/api/episodes.h"
#include "server/api/chosen.h"
#include "server/api/cursor.h"
#include "server/api/documents.h"
#include "server/api/handlers.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the document of one episode ---- */

static void put_bool(struct hub_json *json, const char *key, int value)
{
    if (value >= 0)
        hub_json_put_bool(json, key, value);
}

static void put_json(struct hub_json *json, const char *key, const char *text, const char *otherwise)
{
    hub_json_put_raw(json, key, hub_view_of(text && *text ? text : otherwise));
}

/* A seed is a number where JSON readers keep it exactly, else text (64-bit seeds, and the word "None"). */
static void put_seed(struct hub_json *json, const char *seed)
{
    const size_t n = seed ? strspn(seed, "0123456789") : 0;
    hub_json_key(json, HUB_VIEW("seed"));
    if (n > 0 && n <= 20 && seed[n] == '\0' && (seed[0] != '0' || n == 1))
        hub_json_safe_uint(json, strtoull(seed, NULL, 10));
    else
        hub_json_string(json, hub_view_of(seed));
}

static void write_episode(struct hub_json *json, const struct hub_found_episode *row, const char *file)
{
    hub_json_put_int(json, "number", row->number);
    hub_json_put_text(json, "name", row->name);
    hub_put_path(json, "file", file);
    hub_json_put_uint(json, "steps", row->steps);
    if (row->seed)
        put_seed(json, row->seed);
    if (row->has_return) {
        hub_json_put_double(json, "return", row->episode_return);
        hub_json_put_text(json, "return_origin", row->return_computed ? "computed" : "claimed");
    }
    put_bool(json, "success", row->success);
    hub_json_put_text(json, "task", row->task);
    put_bool(json, "terminated", row->terminated);
    put_bool(json, "truncated", row->truncated);
    put_json(json, "splits", row->splits, "[]");
    put_json(json, "attributes", row->attributes, "{}");
    put_json(json, "statistics", row->statistics, "{}");
}

/* ---- a page ---- */

struct items {
    struct hub_json json;
    int64_t last;
};

static enum hub_status add_item(void *user, const struct hub_found_episode *row, const char *file,
                                struct hub_error *err)
{
    struct items *items = user;
    (void)err; /* the writer has the same one */
    hub_json_object(&items->json);
    write_episode(&items->json, row, file);
    hub_json_end_object(&items->json);
    items->last = row->number;
    return hub_json_status(&items->json);
}

static void end_dispose(struct hub_episode_page *end)
{
    hub_buf_dispose(&end->key);
}

static enum hub_status write_page(struct hub_request *request, const struct hub_target *target,
                                  const struct hub_episode_query *query, const struct hub_page_query *page,
                                  struct hub_response *response, struct hub_error *err)
{
    struct hub_page_cursor next = {0};
    HUB_CLEANUP(end_dispose) struct hub_episode_page end = {.key = HUB_BUF_INIT(sizeof next.key - 1)};
    struct items items = {.json = hub_page_begin(page, response, 64 * MIB, err)};
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    HUB_TRY(hub_episode_page(&target->state, query, add_item, &items, &end, err));
    next.behind = end.key.size == 0;
    snprintf(next.key, sizeof next.key, "%s", end.key.data ? end.key.data : "");
    snprintf(next.tie, sizeof next.tie, "%" PRId64, items.last);
    HUB_TRY(hub_page_end(request, page, response, &items.json, end.total, end.more ? &next : NULL, err));
    return hub_reply_document(request, response, err);
}

/* Drawn ones stand in the order of the draw: the cursor is a place in it. */
static enum hub_status list_drawn(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    static const char *const parameters[] = {HUB_CHOSEN_PARAMETERS "limit", "cursor", "for", "revision",
                                             NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_chosen_dispose) struct hub_chosen_episodes chosen = {0};
    struct hub_page_cursor next = {0};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    HUB_TRY(hub_chosen_episodes(request, response, &target.state, UINT32_MAX, &chosen, err));
    struct items items = {.json = hub_page_begin(&page, response, 64 * MIB, err)};
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    uint64_t at = page.goes_on ? strtoull(page.after.key, NULL, 10) : 0;
    for (uint32_t n = 0; at < chosen.count && n < page.limit; n++, at++) {
        const struct hub_dataset_episode *episode = &target.state.dataset->episodes[chosen.places[at]];
        HUB_TRY(hub_episode_one(&target.state, episode->number, add_item, &items, err));
    }
    snprintf(next.key, sizeof next.key, "%" PRIu64, at);
    HUB_TRY(hub_page_end(request, &page, response, &items.json, chosen.count,
                         at < chosen.count ? &next : NULL, err));
    return hub_reply_document(request, response, err);
}

static void continue_behind(const struct hub_page_query *page, struct hub_episode_query *query)
{
    query->limit = page->limit;
    query->has_after = page->goes_on;
    if (!page->goes_on)
        return;
    query->after_is_null = page->after.behind;
    query->after_key = hub_view_of(page->after.key);
    query->after_number = strtoll(page->after.tie, NULL, 10);
}

enum hub_status hub_episodes_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    static const char *const parameters[] = {"where", "sort",   "split", "name",     "task",
                                             "limit", "cursor", "for",   "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_episodes_asked_dispose) struct hub_episodes_asked asked = {0};
    struct hub_page_query page;
    if (hub_request_query(request, "columns").data)
        return hub_episodes_columns(request, response, err);
    if (hub_chosen_is_drawn(request))
        return list_drawn(request, response, err);
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    HUB_TRY(hub_episodes_asked(request, &asked, err));
    continue_behind(&page, &asked.query);
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    return write_page(request, &target, &asked.query, &page, response, err);
}

/* ---- one ---- */

static enum hub_status add_members(void *user, const struct hub_found_episode *row, const char *file,
                                   struct hub_error *err)
{
    (void)err;
    write_episode(user, row, file);
    return hub_json_status(user);
}

static void write_window(struct hub_json *json, const struct hub_dataset_field *field,
                         const struct hub_layout *layout, const struct hub_window *window)
{
    const struct hub_array *array = &layout->arrays[window->array];
    const struct hub_variant *v = &layout->variants[array->variant];
    char dtype[24];
    hub_variant_name(v, field->type, dtype);
    hub_json_put_text(json, "dtype", dtype);
    hub_json_put_array(json, "shape");
    if (!(array->flags & HUB_ARRAY_SCALAR))
        hub_json_uint(json, window->count);
    for (unsigned d = 0; d < v->rank; d++)
        hub_json_uint(json, v->dims[d]);
    hub_json_end_array(json);
}

/* One field of an episode, with its rows; one that cannot be read hides no other. */
static enum hub_status write_field(struct hub_json *json, const struct hub_state *state,
                                   const struct hub_dataset_episode *episode, uint32_t number,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    const struct hub_dataset_field *field = &state->dataset->fields[number];
    const enum hub_status st =
        hub_layout_get(state->catalog, state->dataset, episode->part, number, true, &ref, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    const struct hub_window *window = hub_layout_window(hub_layout_of(ref), episode->index);
    if (!window)
        return HUB_OK;
    const char *unreadable = hub_layout_why(ref, window);
    hub_json_object(json);
    hub_json_put_text(json, "path", field->path);
    hub_json_put_text(json, "axis", hub_axis_name(field->axis));
    hub_json_put_text(json, "unreadable", unreadable);
    if (!unreadable)
        write_window(json, field, hub_layout_of(ref), window);
    hub_json_end_object(json);
    return HUB_OK;
}

static enum hub_status write_fields(struct hub_json *json, const struct hub_state *state,
                                    const struct hub_dataset_episode *episode, struct hub_error *err)
{
    hub_json_put_array(json, "fields");
    for (uint32_t i = 0; i < state->dataset->field_count; i++)
        HUB_TRY(write_field(json, state, episode, i, err));
    hub_json_end_array(json);
    return hub_json_status(json);
}

/* What is about rows asks for their fields too. */
static enum hub_status check_of_rows(const struct hub_request *request, struct hub_error *err)
{
    static const char *const of_rows[] = {"start",    "stop",   "step",     "final",
                                          "sentinel", "format", "nonfinite"};
    for (size_t i = 0; i < HUB_COUNT(of_rows); i++)
        if (hub_request_query(request, of_rows[i]).data)
            return hub_request_wrong(request, of_rows[i], err,
                                     "%s needs fields=, which names the fields whose rows are meant",
                                     of_rows[i]);
    return HUB_OK;
}

enum hub_status hub_episode_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {"for", "revision", "fields", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    const struct hub_dataset_episode *episode;
    if (hub_request_query(request, "fields").data)
        return hub_fields_data(request, response, err);
    HUB_TRY(check_of_rows(request, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    HUB_TRY(hub_find_episode(request, target.state.dataset, &episode, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    hub_json_object(&json);
    HUB_TRY(hub_episode_one(&target.state, episode->number, add_members, &json, err));
    HUB_TRY(write_fields(&json, &target.state, episode, err));
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    return hub_reply_document(request, response, err);
}
