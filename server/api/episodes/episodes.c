/* Pages of episodes and one episode's document. SQL: always on a worker. */
#include "server/api/cursor.h"
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

static void write_row(struct hub_json *json, const struct hub_found_episode *row, const char *file)
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

static enum hub_status write_episode(struct hub_json *json, struct hub_episode_reader *reader,
                                     const struct hub_dataset_episode *e, struct hub_error *err)
{
    struct hub_found_episode row;
    const char *file;
    HUB_TRY(hub_episode_describe(reader, e, &row, &file, err));
    write_row(json, &row, file);
    return hub_json_status(json);
}

/* ---- a page ---- */

/* include=: what is measured of each beside what is known of it. */
static void read_include(const struct hub_request *request, struct hub_measured_items *out)
{
    const unsigned words = hub_request_list(request, "include"); /* metrics, spark */
    out->metrics = words & 1;
    out->spark = words & 2;
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

static bool is_plain(const struct hub_request *request)
{
    static const char *const choices[] = {"where", "split", "name", "task"};
    const struct hub_view sort = hub_request_query(request, "sort");
    return !hub_episode_selection_is_sampled(request) && (!sort.data || hub_view_is(sort, "number")) &&
           !hub_request_any(request, choices, HUB_COUNT(choices));
}

/* Where the page lies: at=, else the episode that the cursor was made at. The key of older cursors is the
 * episode's own. */
static void read_position(const struct hub_request *request, const struct hub_page_query *page,
                          struct hub_episode_query *query)
{
    const bool around = hub_request_int(request, "at", &query->number);
    query->limit = page->limit;
    query->from = around                              ? HUB_PAGE_AROUND
                  : page->goes_on && page->after.back ? HUB_PAGE_BEFORE
                  : page->goes_on                     ? HUB_PAGE_BEHIND
                                                      : HUB_PAGE_FIRST;
    if (!around && page->goes_on)
        query->number = strtoll(page->after.tie, NULL, 10);
}

/* Episodes that are drawn have an order of their own. */
static enum hub_status find_page(struct hub_request *request, struct hub_response *response,
                                 const struct hub_state *state, const struct hub_episode_query *query,
                                 struct hub_episode_page *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_selection_dispose) struct hub_episode_selection chosen = {0};
    struct hub_error why = {0};
    enum hub_status st;
    if (hub_episode_selection_is_sampled(request)) {
        HUB_TRY(hub_episode_selection_open(request, response, state, UINT32_MAX, &chosen, err));
        st = hub_episode_page_among(state->dataset, chosen.places, chosen.count, query, out, &why);
    } else {
        st = hub_episode_page(state, query, out, &why);
    }
    const char *parameter = st == HUB_NOT_FOUND ? "at" : "cursor";
    if (st == HUB_NOT_FOUND || st == HUB_INVALID)
        return hub_fail_about(err, st, why.problem, parameter, hub_request_query(request, parameter).data,
                              "%s", why.detail);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status write_items(struct hub_json *json, const struct hub_state *state,
                                   const struct hub_episode_page *page, struct hub_measured_items *measured,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    for (uint32_t i = 0; i < page->count; i++) {
        const struct hub_dataset_episode *e = &state->dataset->episodes[page->places[i]];
        hub_json_object(json);
        HUB_TRY(write_episode(json, &reader, e, err));
        HUB_TRY(hub_measured_item(json, measured, state, e, err));
        hub_json_end_object(json);
    }
    return hub_json_status(json);
}

/* A cursor at the first or the last episode of a page. */
static void set_position(struct hub_page_cursor *cursor, const struct hub_dataset *dataset,
                         const struct hub_episode_page *page, uint32_t i)
{
    snprintf(cursor->key, sizeof cursor->key, "@");
    if (page->count)
        snprintf(cursor->tie, sizeof cursor->tie, "%" PRId64, dataset->episodes[page->places[i]].number);
}

static enum hub_status write_page(struct hub_request *request, const struct hub_target *target,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose) struct hub_page_ends ends = {0};
    HUB_CLEANUP(hub_episode_page_dispose) struct hub_episode_page found = {0};
    HUB_CLEANUP(hub_measured_items_leave) struct hub_measured_items measured = {0};
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    read_position(request, page, &params.query);
    read_include(request, &measured);
    HUB_TRY(hub_episodes_admit(request, &target->state, &params.query, err));
    if (measured.metrics || measured.spark)
        HUB_TRY(hub_work_admit_us(request, HUB_WORK_EPISODES, page->limit * MEASURED_US, err));
    HUB_TRY(put_coverage(request, target, &measured, response, &ends.more, err));
    HUB_TRY(find_page(request, response, &target->state, &params.query, &found, err));
    struct hub_json json = hub_page_begin(page, response, 64 * MIB, err);
    HUB_TRY(write_items(&json, &target->state, &found, &measured, err));
    ends.total = found.total;
    hub_page_span(&ends, found.first, found.first + found.count);
    set_position(&ends.next, target->state.dataset, &found, found.count - 1);
    set_position(&ends.prev, target->state.dataset, &found, 0);
    HUB_TRY(hub_page_close(request, page, response, &json, &ends, err));
    return hub_reply_document(request, response, err);
}

/* ---- all of them, a line each ---- */

struct ordered_episodes {
    const struct hub_dataset *dataset;
    const uint32_t *places; /* NULL: all of the dataset, by number */
    uint32_t count;
};

static const struct hub_dataset_episode *episode_at(const struct ordered_episodes *p, uint32_t place)
{
    return &p->dataset->episodes[p->places ? p->places[place] : place];
}

struct episode_lines {
    struct hub_lines lines; /* first */
    struct hub_catalog *catalog;
    struct ordered_episodes ordered;
    uint32_t *places; /* the lines' */
    struct hub_state state;
    struct hub_episode_reader reader;   /* of that state */
    struct hub_measured_items measured; /* ... too */
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
    e->reader = (struct hub_episode_reader){.state = &e->state};
    return strcmp(e->state.dataset->summary->revision, d->summary->revision) == 0 &&
                   e->state.dataset->episode_count == d->episode_count
               ? HUB_OK
               : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "it was published again");
}

static void end_chunk(struct hub_lines *lines)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    hub_measured_items_leave(&e->measured);
    hub_episode_reader_dispose(&e->reader);
    hub_state_close(&e->state);
    e->state = (struct hub_state){0};
    e->reader = (struct hub_episode_reader){0};
}

static enum hub_status put_line(struct hub_lines *lines, uint32_t place, struct hub_json *json,
                                struct hub_error *err)
{
    struct episode_lines *e = (struct episode_lines *)lines;
    const struct hub_dataset_episode *episode = episode_at(&e->ordered, place);
    HUB_TRY(write_episode(json, &e->reader, episode, err));
    return hub_measured_item(json, &e->measured, &e->state, episode, err);
}

static enum hub_status put_in_order(struct hub_request *request, struct hub_response *response,
                                    const struct hub_state *state, struct hub_episode_selection *chosen,
                                    struct ordered_episodes *out, struct hub_error *err)
{
    *out = (struct ordered_episodes){state->dataset, NULL, state->dataset->episode_count};
    if (is_plain(request))
        return HUB_OK;
    HUB_TRY(hub_episode_selection_open(request, response, state, UINT32_MAX, chosen, err));
    out->places = chosen->places;
    out->count = chosen->count;
    return HUB_OK;
}

static enum hub_status send_lines(struct hub_request *request, struct hub_target *target,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf members = {0}; /* which lines have no place for */
    struct episode_lines *e;
    struct hub_measured_items measured = {0};
    HUB_CLEANUP(hub_episode_selection_dispose) struct hub_episode_selection chosen = {0};
    struct ordered_episodes ordered;
    read_include(request, &measured);
    HUB_TRY(put_coverage(request, target, &measured, response, &members, err));
    HUB_TRY(put_in_order(request, response, &target->state, &chosen, &ordered, err));
    HUB_TRY(hub_new(&e, 1, sizeof *e, err));
    *e = (struct episode_lines){.lines = {.end = ordered.count,
                                          .put = put_line,
                                          .begin = begin_chunk,
                                          .end_chunk = end_chunk,
                                          .dispose = dispose_lines},
                                .catalog = request->app->catalog,
                                .ordered = ordered,
                                .places = chosen.places,
                                .measured = measured};
    chosen.places = NULL; /* the lines' now, and the reference to the dataset */
    target->state.dataset = NULL;
    return hub_lines_answer(response, &e->lines, err);
}

enum hub_status hub_episodes_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, &page, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &target, err));
    return page.all && !page.goes_on && !hub_request_query(request, "at").data
               ? send_lines(request, &target, response, err)
               : write_page(request, &target, &page, response, err);
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

static bool find_number(const struct ordered_episodes *p, int64_t number, uint32_t *place)
{
    const struct hub_dataset *d = p->dataset;
    *place = p->places
                 ? 0
                 : hub_lower_bound(&number, d->episodes, d->episode_count, sizeof *d->episodes, hub_by_i64);
    while (p->places && *place < p->count && episode_at(p, *place)->number != number)
        ++*place;
    return *place < p->count && episode_at(p, *place)->number == number;
}

static void put_neighbour(struct hub_json *json, const char *key, const struct ordered_episodes *p,
                          bool there, uint32_t place)
{
    hub_json_key(json, hub_view_of(key));
    if (there)
        hub_json_int(json, episode_at(p, place)->number);
    else
        hub_json_null(json);
}

/* In the order of the list that is params for beside it; of one that is not in that list there are none. */
static enum hub_status write_neighbours(struct hub_request *request, struct hub_response *response,
                                        const struct hub_target *target, int64_t number,
                                        struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_selection_dispose) struct hub_episode_selection chosen = {0};
    struct ordered_episodes p;
    uint32_t place;
    HUB_TRY(put_in_order(request, response, &target->state, &chosen, &p, err));
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
    const char *name = hub_request_any(request, of_rows, HUB_COUNT(of_rows));
    return name ? hub_request_wrong(request, name, err, "%s needs fields=, the names of the fields", name)
                : HUB_OK;
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
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    struct hub_coverage coverage;
    const struct hub_dataset_episode *episode;
    HUB_TRY(check_of_rows(request, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &target, err));
    HUB_TRY(hub_find_episode(request, target.state.dataset, &episode, err));
    HUB_TRY(unpin_if_unmeasured(&target, err));
    HUB_TRY(hub_coverage_require(request, response, &target, NULL, 0, &coverage, err));
    HUB_TRY(hub_coverage_named_headers(request, &target, &coverage, response, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    hub_json_object(&json);
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = &target.state};
    HUB_TRY(write_episode(&json, &reader, episode, err));
    HUB_TRY(write_fields(&json, &target.state, episode, err));
    HUB_TRY(hub_measured_put(&json, &target.state, episode, err));
    HUB_TRY(write_neighbours(request, response, &target, episode->number, &json, err));
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_reply_document(request, response, err);
}
