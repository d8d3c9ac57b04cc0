/* Pages of episodes and one episode's document. SQL: always on a worker. */
#include "server/api/cursor.h"
#include "server/api/episodes/columns.h"
#include "server/api/episodes/coverage.h"
#include "server/api/episodes/episode_parameters.h"
#include "server/api/episodes/episode_selection.h"
#include "server/api/handlers.h"
#include "server/api/put.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "server/api/tables/lines.h"
#include "server/api/work.h"
#include "storage/base/order.h"
#include "storage/statistics/measured.h"
#include "storage/text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MEASURED_US 60.0 /* to write the metrics and sparklines of an episode, as it was measured */

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

struct episode_items {
    struct hub_json json;
    const struct hub_state *state;
    struct hub_measured_items *measured;
    uint32_t count;
    int64_t first, last;
};

static enum hub_status add_item(void *user, const struct hub_found_episode *row, const char *file,
                                struct hub_error *err)
{
    struct episode_items *items = user;
    const struct hub_dataset_episode *e = hub_dataset_find_episode(items->state->dataset, row->number);
    hub_json_object(&items->json);
    write_episode(&items->json, row, file);
    if (e)
        HUB_TRY(hub_measured_item(&items->json, items->measured, items->state, e, err));
    hub_json_end_object(&items->json);
    items->first = items->count++ ? items->first : row->number;
    items->last = row->number;
    return hub_json_status(&items->json);
}

/* include=: what is measured of each beside what is known of it. */
static enum hub_status read_include(const struct hub_request *request, struct hub_measured_items *out,
                                    struct hub_error *err)
{
    struct hub_view rest = hub_request_query(request, "include");
    while (rest.size) {
        const char *comma = memchr(rest.data, ',', rest.size);
        const struct hub_view word = {rest.data, comma ? (size_t)(comma - rest.data) : rest.size};
        bool *params = hub_view_is(word, "metrics") ? &out->metrics : &out->spark;
        if (!hub_view_is(word, "metrics") && !hub_view_is(word, "spark"))
            return hub_request_wrong(request, "include", err,
                                     "include must be metrics, spark, or both separated by a comma");
        *params = true;
        rest = comma ? (struct hub_view){comma + 1, rest.size - word.size - 1} : (struct hub_view){0};
    }
    return HUB_OK;
}

/* Require the values that the episodes are chosen and sorted by, and write how much is measured into `more`,
 * the further members of a page. A value that is only shown may be null. */
static enum hub_status put_coverage(struct hub_request *request, const struct hub_target *target,
                                    const struct hub_measured_items *shown, struct hub_response *response,
                                    struct hub_buf *more, struct hub_error *err)
{
    struct hub_coverage coverage;
    struct hub_json json = hub_json_to(more, err);
    HUB_TRY(hub_coverage_require(request, response, target, NULL, 0, &coverage, err));
    more->limit = 1 * KIB;
    hub_coverage_named_put(&json, &coverage);
    HUB_TRY(hub_json_status(&json));
    if (shown->metrics || shown->spark) {
        HUB_TRY(hub_coverage_read(&target->state, HUB_MEASURED_ALL, &coverage, err));
        coverage.named = true;
    }
    return hub_coverage_named_headers(request, target, &coverage, response, err);
}

static void end_dispose(struct hub_episode_page *end)
{
    hub_buf_dispose(&end->key);
}

/* A cursor at an episode, wherever the order that is asked for has it. */
static void set_place(struct hub_page_cursor *cursor, int64_t number)
{
    snprintf(cursor->key, sizeof cursor->key, "@");
    snprintf(cursor->tie, sizeof cursor->tie, "%" PRId64, number);
}

static enum hub_status write_page(struct hub_request *request, const struct hub_target *target,
                                  struct hub_episode_query *query, const struct hub_page_query *page,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose) struct hub_page_ends ends = {0};
    HUB_CLEANUP(end_dispose) struct hub_episode_page end = {.key = HUB_BUF_INIT(sizeof ends.next.key - 1)};
    HUB_CLEANUP(hub_measured_items_leave) struct hub_measured_items measured = {0};
    HUB_TRY(read_include(request, &measured, err));
    HUB_TRY(hub_episodes_admit(request, &target->state, query, err));
    if (measured.metrics || measured.spark)
        HUB_TRY(hub_work_admit_us(request, HUB_WORK_EPISODES, page->limit * MEASURED_US, err));
    HUB_TRY(put_coverage(request, target, &measured, response, &ends.more, err));
    struct episode_items items = {.json = hub_page_begin(page, response, 64 * MIB, err),
                                  .state = &target->state,
                                  .measured = &measured};
    HUB_TRY(hub_episode_page(&target->state, query, add_item, &items, &end, err));
    ends.total = end.total;
    ends.has_next = end.more;
    ends.next.behind = end.key.size == 0;
    snprintf(ends.next.key, sizeof ends.next.key, "%s", end.key.data ? end.key.data : "");
    snprintf(ends.next.tie, sizeof ends.next.tie, "%" PRId64, items.last);
    ends.has_prev = page->goes_on && items.count;
    set_place(&ends.prev, items.first);
    HUB_TRY(hub_page_close(request, page, response, &items.json, &ends, err));
    return hub_reply_document(request, response, err);
}

/* ---- in an order that is held whole ---- */

/* Drawn ones, what lies in front of a page, the page around one, all of them as lines. */
struct ordered_episodes {
    const struct hub_dataset *dataset;
    const uint32_t *places; /* NULL: all of the dataset, by number */
    uint32_t count;
};

static const struct hub_dataset_episode *episode_at(const struct ordered_episodes *p, uint32_t place)
{
    return &p->dataset->episodes[p->places ? p->places[place] : place];
}

static bool is_plain(const struct hub_request *request)
{
    static const char *const choices[] = {"where", "split", "name", "task"};
    const struct hub_view sort = hub_request_query(request, "sort");
    bool plain = !hub_episode_selection_is_sampled(request) && (!sort.data || hub_view_is(sort, "number"));
    for (size_t i = 0; i < HUB_COUNT(choices); i++)
        plain = plain && !hub_request_query(request, choices[i]).data;
    return plain;
}

static bool find_number(const struct ordered_episodes *p, int64_t number, uint32_t *place)
{
    const struct hub_dataset *d = p->dataset;
    *place = 0;
    if (!p->places)
        *place = hub_lower_bound(&number, d->episodes, d->episode_count, sizeof *d->episodes, hub_by_i64);
    while (p->places && *place < p->count && episode_at(p, *place)->number != number)
        (*place)++;
    return *place < p->count && episode_at(p, *place)->number == number;
}

static enum hub_status first_of(const struct hub_request *request, const struct ordered_episodes *p,
                                const struct hub_page_query *page, uint32_t *first, struct hub_error *err)
{
    int64_t number;
    bool around;
    HUB_TRY(hub_request_int(request, "at", &number, &around, err));
    if (!around && !page->goes_on) {
        *first = 0;
        return HUB_OK;
    }
    number = around ? number : strtoll(page->after.tie, NULL, 10);
    const bool found = find_number(p, number, first);
    if (!found && around)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING, "at",
                              hub_request_query(request, "at").data,
                              "episode %" PRId64 " is not one of the chosen episodes", number);
    if (!found && p->places)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR, "cursor",
                              hub_request_query(request, "cursor").data,
                              "the episode of this cursor no longer exists; start again without a cursor");
    *first = around ? *first / page->limit * page->limit
                    : hub_page_first(page, *first + (found && !page->after.back));
    return HUB_OK;
}

static enum hub_status write_ordered(struct hub_request *request, const struct hub_target *target,
                                     const struct ordered_episodes *p, const struct hub_page_query *page,
                                     struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose) struct hub_page_ends ends = {.total = p->count};
    uint32_t first;
    HUB_TRY(first_of(request, p, page, &first, err));
    HUB_CLEANUP(hub_measured_items_leave) struct hub_measured_items measured = {0};
    HUB_TRY(read_include(request, &measured, err));
    HUB_TRY(put_coverage(request, target, &measured, response, &ends.more, err));
    struct episode_items items = {.json = hub_page_begin(page, response, 64 * MIB, err),
                                  .state = &target->state,
                                  .measured = &measured};
    const uint32_t end = HUB_MIN(p->count, first + page->limit);
    for (uint32_t i = first; i < end; i++)
        HUB_TRY(hub_episode_one(&target->state, episode_at(p, i)->number, add_item, &items, err));
    hub_page_span(&ends, first, end);
    set_place(&ends.next, items.last);
    set_place(&ends.prev, items.first);
    if (!p->places) { /* on from here as by number */
        ends.next.key[0] = '\0';
        ends.next.behind = true;
    }
    HUB_TRY(hub_page_close(request, page, response, &items.json, &ends, err));
    return hub_reply_document(request, response, err);
}

struct episode_lines {
    struct hub_lines lines; /* first */
    struct hub_catalog *catalog;
    struct ordered_episodes ordered;
    uint32_t *places; /* the lines' */
    struct hub_state state;
    struct hub_measured_items measured; /* of that state */
};

static void dispose_lines(struct hub_lines *lines)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    hub_dataset_put(e->ordered.dataset);
    free(e->places);
}

static enum hub_status begin_chunk(struct hub_lines *lines, struct hub_error *err)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    const struct hub_dataset *d = e->ordered.dataset;
    HUB_TRY(hub_state_open(e->catalog, d->summary, &e->state, err));
    return strcmp(e->state.dataset->summary->revision, d->summary->revision) == 0 &&
                   e->state.dataset->episode_count == d->episode_count
               ? HUB_OK
               : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "it was published again");
}

static void end_chunk(struct hub_lines *lines)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    hub_measured_items_leave(&e->measured);
    hub_state_close(&e->state);
    e->state = (struct hub_state){0};
}

static enum hub_status add_members(void *user, const struct hub_found_episode *row, const char *file,
                                   struct hub_error *err)
{
    (void)err;
    write_episode(user, row, file);
    return hub_json_status(user);
}

static enum hub_status put_line(struct hub_lines *lines, uint32_t place, struct hub_json *json,
                                struct hub_error *err)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    const struct hub_dataset_episode *episode = episode_at(&e->ordered, place);
    HUB_TRY(hub_episode_one(&e->state, episode->number, add_members, json, err));
    return hub_measured_item(json, &e->measured, &e->state, episode, err);
}

static enum hub_status send_lines(struct hub_request *request, struct hub_target *target,
                                  struct hub_episode_selection *chosen, const struct ordered_episodes *p,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf members = {0}; /* which lines have no place for */
    struct episode_lines *e;
    struct hub_measured_items measured = {0};
    HUB_TRY(read_include(request, &measured, err));
    HUB_TRY(put_coverage(request, target, &measured, response, &members, err));
    HUB_TRY(hub_new(&e, 1, sizeof *e, err));
    *e = (struct episode_lines){.lines = {.end = p->count,
                                          .put = put_line,
                                          .begin = begin_chunk,
                                          .end_chunk = end_chunk,
                                          .dispose = dispose_lines},
                                .catalog = request->app->catalog,
                                .ordered = *p,
                                .places = chosen->places,
                                .measured = measured};
    chosen->places = NULL; /* the lines' now, and the reference to the dataset */
    target->state.dataset = NULL;
    return hub_lines_answer(response, &e->lines, err);
}

static enum hub_status list_ordered(struct hub_request *request, struct hub_response *response,
                                    const char *const *parameters, struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_episode_selection_dispose) struct hub_episode_selection chosen = {0};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    const struct hub_dataset *dataset = target.state.dataset;
    struct ordered_episodes p = {dataset, NULL, dataset->episode_count};
    struct hub_coverage coverage;
    if (!is_plain(request)) {
        HUB_TRY(hub_coverage_require(request, response, &target, NULL, 0, &coverage, err));
        HUB_TRY(hub_episode_selection_open(request, response, &target.state, UINT32_MAX, &chosen, err));
        p.places = chosen.places;
        p.count = chosen.count;
    }
    return page.all && !page.goes_on && !hub_request_query(request, "at").data
               ? send_lines(request, &target, &chosen, &p, response, err)
               : write_ordered(request, &target, &p, &page, response, err);
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
    static const char *const parameters[] = {"where",  "sort",    "split", "name",     "task",
                                             "wait",   "partial", "at",    "include",  "limit",
                                             "cursor", "format",  "for",   "revision", NULL};
    static const char *const of_drawn[] = {
        HUB_SELECTION_PARAMETERS "at", "include", "limit", "cursor", "format", "for", "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    struct hub_page_query page;
    if (hub_request_query(request, "columns").data)
        return hub_episodes_columns(request, response, err);
    if (hub_episode_selection_is_sampled(request))
        return list_ordered(request, response, of_drawn, err);
    HUB_TRY(hub_page_read(request, parameters, &page, err));
    if (page.all || page.after.back || page.after.key[0] == '@' || hub_request_query(request, "at").data)
        return list_ordered(request, response, parameters, err);
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    continue_behind(&page, &params.query);
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    return write_page(request, &target, &params.query, &page, response, err);
}

/* ---- one ---- */

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

/* ---- which one comes before and after it ---- */

static void put_neighbour(struct hub_json *json, const char *key, const struct ordered_episodes *p,
                          bool there, uint32_t place)
{
    hub_json_key(json, hub_view_of(key));
    if (there)
        hub_json_int(json, episode_at(p, place)->number);
    else
        hub_json_null(json);
}

/* In the order of the list that is asked for beside it; of one that is not in that list there are none. */
static enum hub_status write_neighbours(struct hub_request *request, struct hub_response *response,
                                        const struct hub_target *target, int64_t number,
                                        struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_selection_dispose) struct hub_episode_selection chosen = {0};
    struct ordered_episodes p = {target->state.dataset, NULL, target->state.dataset->episode_count};
    uint32_t place;
    if (!is_plain(request)) {
        HUB_TRY(hub_episode_selection_open(request, response, &target->state, UINT32_MAX, &chosen, err));
        p.places = chosen.places;
        p.count = chosen.count;
    }
    const bool found = find_number(&p, number, &place);
    hub_json_put_object(json, "neighbours");
    put_neighbour(json, "previous", &p, found && place > 0, place - 1);
    put_neighbour(json, "next", &p, found && place + 1 < p.count, place + 1);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* What is about rows asks for their fields too. */
static enum hub_status check_of_rows(const struct hub_request *request, struct hub_error *err)
{
    static const char *const of_rows[] = {"start",    "stop",   "step",     "final",
                                          "sentinel", "format", "nonfinite"};
    for (size_t i = 0; i < HUB_COUNT(of_rows); i++)
        if (hub_request_query(request, of_rows[i]).data)
            return hub_request_wrong(request, of_rows[i], err, "%s needs fields=, the names of the fields",
                                     of_rows[i]);
    return HUB_OK;
}

/* More may be known of the same revision later: then it is not kept for ever. */
static enum hub_status unpin_if_unmeasured(struct hub_target *target, struct hub_error *err)
{
    struct hub_coverage measured = {.complete = true};
    if (target->pinned)
        HUB_TRY(hub_coverage_read(&target->state, HUB_MEASURED_ALL, &measured, err));
    target->pinned &= measured.complete && !measured.failed;
    return HUB_OK;
}

enum hub_status hub_episode_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {
        "where", "split", "task", "name", HUB_MEASURED_PARAMETERS "sort", "for", "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    struct hub_coverage coverage;
    const struct hub_dataset_episode *episode;
    HUB_TRY(check_of_rows(request, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    HUB_TRY(hub_find_episode(request, target.state.dataset, &episode, err));
    HUB_TRY(unpin_if_unmeasured(&target, err));
    HUB_TRY(hub_coverage_require(request, response, &target, NULL, 0, &coverage, err));
    HUB_TRY(hub_coverage_named_headers(request, &target, &coverage, response, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    hub_json_object(&json);
    HUB_TRY(hub_episode_one(&target.state, episode->number, add_members, &json, err));
    HUB_TRY(write_fields(&json, &target.state, episode, err));
    HUB_TRY(hub_measured_put(&json, &target.state, episode, err));
    HUB_TRY(write_neighbours(request, response, &target, episode->number, &json, err));
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_reply_document(request, response, err);
}
