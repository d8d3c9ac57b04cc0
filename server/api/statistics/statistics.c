/* What the numbers of a dataset come to: GET …/~statistics. Of episodes from what is known of each, of
 * fields from what was measured of their rows; how much that is so far stands beside it. */
#include "server/api/handlers.h"

#include "server/api/episodes/coverage.h"
#include "server/api/episodes/episode_parameters.h"
#include "server/api/episodes/episode_selection.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "server/api/rows/dims.h"
#include "server/api/statistics/aggregate_cache.h"
#include "server/api/work.h"
#include "storage/measurer/merged.h"
#include "storage/rows/dimensions.h"
#include "storage/statistics/distribution.h"
#include "storage/statistics/measured.h"
#include "storage/statistics/tally.h"

#include <math.h>
#include <stdlib.h>

enum { GRID_BINS = 48, MAX_ASKED = 64, TALLIES = 3 };
#define SERIES_US 0.1 /* an episode, as it was measured */

/* Dimensions of a field that are shown. */
struct dims {
    uint32_t count, of[HUB_HISTOGRAM_DIMS];
};

struct statistics_args {
    struct hub_target target;
    struct hub_episode_parameters params;
    bool *chosen;   /* by episode; NULL: all */
    uint32_t count; /* of them */
    struct hub_coverage chosen_by;
    int64_t bins;
    bool all; /* no field was named: all of them, without histograms of rows */
    enum hub_property_kind episodes[MAX_ASKED]; /* one number of each */
    unsigned episode_count;
    uint32_t fields[MAX_ASKED];
    struct dims *dims; /* of each of these; NULL: all */
    unsigned field_count;
    enum hub_property_kind by[2]; /* two numbers of episodes, together */
    bool has_by;
    struct hub_merged_fields merged;
    json_t *dimensions; /* what they are called */
    bool partial;       /* a histogram of which parts are missing */
};

static void question_dispose(struct statistics_args *q)
{
    hub_merged_fields_dispose(&q->merged);
    json_decref(q->dimensions);
    free(q->chosen);
    free(q->dims);
    hub_episode_parameters_dispose(&q->params);
    hub_target_dispose(&q->target);
}

static enum hub_status check_awaited(const struct hub_request *request, struct hub_error *err)
{
    return hub_parallel_cancelled(request->parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for these statistics has ended")
               : HUB_OK;
}

/* ---- numbers of episodes ---- */

static enum hub_status put_series(const struct statistics_args *q, struct hub_json *json,
                                  enum hub_property_kind kind, struct hub_error *err)
{
    HUB_CLEANUP(hub_series_dispose) struct hub_series s = {0};
    HUB_TRY(hub_series_read(&q->target.state, q->chosen, kind, &s, err));
    hub_json_put_object(json, hub_property_word(kind));
    HUB_TRY(hub_distribution_put(json, &s, (unsigned)q->bins, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status put_grid(const struct statistics_args *q, struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_series_dispose) struct hub_series x = {0};
    HUB_CLEANUP(hub_series_dispose) struct hub_series y = {0};
    HUB_TRY(hub_series_read(&q->target.state, q->chosen, q->by[0], &x, err));
    HUB_TRY(hub_series_read(&q->target.state, q->chosen, q->by[1], &y, err));
    return hub_grid_put(json, hub_property_word(q->by[0]), &x, hub_property_word(q->by[1]), &y,
                        (unsigned)q->bins, err);
}

/* How they ended, and what they are of. */
static enum hub_status put_tallies(const struct hub_request *request, const struct statistics_args *q,
                                   struct hub_json *json, struct hub_error *err)
{
    const struct hub_state *state = &q->target.state;
    HUB_TRY(hub_tally_outcomes(json, state, q->chosen, err));
    HUB_TRY(check_awaited(request, err));
    HUB_TRY(hub_tally_values(json, "tasks", state, q->chosen, HUB_PROPERTY_TASK, err));
    return hub_tally_values(json, "splits", state, q->chosen, HUB_PROPERTY_SPLIT, err);
}

/* ---- numbers of rows ---- */

/* Integers keep their digits. */
static void put_extreme(struct hub_json *json, const struct hub_measured_field *f,
                        const struct hub_fold *fold, bool most)
{
    const uint64_t key = most ? fold->most_key : fold->least_key;
    if (!fold->count)
        hub_json_null(json);
    else if (!hub_numbers_wide(&f->variant))
        hub_json_double(json, most ? fold->max : fold->min);
    else if (f->variant.kind == HUB_KIND_INT)
        hub_json_safe_int(json, hub_wide_signed(key));
    else
        hub_json_safe_uint(json, key);
}

static void put_real(struct hub_json *json, double value)
{
    if (isnan(value))
        hub_json_null(json);
    else if (isinf(value))
        hub_json_string(json, value > 0 ? HUB_VIEW("Infinity") : HUB_VIEW("-Infinity"));
    else
        hub_json_double(json, value);
}

/* The dimension in place `i`. */
static uint32_t dim_at(const struct dims *dims, uint32_t i)
{
    return dims ? dims->of[i] : i;
}

static void put_folds(struct hub_json *json, const struct hub_measured_field *f, const struct dims *dims)
{
    static const char *const names[] = {"min", "max", "mean", "std"};
    const uint32_t count = dims ? dims->count : f->dims;
    for (unsigned n = 0; n < HUB_COUNT(names); n++) {
        hub_json_put_array(json, names[n]);
        for (uint32_t i = 0; i < count; i++) {
            const struct hub_fold *fold = &f->folds[dim_at(dims, i)];
            if (n < 2)
                put_extreme(json, f, fold, n);
            else
                put_real(json, n == 2 && !fold->count ? NAN : n == 2 ? fold->mean : hub_fold_std(fold));
        }
        hub_json_end_array(json);
    }
    hub_json_put_array(json, "constant"); /* dividing by their std gives NaN */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t d = dim_at(dims, i);
        if (f->folds[d].count && f->folds[d].min == f->folds[d].max)
            hub_json_uint(json, d);
    }
    hub_json_end_array(json);
}

static void put_counts(struct hub_json *json, const struct hub_measured_field *f)
{
    uint64_t rows = 0, nan = 0, above = 0, below = 0;
    for (uint32_t d = 0; d < f->dims; d++) {
        const struct hub_fold *fold = &f->folds[d];
        rows = HUB_MAX(rows, fold->count + hub_fold_nonfinite(fold));
        nan += fold->nan;
        above += fold->above;
        below += fold->below;
    }
    hub_json_put_uint(json, "count", rows);
    hub_json_put_uint(json, "episodes", f->episodes);
    hub_nonfinite_put(json, nan, above, below);
}

static void put_values(struct hub_json *json, const struct hub_histogram *h, uint32_t d)
{
    hub_json_put_array(json, "values");
    for (uint32_t i = 0; i < hub_histogram_bins(h, d); i++) {
        const uint64_t count = h->counts[(size_t)d * h->room + i];
        if (!count)
            continue;
        hub_json_object(json);
        hub_json_put_double(json, "value", h->low[d] + i);
        hub_json_put_uint(json, "count", count);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static void put_histogram(struct hub_json *json, const struct hub_histogram *h, const struct dims *dims)
{
    hub_json_put_array(json, "histogram");
    for (uint32_t i = 0; i < (dims ? dims->count : h->dims); i++) {
        const uint32_t d = dim_at(dims, i);
        hub_json_object(json);
        if (hub_histogram_of_values(h, d))
            put_values(json, h, d);
        else if (hub_histogram_bins(h, d))
            hub_histogram_put(json, h->low[d], h->high[d], h->counts + (size_t)d * h->room,
                              hub_histogram_bins(h, d));
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

/* As far as it was counted; what is missing is counted next. */
static enum hub_status add_histogram(struct statistics_args *q, const struct hub_app *app, uint32_t number,
                                     const struct dims *dims, struct hub_json *json, struct hub_error *err)
{
    const struct hub_dataset *dataset = q->target.state.dataset;
    HUB_CLEANUP(hub_histogram_dispose) struct hub_histogram h = {0};
    HUB_CLEANUP(hub_freep) bool *there = NULL;
    uint64_t parts = 0, of = 0;
    HUB_TRY(hub_histogram_init(&h, &q->merged.fields[number], (uint32_t)q->bins, err));
    HUB_TRY(hub_histogram_parts(&q->target.state, dataset->fields[number].path, &h, &there, err));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        of += !dataset->parts[i].broken;
        parts += !dataset->parts[i].broken && there[i];
    }
    if (parts)
        put_histogram(json, &h, dims);
    hub_json_put_object(json, "histogram_coverage");
    hub_json_put_uint(json, "parts", parts);
    hub_json_put_uint(json, "of_parts", of);
    hub_json_put_bool(json, "complete", parts == of);
    hub_json_end_object(json);
    if (parts < of) {
        q->partial = true;
        hub_measurer_want_histogram(app->measurer, dataset->summary->id, dataset->fields[number].path,
                                    (unsigned)q->bins);
    }
    return hub_json_status(json);
}

static enum hub_status put_field(struct statistics_args *q, const struct hub_request *request,
                                 uint32_t number, const struct dims *dims, struct hub_json *json,
                                 struct hub_error *err)
{
    const struct hub_measured_field *f = &q->merged.fields[number];
    HUB_TRY(check_awaited(request, err));
    if (!f->dims)
        return HUB_OK;
    hub_json_put_object(json, f->path);
    hub_json_put_text(json, "origin", "computed");
    hub_json_put_text(json, "role", hub_role_name(f->role));
    put_counts(json, f);
    if (dims) {
        hub_json_put_array(json, "dims");
        for (uint32_t i = 0; i < dims->count; i++)
            hub_json_uint(json, dims->of[i]);
        hub_json_end_array(json);
    }
    hub_dimensions_put(json, q->dimensions, f->path, f->dims, dims ? dims->of : NULL, dims ? dims->count : 0);
    put_folds(json, f, dims);
    if (f->why[0])
        hub_json_put_text(json, "unreadable", f->why);
    if (!q->all)
        HUB_TRY(add_histogram(q, request->app, number, dims, json, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- the question ---- */

static enum hub_status choose(struct hub_request *request, struct statistics_args *q, struct hub_error *err)
{
    const uint32_t all = q->target.state.dataset->episode_count;
    struct hub_episode_query *query = &q->params.query;
    q->count = all;
    if (!query->where && !query->split && !query->task && !query->name)
        return HUB_OK;
    HUB_TRY(hub_episodes_admit(request, &q->target.state, query, err));
    HUB_TRY(hub_new(&q->chosen, (size_t)all + 1, sizeof *q->chosen, err));
    HUB_TRY(hub_episode_choose(&q->target.state, query, q->chosen, err));
    q->count = 0;
    for (uint32_t i = 0; i < all; i++)
        q->count += q->chosen[i];
    return HUB_OK;
}

/* A number of episodes, by its name in `where`; else a field. */
static bool is_of_episodes(struct hub_view name, enum hub_property_kind *out)
{
    return hub_property_find(name, out) && hub_property_is_series(*out);
}

static enum hub_status check_field(const struct hub_request *request, const struct statistics_args *q,
                                   struct hub_view name, uint32_t number, struct hub_error *err)
{
    const struct hub_dataset_field *field = &q->target.state.dataset->fields[number];
    if (q->chosen)
        return hub_request_wrong(
            request, "field", err,
            "fields have statistics of all episodes only: leave out where, split and task");
    if (!hub_field_is_measured(field->type))
        return hub_request_wrong(request, "field", err, "'%.*s' holds no numbers", (int)name.size, name.data);
    return HUB_OK;
}

static enum hub_status add_requested(const struct hub_request *request, struct statistics_args *q,
                                     struct hub_view name, struct hub_error *err)
{
    enum hub_property_kind kind;
    if (q->episode_count + q->field_count == MAX_ASKED)
        return hub_request_wrong(request, "field", err, "at most %d of them at once", MAX_ASKED);
    const uint32_t number = hub_dataset_find_field(q->target.state.dataset, name);
    if (is_of_episodes(name, &kind)) {
        q->episodes[q->episode_count++] = kind;
        return HUB_OK;
    }
    if (number == HUB_NONE)
        return hub_no_field(request, &q->target.state, name, err);
    HUB_TRY(check_field(request, q, name, number, err));
    q->fields[q->field_count++] = number;
    return HUB_OK;
}

static enum hub_status read_fields(const struct hub_request *request, struct statistics_args *q,
                                   struct hub_error *err)
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "field"))
            HUB_TRY(add_requested(request, q, request->query[i].value, err));
    q->all = !q->episode_count && !q->field_count && !q->has_by;
    if (q->all) {
        q->episodes[q->episode_count++] = HUB_PROPERTY_RETURN;
        q->episodes[q->episode_count++] = HUB_PROPERTY_STEPS;
    }
    if (q->field_count || (q->all && !q->chosen))
        HUB_TRY(hub_merged_fields_read(&q->target.state, HUB_MEASURED_FIELDS, &q->merged, err));
    return q->merged.count ? hub_dimensions_read(&q->target.state, &q->dimensions, err) : HUB_OK;
}

static enum hub_status read_by(const struct hub_request *request, struct statistics_args *q,
                               struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, "by");
    if (!text.data)
        return HUB_OK;
    const size_t first = strcspn(text.data, ",");
    const struct hub_view names[] = {{text.data, first},
                                     {text.data + first + 1, text.size > first ? text.size - first - 1 : 0}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(KIB);
    q->has_by = true;
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        if (!names[i].size || !is_of_episodes(names[i], &q->by[i])) {
            HUB_TRY(hub_property_series(&all, err));
            return hub_request_wrong(request, "by", err,
                                     "by must be two numbers of episodes, such as return,steps; they are %s",
                                     all.data);
        }
    return HUB_OK;
}

/* dims= in the order of those that are fields. */
static enum hub_status read_dims(const struct hub_request *request, struct statistics_args *q,
                                 struct hub_error *err)
{
    uint32_t given = 0;
    (void)hub_dims_of(request, 0, &given);
    if (given > q->field_count)
        return hub_request_wrong(request, "dims", err,
                                 "dims must be below the %u dimensions of field=", q->field_count);
    if (given)
        HUB_TRY(hub_new(&q->dims, q->field_count, sizeof *q->dims, err));
    for (unsigned i = 0; given && i < q->field_count; i++) {
        const struct hub_measured_field *f = &q->merged.fields[q->fields[i]];
        struct hub_dims dims = {.of = q->dims[i].of, .most = HUB_HISTOGRAM_DIMS};
        if (f->dims) /* else it is not measured yet */
            HUB_TRY(hub_dims_read(request, hub_dims_of(request, i, &given), f->path, f->dims, &dims, err));
        q->dims[i].count = dims.count;
    }
    return HUB_OK;
}

/* Nothing of a field that is asked for is there yet; or it has too many dimensions. */
static enum hub_status check_measured(struct hub_request *request, const struct statistics_args *q,
                                      const struct hub_coverage *coverage, struct hub_response *response,
                                      struct hub_error *err)
{
    for (unsigned i = 0; i < q->field_count; i++) {
        const struct hub_measured_field *f = &q->merged.fields[q->fields[i]];
        if (f->dims > HUB_HISTOGRAM_DIMS)
            return hub_request_wrong(request, "field", err,
                                     "'%s' has %u numbers per row; histograms have at most %d", f->path,
                                     f->dims, HUB_HISTOGRAM_DIMS);
    }
    if (!q->field_count || coverage->parts || !coverage->of_parts || !request->app->measurer)
        return HUB_OK;
    hub_measurer_want(request->app->measurer, q->target.summary->id);
    hub_coverage_extra(response, coverage);
    return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                       "the rows of '%s' are being measured: none of %llu parts is done",
                       q->target.summary->id, (unsigned long long)coverage->of_parts);
}

static enum hub_status parse_query(struct hub_request *request, struct hub_response *response,
                                   struct statistics_args *q, struct hub_error *err)
{
    if (!hub_request_int(request, "bins", &q->bins) && hub_request_query(request, "by").data)
        q->bins = GRID_BINS;
    HUB_TRY(read_by(request, q, err));
    HUB_TRY(hub_episode_parameters_parse(request, &q->params, err));
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &q->target, err));
    return hub_coverage_require(request, response, &q->target, NULL, 0, &q->chosen_by, err);
}

/* What it takes to answer. */
static enum hub_status read_all(struct hub_request *request, struct hub_response *response,
                                struct statistics_args *q, struct hub_error *err)
{
    const unsigned series = q->episode_count + (q->all ? TALLIES : 0) + (q->has_by ? 2 : 0);
    HUB_TRY(hub_work_admit_us(request, HUB_WORK_EPISODES,
                              (double)q->target.state.dataset->episode_count * series * SERIES_US, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            (uint64_t)q->target.state.dataset->episode_count * HUB_SERIES, err));
    HUB_TRY(choose(request, q, err));
    HUB_TRY(read_fields(request, q, err));
    return read_dims(request, q, err);
}

/* What the files themselves state, as they state it. */
static enum hub_status put_claims(const struct statistics_args *q, struct hub_json *json,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf claims = HUB_BUF_INIT(16 * MIB);
    HUB_TRY(hub_dataset_fact(&q->target.state, "statistics", &claims, err));
    if (claims.size)
        hub_json_put_raw(json, "claimed", hub_buf_view(&claims));
    return HUB_OK;
}

static enum hub_status write_answer(struct hub_request *request, struct statistics_args *q,
                                    const struct hub_coverage *coverage, struct hub_response *response,
                                    struct hub_error *err)
{
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 64 * MIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "revision", q->target.summary->revision);
    hub_json_put_uint(&json, "episodes", q->count);
    hub_coverage_put(&json, request->app, coverage);
    hub_coverage_named_put(&json, &q->chosen_by);
    if (q->all)
        HUB_TRY(put_tallies(request, q, &json, err));
    hub_json_put_object(&json, "fields");
    for (unsigned i = 0; i < q->episode_count; i++) {
        HUB_TRY(check_awaited(request, err));
        HUB_TRY(put_series(q, &json, q->episodes[i], err));
    }
    for (unsigned i = 0; i < q->field_count; i++)
        HUB_TRY(put_field(q, request, q->fields[i], q->dims ? &q->dims[i] : NULL, &json, err));
    for (uint32_t i = 0; q->all && i < q->merged.count; i++)
        HUB_TRY(put_field(q, request, i, NULL, &json, err));
    hub_json_end_object(&json);
    HUB_TRY(check_awaited(request, err));
    if (q->has_by)
        HUB_TRY(put_grid(q, &json, err));
    if (q->all)
        HUB_TRY(put_claims(q, &json, err));
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status answer(struct hub_request *request, struct statistics_args *q,
                              struct hub_coverage *coverage, struct hub_response *response,
                              struct hub_error *err)
{
    const struct hub_state *state = &q->target.state;
    HUB_TRY(read_all(request, response, q, err));
    if (q->field_count || (q->all && !q->chosen))
        HUB_TRY(hub_coverage_read(state, HUB_MEASURED_FIELDS, coverage, err));
    HUB_TRY(check_measured(request, q, coverage, response, err));
    HUB_TRY(write_answer(request, q, coverage, response, err));
    const enum hub_status st = q->partial ? hub_coverage_await(request, &q->target) : HUB_OK;
    if (st) { /* a histogram is being counted */
        hub_response_dispose(response);
        return st;
    }
    if (!q->partial) /* else asking again has the rest counted */
        hub_aggregate_store(request, "~statistics", state, coverage, response);
    coverage->complete &= !q->partial;
    return HUB_OK;
}

enum hub_status hub_statistics_show(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(question_dispose) struct statistics_args q = {0};
    struct hub_coverage coverage;
    bool kept;
    HUB_TRY(parse_query(request, response, &q, err));
    HUB_TRY(hub_coverage_read(&q.target.state, HUB_MEASURED_REWARDS, &coverage, err));
    HUB_TRY(hub_aggregate_find(request, "~statistics", &q.target.state, &coverage, response, &kept, err));
    if (!kept)
        HUB_TRY(answer(request, &q, &coverage, response, err));
    coverage.named = false; /* where both lack something, what the episodes are chosen by is reported */
    HUB_TRY(hub_coverage_named_headers(request, &q.target, q.chosen_by.complete ? &coverage : &q.chosen_by,
                                       response, err));
    return hub_reply_document(request, response, err);
}
