/*
 * Rows of all episodes that are meant, one episode after another: GET .../rows
 *
 * Every column has a row a step, so that `episode`, `step` and `ends` cut all of them. As transitions
 * (layout=transitions) the columns have the names that learners know, and next_obs is what follows a step
 * in its own episode, never in the next one.
 */
#include "server/api/cursor.h"
#include "server/api/episodes/coverage.h"
#include "server/api/episodes/episode_selection.h"
#include "server/api/handlers.h"
#include "server/api/negotiate.h"
#include "server/api/rows/step_where.h"
#include "server/api/tables/table_answer.h"
#include "storage/episodes/episode_reader.h"
#include "storage/rows/table_rows.h"
#include "storage/rows/transitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ENCODER_VERSION "3"
/* Episodes times columns that are looked at without a queue of their own. */
enum { LIGHT_LOOKS = 20000 };

struct rows_request {
    struct hub_target target;
    struct hub_episode_selection episodes;
    struct hub_named_fields fields;
    struct hub_row_range steps;       /* of each episode */
    struct hub_step_where step_where; /* among these */
    struct hub_page_query page;
    struct hub_page_ends ends;
    bool transitions, drop_sentinel;
    const struct hub_representation *as;
    enum hub_nonfinite nonfinite;
    struct hub_row_table *table;
    struct hub_row_reader *reading; /* the table's */
    bool taken;                     /* it holds the dataset */
    struct hub_transitions plan;
    struct hub_buf left_out;
    struct hub_error left_why;
    char etag[40];
};

static void rows_request_dispose(struct rows_request *q)
{
    if (q->table)
        hub_table_stream_free(&q->table->table);
    hub_episode_selection_dispose(&q->episodes);
    hub_buf_dispose(&q->left_out);
    hub_step_where_dispose(&q->step_where);
    if (q->taken)
        q->target.state.dataset = NULL;
    hub_target_dispose(&q->target);
}

/* ---- what is asked for ---- */

static enum hub_status read_steps(const struct hub_request *request, struct rows_request *q,
                                  struct hub_error *err)
{
    struct hub_row_range *steps = &q->steps;
    steps->has_start = hub_request_int(request, "start", &steps->start);
    steps->has_stop = hub_request_int(request, "stop", &steps->stop);
    steps->has_step = hub_request_int(request, "step", &steps->step);
    return hub_step_where_read(request, &q->step_where, err);
}

static enum hub_status read_question(struct hub_request *request, struct rows_request *q,
                                     struct hub_error *err)
{
    HUB_TRY(hub_page_read_all(request, &q->page, err));
    q->transitions = hub_request_choice(request, "layout") == 1;
    q->drop_sentinel = hub_request_choice(request, "sentinel") == 1;
    q->nonfinite =
        (enum hub_nonfinite)HUB_MAX(hub_request_choice(request, "nonfinite"), 0); /* null is first */
    HUB_TRY(read_steps(request, q, err));
    static const struct hub_offer offer = {.list = HUB_LIST_OF_ROWS, .what = "rows of many episodes"};
    return hub_negotiate(request, &offer, &q->as, err);
}

/* ---- which episodes ---- */

/* A page is so many episodes; a cursor is of one revision, so that nobody puts together what does not belong
 * together. */
static enum hub_status take_page(struct rows_request *q, struct hub_error *err)
{
    struct hub_episode_selection *e = &q->episodes;
    const char *revision = q->target.summary->revision;
    const uint64_t at = q->page.goes_on ? strtoull(q->page.after.tie, NULL, 10) : 0;
    if (q->page.goes_on && strcmp(q->page.after.key, revision) != 0)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_REVISION_GONE,
                           "the earlier pages were of revision %.40s, the current one is %s: start again",
                           q->page.after.key, revision);
    const uint32_t place = (uint32_t)HUB_MIN(at, (uint64_t)e->count), first = hub_page_first(&q->page, place);
    const uint32_t end =
        q->page.after.back ? place : (uint32_t)HUB_MIN((uint64_t)first + q->page.limit, e->count);
    q->ends.total = e->count;
    hub_page_span(&q->ends, first, end);
    memmove(e->places, e->places + first, (end - first) * sizeof *e->places);
    e->count = end - first;
    snprintf(q->ends.next.key, sizeof q->ends.next.key, "%s", revision);
    snprintf(q->ends.next.tie, sizeof q->ends.next.tie, "%" PRIu32, end);
    q->ends.prev = q->ends.next;
    snprintf(q->ends.prev.tie, sizeof q->ends.prev.tie, "%" PRIu32, first);
    return HUB_OK;
}

static enum hub_status choose(struct hub_request *request, struct hub_response *response,
                              struct rows_request *q, struct hub_error *err)
{
    const struct hub_dataset *dataset = q->target.state.dataset;
    if (hub_request_query(request, "fields").data)
        HUB_TRY(hub_request_fields(request, &q->target.state, &q->fields, err));
    else if (dataset->field_count > HUB_MAX_SELECTED)
        return hub_fail_about(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "fields", "",
                              "%" PRIu32 " fields; at most %d in one answer: name some with fields=",
                              dataset->field_count, HUB_MAX_SELECTED);
    for (uint32_t i = 0; !hub_request_query(request, "fields").data && i < dataset->field_count; i++)
        q->fields.fields[q->fields.count++] = i;
    HUB_TRY(hub_episode_selection_wants_valid(request, q->target.summary, &q->episodes.only_valid, err));
    HUB_TRY(hub_episode_selection_open(request, response, &q->target.state, UINT32_MAX, &q->episodes, err));
    HUB_TRY(take_page(q, err));
    const bool light = !q->step_where.where && (uint64_t)q->episodes.count * q->fields.count <= LIGHT_LOOKS;
    if (!light && !request->heavy)
        return hub_await_heavy(request);
    return hub_budget_take(
        request->app->budget, request, response,
        (uint64_t)q->episodes.count * (2 * sizeof *q->reading->ends + sizeof *q->reading->runs), err);
}

/* ---- columns ---- */

static enum hub_status check_name(const struct hub_row_reader *r, uint32_t before, const char *name,
                                  struct hub_error *err)
{
    static const char *const taken[] = {"episode", "step", "ends"};
    bool known = false;
    for (size_t i = 0; i < HUB_COUNT(taken); i++)
        known |= strcmp(name, taken[i]) == 0;
    for (uint32_t i = 0; i < before; i++)
        known |= strcmp(name, r->as[i].name) == 0;
    return known ? hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                               "two columns would be named '%.200s': request the field by its episode", name)
                 : HUB_OK;
}

/* Can the column stand in the answer? */
static enum hub_status try_column(struct rows_request *q, uint32_t column, struct hub_error *err)
{
    struct hub_row_reader *r = q->reading;
    const struct hub_dataset_field *field = &r->dataset->fields[r->columns[column].field];
    if (field->axis == HUB_AXIS_NONE)
        return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "fields", field->path,
                              "'%s' does not have one row per step: request it by its episode", field->path);
    HUB_TRY(check_name(r, column, r->as[column].name, err));
    HUB_TRY(hub_row_reader_look(r, column, err));
    const struct hub_stream_column *as = &r->as[column];
    HUB_TRY(r->columns[column].hidden
                ? HUB_OK
                : hub_encode_check_named(field->path, as->type, &as->variant, q->as, 2, err));
    return r->columns[column].hidden ? HUB_OK : hub_row_table_measure(q->table, column, err);
}

/* Those that cannot stand in it are left out and reported; one that was named itself is a mistake. */
static enum hub_status keep_columns(struct rows_request *q, struct hub_error *err)
{
    struct hub_row_reader *r = q->reading;
    const uint32_t all = r->column_count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct hub_error why = {0};
        r->columns[kept] = r->columns[i];
        r->as[kept] = r->as[i];
        const enum hub_status st = try_column(q, kept, &why);
        const bool reported =
            st == HUB_NOT_FOUND || st == HUB_UNSUPPORTED || st == HUB_NOT_ACCEPTABLE || st == HUB_TOO_BIG;
        if (st && (!reported || q->plan.exact[i]))
            return hub_pass(st, &why, err);
        if (st)
            HUB_TRY(hub_leave_out(&q->left_out, &q->left_why, r->dataset->fields[r->columns[kept].field].path,
                                  &why, err));
        else
            q->plan.purpose[kept++] = q->plan.purpose[i];
    }
    r->column_count = r->field_count = kept;
    return kept || !q->left_out.size ? HUB_OK : hub_pass(q->left_why.status, &q->left_why, err);
}

static enum hub_status open_reading(struct hub_request *request, struct rows_request *q,
                                    struct hub_error *err)
{
    const struct hub_rows_context context = hub_request_rows(request);
    HUB_TRY(hub_row_table_new(&context, q->as, &q->table, err));
    q->table->table.nonfinite = q->nonfinite;
    q->reading = &q->table->reading;
    struct hub_row_reader *r = q->reading;
    r->dataset = q->target.state.dataset; /* which is the reading's from now on */
    q->taken = true;
    r->places = q->episodes.places;
    r->count = q->episodes.count;
    q->episodes.places = NULL;
    r->terminated = r->truncated = r->done = HUB_NONE;
    return hub_new(&r->ends, r->count, sizeof *r->ends, err);
}

/* ---- the answer ---- */

/* Of each episode only some rows. */
static enum hub_status choose_rows(struct hub_request *request, struct rows_request *q,
                                   struct hub_response *response, struct hub_error *err)
{
    const struct hub_row_range *steps = &q->steps;
    if (q->step_where.where || steps->has_start || steps->has_stop || steps->has_step)
        HUB_TRY(hub_row_reader_slice(q->reading, steps, err));
    return hub_step_where_choose(&q->step_where, request, response, q->reading, err);
}

static enum hub_status plan(struct hub_request *request, struct rows_request *q,
                            struct hub_response *response, struct hub_error *err)
{
    struct hub_row_reader *r = q->reading;
    const struct hub_transitions_query query = {.fields = &q->fields,
                                                .state = &q->target.state,
                                                .transitions = q->transitions,
                                                .drop_sentinel = q->drop_sentinel,
                                                .npz = !hub_representation_is_of_rows(q->as)};
    const enum hub_status st = hub_transitions_columns(&query, r, &q->plan, err);
    q->table->names = q->plan.names; /* on failure too */
    HUB_TRY(st);
    HUB_TRY(hub_step_where_columns(&q->step_where, r, err));
    HUB_TRY(hub_row_reader_begin(r, err));
    HUB_TRY(hub_transitions_ends(&query, r, err));
    HUB_TRY(choose_rows(request, q, response, err));
    HUB_TRY(keep_columns(q, err));
    hub_transitions_made(&query, r, &q->plan);
    hub_row_table_set_columns(q->table);
    return HUB_OK;
}

static enum hub_status put_headers(struct hub_request *request, struct rows_request *q,
                                   struct hub_response *response, struct hub_error *err)
{
    HUB_TRY(hub_response_header(response, err, "X-Episodes", "%" PRIu32, q->reading->count));
    HUB_TRY(hub_episode_selection_report_invalid(&q->episodes, &q->left_out, err));
    if (q->left_out.size)
        HUB_TRY(hub_response_header(response, err, "X-Left-Out", "%s", q->left_out.data));
    return hub_page_links(request, &q->page, response, &q->ends, err);
}

static enum hub_status check_condition(struct hub_request *request, struct rows_request *q,
                                       struct hub_response *response, bool *done, struct hub_error *err)
{
    struct hub_coverage measured;
    HUB_TRY(hub_coverage_require(request, response, &q->target, NULL, 0, &measured, err));
    const struct hub_table_facts facts = {ENCODER_VERSION, q->target.summary, q->as, measured.state};
    hub_table_etag(request, &facts, q->etag);
    HUB_TRY(hub_coverage_named_headers(request, &q->target, &measured, response, err));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    return hub_resolve_conditions(request, response, q->etag, -1, done, err);
}

static enum hub_status answer(struct hub_request *request, struct rows_request *q,
                              struct hub_response *response, struct hub_error *err)
{
    bool done = false;
    HUB_TRY(read_question(request, q, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &q->target, err));
    HUB_TRY(check_condition(request, q, response, &done, err));
    if (done)
        return HUB_OK;
    HUB_TRY(choose(request, response, q, err));
    HUB_TRY(open_reading(request, q, err));
    HUB_TRY(plan(request, q, response, err));
    HUB_TRY(put_headers(request, q, response, err));
    struct hub_table_stream *table = &q->table->table;
    const enum hub_status st = hub_table_answer(request, response, q->etag, &table, err);
    q->table = table ? q->table : NULL;
    return st;
}

enum hub_status hub_rows_data(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct rows_request *q = NULL;
    HUB_TRY(hub_new(&q, 1, sizeof *q, err));
    const enum hub_status st = answer(request, q, response, err);
    rows_request_dispose(q);
    return st;
}
