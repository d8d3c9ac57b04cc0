/* What the numbers of a dataset come to: GET …/~statistics. Of episodes from what is known of each, of fields from what was
 * measured of their rows; how much that is so far stands beside it. */
#include "server/api/handlers.h"

#include "server/api/coverage.h"
#include "server/api/distribution.h"
#include "server/api/episodes.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/catalog/episode_reader.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 40, MIN_BINS = 2, MAX_BINS = 512 };

/* Of an episode each: the values of those that were chosen, and where they are from. */
struct series {
    double *values;
    uint32_t count, claimed, computed;
};

static void series_dispose(struct series *s)
{
    free(s->values);
}

struct question {
    struct hub_target target;
    struct hub_episodes_asked asked;
    bool *chosen;   /* by episode */
    uint32_t count; /* of them */
    int64_t bins;
};

static void question_dispose(struct question *q)
{
    free(q->chosen);
    hub_episodes_asked_dispose(&q->asked);
    hub_target_dispose(&q->target);
}

static double real_of(const struct hub_value *value)
{
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

/* What stands in the file's row is its claim, unless the driver summed it up itself. */
static enum hub_status count_origin(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                    enum hub_property_kind kind, struct series *out, struct hub_error *err)
{
    struct hub_found_episode row;
    if (kind != HUB_PROPERTY_RETURN) {
        out->computed += kind != HUB_PROPERTY_STEPS;
        out->claimed += kind == HUB_PROPERTY_STEPS;
        return HUB_OK;
    }
    HUB_TRY(hub_episode_row(reader, e, &row, err));
    const bool claimed = row.has_return && !row.return_computed;
    out->claimed += claimed;
    out->computed += !claimed;
    return HUB_OK;
}

static enum hub_status read_series(const struct question *q, enum hub_property_kind kind, struct series *out,
                                   struct hub_error *err)
{
    const struct hub_state *state = &q->target.state;
    const struct hub_property name = {.kind = kind};
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    HUB_TRY(hub_new(&out->values, (size_t)q->count + 1, sizeof *out->values, err));
    for (uint32_t i = 0; i < state->dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &state->dataset->episodes[i];
        struct hub_values values;
        if (!q->chosen[i])
            continue;
        HUB_TRY(hub_episode_values_of(&reader, e, &name, &values, err));
        if (!values.count || values.first->kind == HUB_VALUE_TEXT)
            continue;
        out->values[out->count++] = real_of(values.first);
        HUB_TRY(count_origin(&reader, e, kind, out, err));
    }
    return HUB_OK;
}

static const char *origin_of(const struct series *s)
{
    return s->claimed && s->computed ? "mixed" : s->claimed ? "claimed" : "computed";
}

static enum hub_status put_series(const struct question *q, struct hub_json *json,
                                  enum hub_property_kind kind, struct hub_error *err)
{
    HUB_CLEANUP(series_dispose) struct series s = {0};
    HUB_TRY(read_series(q, kind, &s, err));
    hub_json_put_object(json, hub_property_word(kind));
    hub_json_put_text(json, "origin", origin_of(&s));
    HUB_TRY(hub_distribution_put(json, s.values, s.count, (unsigned)q->bins, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status choose(struct question *q, struct hub_error *err)
{
    const uint32_t all = q->target.state.dataset->episode_count;
    HUB_TRY(hub_new(&q->chosen, (size_t)all + 1, sizeof *q->chosen, err));
    HUB_TRY(hub_episode_choose(&q->target.state, &q->asked.query, q->chosen, err));
    for (uint32_t i = 0; i < all; i++)
        q->count += q->chosen[i];
    return HUB_OK;
}

static enum hub_status ask(struct hub_request *request, struct hub_response *response, struct question *q,
                           struct hub_error *err)
{
    static const char *const parameters[] = {"bins", "where", "split", "task", "for", "revision", NULL};
    bool given;
    HUB_TRY(hub_request_known(request, parameters, err));
    HUB_TRY(hub_request_int(request, "bins", &q->bins, &given, err));
    if (!given)
        q->bins = BINS;
    if (q->bins < MIN_BINS || q->bins > MAX_BINS)
        return hub_request_wrong(request, "bins", err, "bins is %d to %d", MIN_BINS, MAX_BINS);
    HUB_TRY(hub_episodes_asked(request, &q->asked, err));
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &q->target, err));
    return choose(q, err);
}

enum hub_status hub_statistics_show(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(question_dispose) struct question q = {0};
    struct hub_coverage coverage;
    HUB_TRY(ask(request, response, &q, err));
    HUB_TRY(hub_coverage_read(&q.target.state, HUB_MEASURED_REWARDS, &coverage, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 64 * MIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "revision", q.target.summary->revision);
    hub_json_put_uint(&json, "episodes", q.count);
    hub_coverage_put(&json, request->app, &coverage);
    hub_json_put_object(&json, "fields");
    HUB_TRY(put_series(&q, &json, HUB_PROPERTY_RETURN, err));
    HUB_TRY(put_series(&q, &json, HUB_PROPERTY_STEPS, err));
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_coverage_headers(request, &q.target, &coverage, response, err));
    return hub_reply_document(request, response, err);
}
