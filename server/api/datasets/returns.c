/* Returns in few bins: see returns.h. They are counted in two passes over the columns of the episodes, and
 * kept ready. */
#include "server/api/datasets/returns.h"

#include "server/api/response_cache.h"
#include "storage/episodes/measures.h"
#include "storage/statistics/distribution.h"

#include <math.h>

enum { BINS = 12, LONGEST = 2 * KIB };

struct spread {
    double low, high; /* NaN: there is none */
    double sum;
    uint64_t count, counts[BINS];
    bool all; /* every episode has one */
};

static void see_range(struct spread *s, double value)
{
    s->low = fmin(s->low, value); /* of NaN and a number: the number */
    s->high = fmax(s->high, value);
    s->sum += value;
    s->count++;
}

static void see_bin(struct spread *s, double value)
{
    s->counts[s->low < s->high ? hub_histogram_bin(value, s->low, s->high, BINS) : 0]++;
}

static enum hub_status each_return(const struct hub_state *state, void (*see)(struct spread *s, double value),
                                   struct spread *s, struct hub_error *err)
{
    const struct hub_property name = {.kind = HUB_PROPERTY_RETURN};
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    s->all = true;
    for (uint32_t i = 0; i < state->dataset->episode_count; i++) {
        struct hub_values values;
        HUB_TRY(hub_episode_values_of(&reader, &state->dataset->episodes[i], &name, &values, err));
        s->all &= values.count > 0;
        const double value = values.count ? hub_value_real_of(values.first) : NAN;
        if (isfinite(value))
            see(s, value);
    }
    return HUB_OK;
}

static void state_closep(struct hub_state *state)
{
    hub_state_close(state);
}

static enum hub_status write_spread(const struct hub_app *app, const struct hub_summary *summary,
                                    struct hub_buf *body, struct hub_returns_summary *known, bool *all,
                                    struct hub_error *err)
{
    HUB_CLEANUP(state_closep) struct hub_state state = {0};
    struct spread s = {.low = NAN, .high = NAN};
    HUB_TRY(hub_state_open(app->catalog, summary, &state, err));
    HUB_TRY(each_return(&state, see_range, &s, err));
    *all = s.all;
    *known = (struct hub_returns_summary){s.count, s.count ? s.sum / (double)s.count : NAN, s.low, s.high};
    if (!s.count)
        return hub_buf_add_text(body, "null", err);
    HUB_TRY(each_return(&state, see_bin, &s, err));
    struct hub_json json = hub_json_to(body, err);
    hub_json_object(&json);
    hub_histogram_put(&json, s.low, s.high, s.counts, s.low < s.high ? BINS : 1);
    hub_json_put_uint(&json, "count", s.count);
    hub_json_put_uint(&json, "of", state.dataset->episode_count);
    if (isfinite(known->mean)) /* their sum may be beyond all numbers */
        hub_json_put_double(&json, "mean", known->mean);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* What all episodes have stays; what only some have may be of more when anything else was measured. */
static struct hub_cached_response_key key_of(const struct hub_summary *summary, bool all,
                                             const uint64_t *measured)
{
    return (struct hub_cached_response_key){.kind = HUB_KEPT_RETURNS,
                                            .state = summary->serial,
                                            .question = {(const char *)measured, all ? 0 : sizeof *measured}};
}

static struct hub_cached_response *find(const struct hub_returns *returns, const struct hub_summary *summary,
                                        uint64_t measured)
{
    const struct hub_cached_response_key all = key_of(summary, true, &measured),
                                         some = key_of(summary, false, &measured);
    struct hub_cached_response *answer = hub_cached_response_find(returns->app, &all);
    return answer ? answer : hub_cached_response_find(returns->app, &some);
}

/* What cannot be read just now (it is published again) is left to the next answer, as what is too much. */
static bool count(struct hub_returns *returns, const struct hub_summary *summary, uint64_t measured,
                  struct hub_buf *body, struct hub_returns_summary *known)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf copy = HUB_BUF_INIT(LONGEST);
    struct hub_error why = {0};
    bool all;
    returns->left -= HUB_MIN(returns->left, summary->episodes);
    if (write_spread(returns->app, summary, body, known, &all, &why) ||
        hub_buf_add_view(&copy, hub_buf_view(body), NULL))
        return false;
    const struct hub_cached_response_key key = key_of(summary, all, &measured);
    const struct hub_cached_response_content content = {
        .body = &copy, .object = known, .bytes = sizeof *known};
    hub_cached_response_put(hub_cached_response_add(returns->app, &key, &content));
    return true;
}

static bool has_episodes(const struct hub_summary *summary)
{
    return summary->status == HUB_DATASET_READY && summary->episodes;
}

/* As it is kept, or counted now: its JSON and its figures. */
static bool look(struct hub_returns *returns, const struct hub_summary *summary, struct hub_buf *body,
                 struct hub_returns_summary *known)
{
    const uint64_t measured = hub_measures_generation(returns->app->catalog);
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = find(returns, summary, measured);
    if (!answer)
        return (summary->episodes <= returns->left || returns->left == HUB_RETURNS_EPISODES) &&
               count(returns, summary, measured, body, known);
    *known = *(const struct hub_returns_summary *)hub_cached_response_object(answer);
    return !hub_buf_add_view(body, hub_bytes_view(hub_cached_response_body(answer)), NULL);
}

bool hub_returns_of(struct hub_returns *returns, const struct hub_summary *summary,
                    struct hub_returns_summary *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf body = HUB_BUF_INIT(LONGEST);
    return has_episodes(summary) && look(returns, summary, &body, out);
}

static void put_pending(struct hub_json *json)
{
    hub_json_object(json);
    hub_json_put_bool(json, "pending", true);
    hub_json_end_object(json);
}

void hub_returns_put(struct hub_json *json, struct hub_returns *returns, const struct hub_summary *summary)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf body = HUB_BUF_INIT(LONGEST);
    struct hub_returns_summary known;
    hub_json_key(json, HUB_VIEW("returns"));
    if (!has_episodes(summary))
        hub_json_null(json);
    else if (look(returns, summary, &body, &known))
        hub_json_raw(json, hub_buf_view(&body));
    else
        put_pending(json);
}
