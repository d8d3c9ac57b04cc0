/* How much was measured: see coverage.h. */
#include "server/api/coverage.h"

#include "server/api/episodes.h"
#include "storage/catalog/episode_reader.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RETRY_S = 2 };

enum hub_status hub_coverage_read(const struct hub_state *state, enum hub_measured how_far,
                                  struct hub_coverage *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_measured_state *parts = NULL;
    const struct hub_dataset *dataset = state->dataset;
    *out = (struct hub_coverage){0};
    HUB_TRY(hub_measures_states(state, &parts, err));
    uint64_t ranges = 0;
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        if (parts[i].how_far == HUB_MEASURED_ALL && how_far == HUB_MEASURED_ALL) {
            out->stale |= ranges && ranges != parts[i].ranges;
            ranges = parts[i].ranges;
        }
        out->state = (out->state ^ parts[i].stamp ^ parts[i].ranges) * UINT64_C(0x9E3779B97F4A7C15) + 1;
        out->of_parts += !dataset->parts[i].broken;
        out->parts += !dataset->parts[i].broken && parts[i].how_far >= how_far;
    }
    for (uint32_t i = 0; i < dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &dataset->episodes[i];
        const bool done = parts[e->part].how_far >= how_far;
        out->of++;
        out->of_rows += e->steps;
        out->episodes += done;
        out->rows += done ? e->steps : 0;
    }
    out->complete = out->parts == out->of_parts && !out->stale;
    return HUB_OK;
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
    hub_json_put_bool(json, "complete", c->complete);
    if (c->stale)
        hub_json_put_bool(json, "stale", true);
    hub_json_end_object(json);
}

enum hub_status hub_coverage_headers(struct hub_request *request, const struct hub_target *target,
                                     const struct hub_coverage *coverage, struct hub_response *response,
                                     struct hub_error *err)
{
    if (coverage->complete && !coverage->stale)
        return hub_resolve_headers(request, target, response, err);
    hub_measurer_want(request->app->measurer, target->summary->id);
    if (request->app->measurer)
        HUB_TRY(hub_response_header(response, err, "Retry-After", "%d", RETRY_S));
    struct hub_target passing = *target;
    passing.passing = true;
    return hub_resolve_headers(request, &passing, response, err);
}

/* ---- names ---- */

static bool is_measured(enum hub_property_kind kind)
{
    return hub_measured_has(kind) && kind != HUB_PROPERTY_RETURN;
}

static bool is_return(enum hub_property_kind kind)
{
    return kind == HUB_PROPERTY_RETURN;
}

static enum hub_status names_are(const struct hub_request *request, bool (*is)(enum hub_property_kind kind),
                                 const struct hub_property *columns, unsigned count, bool *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_episodes_asked_dispose) struct hub_episodes_asked asked = {0};
    HUB_TRY(hub_episodes_asked(request, &asked, err));
    *out = hub_where_has(asked.where, is) || is(asked.query.sort.kind);
    for (unsigned i = 0; i < count; i++)
        *out |= is(columns[i].kind);
    return HUB_OK;
}

/* Returns are summed up where the files state none: all episodes have one, though not all are measured. */
static enum hub_status check_returns(const struct hub_state *state, struct hub_coverage *out,
                                     struct hub_error *err)
{
    const struct hub_property name = {.kind = HUB_PROPERTY_RETURN};
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    bool all = true;
    for (uint32_t i = 0; all && i < dataset->episode_count; i++) {
        struct hub_values values;
        HUB_TRY(hub_episode_values_of(&reader, &dataset->episodes[i], &name, &values, err));
        all = values.count > 0;
    }
    out->named = !all;
    out->complete = all;
    return HUB_OK;
}

enum hub_status hub_coverage_named(const struct hub_request *request, const struct hub_state *state,
                                   const struct hub_property *columns, unsigned count,
                                   struct hub_coverage *out, struct hub_error *err)
{
    bool measured = false, returns = false;
    *out = (struct hub_coverage){.complete = true};
    HUB_TRY(names_are(request, is_measured, columns, count, &measured, err));
    HUB_TRY(names_are(request, is_return, columns, count, &returns, err));
    if (!measured && !returns)
        return HUB_OK;
    HUB_TRY(hub_coverage_read(state, measured ? HUB_MEASURED_ALL : HUB_MEASURED_REWARDS, out, err));
    out->named = measured;
    return measured || out->complete ? HUB_OK : check_returns(state, out, err);
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

enum hub_status hub_coverage_of_names(struct hub_request *request, const struct hub_target *target,
                                      const struct hub_property *columns, unsigned count,
                                      struct hub_response *response, struct hub_error *err)
{
    struct hub_coverage coverage;
    HUB_TRY(hub_coverage_named(request, &target->state, columns, count, &coverage, err));
    return hub_coverage_named_headers(request, target, &coverage, response, err);
}
