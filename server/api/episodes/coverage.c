/* How much was measured: see coverage.h. */
#include "server/api/episodes/coverage.h"

#include "server/api/episodes/episode_parameters.h"
#include "server/api/episodes/query_check.h"
#include "server/api/tables/value_table.h"
#include "server/api/work.h"
#include "storage/episodes/episode_reader.h"
#include "storage/measure/ends.h"
#include "storage/statistics/measured.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RETRY_S = 2, WAIT_S = 2, MAX_WAIT_S = 30, STATED_NS = 200 /* to look up a value that files state */ };

/* The ranges that the part had which was measured last: others were measured with older ones. */
static uint64_t newest_ranges(const struct hub_measured_state *parts, uint32_t count)
{
    uint64_t stamp = 0, ranges = 0;
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].how_far == HUB_MEASURED_ALL && parts[i].stamp > stamp) {
            stamp = parts[i].stamp;
            ranges = parts[i].ranges;
        }
    return ranges;
}

static bool is_as_far(const struct hub_measured_state *part, enum hub_measured how_far, uint64_t ranges)
{
    return part->how_far >= how_far && (how_far < HUB_MEASURED_ALL || part->ranges == ranges);
}

enum hub_status hub_coverage_read(const struct hub_state *state, enum hub_measured how_far,
                                  struct hub_coverage *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_measured_state *parts = NULL;
    const struct hub_dataset *dataset = state->dataset;
    *out = (struct hub_coverage){0};
    HUB_TRY(hub_measures_states(state, &parts, err));
    const uint64_t ranges = newest_ranges(parts, dataset->part_count);
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        const struct hub_measured_state *part = &parts[i];
        const bool done = is_as_far(part, how_far, ranges);
        out->state =
            (out->state ^ part->stamp ^ part->ranges ^ part->failed) * UINT64_C(0x9E3779B97F4A7C15) + 1;
        const bool failed = !done && part->failed && part->failed <= how_far;
        if (dataset->parts[i].broken)
            continue;
        out->of_parts++;
        out->parts += done;
        out->failed += failed;
        out->stale |= !done && !failed && part->how_far >= how_far;
        const struct hub_lost *lost = how_far == HUB_MEASURED_REWARDS ? &part->rewards_lost : &part->lost;
        out->lost.episodes += done ? lost->episodes : 0;
        out->lost.steps += done ? lost->steps : 0;
    }
    for (uint32_t i = 0; i < dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &dataset->episodes[i];
        const bool done = is_as_far(&parts[e->part], how_far, ranges);
        out->of++;
        out->of_rows += e->steps;
        out->episodes += done;
        out->rows += done ? e->steps : 0;
    }
    out->episodes -= HUB_MIN(out->lost.episodes, out->episodes);
    out->rows -= HUB_MIN(out->lost.steps, out->rows);
    out->complete = out->parts + out->failed == out->of_parts;
    return HUB_OK;
}

void hub_coverage_put_end(struct hub_json *json, const struct hub_coverage *c)
{
    if (c->lost.episodes) {
        hub_json_put_object(json, "unreadable");
        hub_json_put_uint(json, "episodes", c->lost.episodes);
        hub_json_put_uint(json, "rows", c->lost.steps);
        hub_json_end_object(json);
    }
    hub_json_put_bool(json, "complete", c->complete && !c->lost.episodes);
}

void hub_coverage_put(struct hub_json *json, const struct hub_app *app, const struct hub_coverage *c)
{
    hub_json_put_text(json, "measure", app->measure);
    hub_json_put_object(json, "coverage");
    hub_json_put_uint(json, "parts", c->parts);
    hub_json_put_uint(json, "of_parts", c->of_parts);
    hub_json_put_uint(json, "episodes", c->episodes);
    hub_json_put_uint(json, "of", c->of);
    hub_json_put_uint(json, "rows", c->rows);
    hub_json_put_uint(json, "of_rows", c->of_rows);
    if (c->failed)
        hub_json_put_uint(json, "failed", c->failed);
    hub_coverage_put_end(json, c);
    if (c->stale)
        hub_json_put_bool(json, "stale", true);
    hub_json_end_object(json);
}

enum hub_status hub_coverage_headers(struct hub_request *request, const struct hub_target *target,
                                     const struct hub_coverage *coverage, struct hub_response *response,
                                     struct hub_error *err)
{
    if (coverage->complete && !coverage->failed)
        return hub_resolve_headers(request, target, response, err);
    hub_measurer_want(request->app->measurer, target->summary->id);
    if (request->app->measurer && !coverage->complete)
        HUB_TRY(hub_response_header(response, err, "Retry-After", "%d", RETRY_S));
    struct hub_target passing = *target;
    passing.passing = true;
    return hub_resolve_headers(request, &passing, response, err);
}

/* ---- names ---- */

/* What a request names that may have to be measured, and how far. */
struct needed_names {
    const struct hub_property *items[HUB_WHERE_TESTS + 1 + HUB_VALUE_TABLE_COLUMNS];
    unsigned count;
    enum hub_measured how_far; /* the furthest */
};

/* A measure needs rows of a field; without them its only value is what the files state. */
static bool can_be_measured(const struct hub_dataset *dataset, const struct hub_property *name)
{
    const struct hub_property_row *row = hub_property_row(name->kind);
    if (row->how_far == HUB_MEASURED_REWARDS && !row->of_field)
        return hub_measured_role(dataset, hub_role_name(HUB_ROLE_REWARD));
    if (!row->of_field)
        return row->how_far > HUB_MEASURED_NOTHING;
    const uint32_t number = hub_dataset_find_field(dataset, name->of);
    return number != HUB_NONE && hub_field_is_measured(dataset->fields[number].type);
}

static void add_name(struct needed_names *names, const struct hub_dataset *dataset,
                     const struct hub_property *name)
{
    if (!can_be_measured(dataset, name))
        return;
    names->items[names->count++] = name;
    if (!hub_property_is_of_row(name->kind))
        names->how_far = HUB_MAX(names->how_far, hub_property_row(name->kind)->how_far);
}

static void add_names(struct needed_names *names, const struct hub_dataset *dataset,
                      const struct hub_episode_parameters *params, const struct hub_property *columns,
                      unsigned count)
{
    for (unsigned i = 0; hub_where_name(params->where, i); i++)
        add_name(names, dataset, hub_where_name(params->where, i));
    add_name(names, dataset, &params->query.sort);
    for (unsigned i = 0; i < count && names->count < HUB_COUNT(names->items); i++)
        add_name(names, dataset, &columns[i]);
}

/* Do the files themselves state all that is not measured yet? */
static enum hub_status are_stated(struct hub_request *request, const struct hub_state *state,
                                  const struct needed_names *names, bool *all, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_parallel *parallel = request->parallel;
    HUB_CLEANUP(hub_freep) struct hub_measured_state *parts = NULL;
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    HUB_TRY(hub_work_admit_us(request, HUB_WORK_EPISODES,
                              (double)dataset->episode_count * names->count * STATED_NS / 1000, err));
    HUB_TRY(hub_measures_states(state, &parts, err));
    *all = true;
    for (uint32_t i = 0; *all && i < dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &dataset->episodes[i];
        if (i % 1024 == 0 && hub_parallel_cancelled(parallel))
            return hub_fail(err, HUB_CANCELLED, "the request for these episodes has ended");
        for (unsigned n = 0; *all && n < names->count; n++) {
            struct hub_values values = {.count = 1};
            if (parts[e->part].how_far < hub_property_row(names->items[n]->kind)->how_far)
                HUB_TRY(hub_episode_values_of(&reader, e, names->items[n], &values, err));
            *all = values.count > 0;
        }
    }
    return HUB_OK;
}

/* A row of a field is read when it is first asked for: the parts that lack it are wanted. */
static enum hub_status read_row(struct hub_request *request, const struct hub_state *state,
                                const struct hub_property *name, struct hub_coverage *out,
                                struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const char *path = dataset->fields[hub_dataset_find_field(dataset, name->of)].path;
    HUB_CLEANUP(hub_freep) bool *there = NULL;
    char word[HUB_PROPERTY_COLUMN];
    uint64_t lack = 0;
    hub_property_column(name, word);
    HUB_TRY(hub_column_parts(state, word, hub_view_of(path), &there, err));
    for (uint32_t i = 0; i < dataset->part_count; i++)
        lack += !there[i];
    if (!lack)
        return HUB_OK;
    out->parts = HUB_MIN(out->parts, out->of_parts - HUB_MIN(lack, out->of_parts));
    out->complete = false;
    hub_measurer_want_row(request->app->measurer, dataset->summary->id, path,
                          &(struct hub_row_end){.last = name->kind == HUB_PROPERTY_LAST,
                                                .of_row = name->of_row,
                                                .component = name->component});
    return HUB_OK;
}

static enum hub_status read_named(struct hub_request *request, const struct hub_state *state,
                                  const struct hub_episode_parameters *params,
                                  const struct hub_property *columns, unsigned count,
                                  struct hub_coverage *out, struct hub_error *err)
{
    struct needed_names names = {0};
    bool all = true;
    *out = (struct hub_coverage){.complete = true};
    add_names(&names, state->dataset, params, columns, count);
    if (!names.count)
        return HUB_OK;
    HUB_TRY(hub_coverage_read(state, names.how_far, out, err));
    if (!out->complete && !out->stale)
        HUB_TRY(are_stated(request, state, &names, &all, err));
    const bool stated = !out->complete && !out->stale && all;
    out->named = !stated && (!out->complete || out->failed || names.how_far > HUB_MEASURED_REWARDS);
    out->complete |= stated;
    out->rows_alone = names.how_far == HUB_MEASURED_NOTHING;
    for (unsigned i = 0; i < names.count; i++)
        if (hub_property_is_of_row(names.items[i]->kind))
            HUB_TRY(read_row(request, state, names.items[i], out, err));
    out->named |= !out->complete;
    return HUB_OK;
}

/* wait=, in milliseconds, and partial=. */
static int64_t read_patience(const struct hub_request *request, bool *partial)
{
    int64_t wait_s = WAIT_S;
    *partial = hub_request_flag(request, "partial") || request->partial;
    (void)hub_request_int(request, "wait", &wait_s);
    return wait_s * 1000;
}

void hub_coverage_extra(struct hub_response *response, const struct hub_coverage *coverage)
{
    free(response->problem_extra);
    if (asprintf(&response->problem_extra, "\"done\":%" PRIu64 ",\"of\":%" PRIu64, coverage->parts,
                 coverage->of_parts) < 0)
        response->problem_extra = NULL; /* the answer is worth giving without it */
}

/* HUB_AGAIN: the request is called again when more is measured, or the time is over. It takes no thread
 * meanwhile. */
static enum hub_status await_more(struct hub_request *request, const struct hub_target *target,
                                  int64_t wait_ms)
{
    const int64_t until_ms = request->begun_ms + wait_ms;
    struct hub_file_fetch *more =
        hub_time_mono_ms() < until_ms
            ? hub_measurer_await(request->app->measurer, target->summary->id, target->state.measures)
            : NULL;
    if (!more)
        return HUB_OK;
    return hub_await_held(request, more, until_ms);
}

enum hub_status hub_coverage_await(struct hub_request *request, const struct hub_target *target)
{
    bool partial;
    const int64_t wait_ms = read_patience(request, &partial);
    return partial ? HUB_OK : await_more(request, target, wait_ms);
}

/* Until more is measured; else how much is by now. */
static enum hub_status wait_for(struct hub_request *request, struct hub_response *response,
                                const struct hub_target *target, const struct hub_coverage *coverage,
                                int64_t wait_ms, struct hub_error *err)
{
    const char *id = target->summary->id;
    if (!coverage->rows_alone)
        hub_measurer_want(request->app->measurer, id);
    HUB_TRY(await_more(request, target, wait_ms));
    hub_coverage_extra(response, coverage);
    return hub_fail_as(
        err, HUB_BUSY, HUB_PROBLEM_PENDING,
        "values of '%s' that this needs are still being measured, %" PRIu64 " of %" PRIu64
        " parts are done: try again, wait longer with wait=%d, or use the measured parts with partial=1",
        id, coverage->parts, coverage->of_parts, MAX_WAIT_S);
}

enum hub_status hub_coverage_require(struct hub_request *request, struct hub_response *response,
                                     const struct hub_target *target, const struct hub_property *columns,
                                     unsigned count, struct hub_coverage *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    bool partial;
    const int64_t wait_ms = read_patience(request, &partial);
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    HUB_TRY(hub_episodes_admit(request, &target->state, &params.query, err));
    HUB_TRY(hub_query_check(request, response, target, &params, columns, count, err));
    HUB_TRY(read_named(request, &target->state, &params, columns, count, out, err));
    if (out->complete || partial)
        return HUB_OK;
    if (!request->app->measurer)
        return hub_fail_as(
            err, HUB_UNSUPPORTED, HUB_PROBLEM_NOT_MEASURED,
            "values of '%s' that this needs are not measured, and this hub runs with --measure "
            "off: start it with --measure idle or on-demand, or use the measured parts with partial=1",
            target->summary->id);
    return wait_for(request, response, target, out, wait_ms, err);
}

enum hub_status hub_coverage_named_headers(struct hub_request *request, const struct hub_target *target,
                                           const struct hub_coverage *coverage, struct hub_response *response,
                                           struct hub_error *err)
{
    if (coverage->named)
        HUB_TRY(hub_response_header(response, err, "X-Measured", "%" PRIu64 "/%" PRIu64, coverage->parts,
                                    coverage->of_parts));
    return hub_coverage_headers(request, target, coverage, response, err);
}

void hub_coverage_named_put(struct hub_json *json, const struct hub_coverage *coverage)
{
    if (!coverage->named)
        return;
    hub_json_put_array(json, "measured");
    hub_json_uint(json, coverage->parts);
    hub_json_uint(json, coverage->of_parts);
    hub_json_end_array(json);
}
