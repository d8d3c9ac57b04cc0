/* Odd episodes: GET …/~findings. Rules over what is known and measured of each; the worst of those that are
 * outside. */
#include "server/api/handlers.h"

#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "server/api/statistics/aggregate_cache.h"
#include "server/api/work.h"
#include "storage/measure/fold.h"
#include "storage/statistics/measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LEAST_EPISODES = 8 };
#define LOOK_US 0.025 /* an episode by one rule, as it was measured */

/* An episode that a rule found. */
struct rule_finding {
    uint32_t episode;
    double value, badness;
};

/* The worst of those that a rule found, in room for twice as many as are wanted: when it is full, half of
 * it goes. */
struct worst {
    struct rule_finding *found;
    uint32_t count, limit, total;
    bool full; /* there are `limit` at least as bad as the last of these */
};

struct findings {
    struct hub_target target;
    int rule;      /* -1: all */
    double k, fps; /* fps: steps of a second; 0: not known */
    int64_t limit;
    struct hub_series series; /* of the rule that was looked at last: the next is often of the same */
    enum hub_property_kind of;
    bool has_series;
};

static void findings_dispose(struct findings *f)
{
    hub_series_dispose(&f->series);
    hub_target_dispose(&f->target);
}

/* The largest badness first, then the smallest number. */
static int by_badness(const void *a, const void *b)
{
    const struct rule_finding *x = a, *y = b;
    const int by = (x->badness < y->badness) - (x->badness > y->badness);
    return by ? by : (x->episode > y->episode) - (x->episode < y->episode);
}

static void keep_worst(struct worst *w)
{
    if (w->count)
        qsort(w->found, w->count, sizeof *w->found, by_badness);
    w->full = w->count >= w->limit;
    w->count = HUB_MIN(w->count, w->limit);
}

static void add_found(struct worst *w, const struct rule_finding *found)
{
    w->total++;
    if (w->full && by_badness(found, &w->found[w->limit - 1]) > 0)
        return;
    w->found[w->count++] = *found;
    if (w->count == 2 * w->limit)
        keep_worst(w);
}

/* A share of an episode goes on for a second, or for long in so many steps. */
static bool is_long(const struct findings *f, double share, uint32_t episode)
{
    const double steps = share * (double)f->target.state.dataset->episodes[episode].steps;
    return (f->fps > 0 && steps >= HUB_ODD_LONG_S * f->fps) ||
           (share >= HUB_ODD_LONG_SHARE && steps >= HUB_ODD_LONG_STEPS - 0.5);
}

static double badness(const struct findings *f, const struct hub_odd_rule *rule, uint32_t i, double low,
                      double high)
{
    const double value = f->series.values[i];
    switch (rule->test) {
    case HUB_ODD_LOWEST:
        return -value;
    case HUB_ODD_HIGHEST:
        return value;
    case HUB_ODD_ABOVE:
        return value > rule->limit ? value : -INFINITY;
    case HUB_ODD_LASTING:
        return is_long(f, value, f->series.episodes[i]) ? value : -INFINITY;
    case HUB_ODD_OUTSIDE_QUARTILES:
        return value < low ? low - value : value > high ? value - high : -INFINITY;
    }
    return -INFINITY;
}

/* Between which values the rule finds nothing; false: there are too few episodes to say. */
static bool read_fence(const struct findings *f, const struct hub_series *all, double *low, double *high)
{
    if (all->finite < LEAST_EPISODES)
        return false;
    const double q1 = hub_series_quantile(all, 0.25), q3 = hub_series_quantile(all, 0.75);
    *low = q1 - f->k * (q3 - q1);
    *high = q3 + f->k * (q3 - q1);
    return true;
}

/* A reward that is flat everywhere says nothing of one episode. */
static bool says_nothing(const struct hub_odd_rule *rule, const struct hub_series *all, uint32_t count)
{
    return rule->of == HUB_PROPERTY_FLAT_REWARD && count == all->count;
}

static enum hub_status put_episodes(const struct findings *f, const struct hub_odd_rule *rule,
                                    const struct rule_finding *found, uint32_t count, struct hub_json *json,
                                    struct hub_error *err)
{
    const struct hub_state *state = &f->target.state;
    const struct hub_dataset *dataset = state->dataset;
    HUB_CLEANUP(hub_column_cursor_reset) struct hub_column_cursor at = {0};
    const char *field = hub_measured_role(dataset, rule->role);
    hub_json_put_array(json, "episodes");
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_dataset_episode *e = &dataset->episodes[found[i].episode];
        const struct hub_column_id id = {state, "at", hub_view_of(hub_property_word(rule->of)), e->part};
        struct hub_value step;
        bool known;
        hub_json_object(json);
        hub_json_put_int(json, "number", e->number);
        hub_json_put_uint(json, "steps", e->steps);
        hub_measured_number(json, "value", found[i].value);
        HUB_TRY(hub_column_measured(&at, &id, e->index, &step, &known, err));
        if (known)
            hub_json_put_uint(json, "at", (uint64_t)hub_value_real_of(&step));
        if (field)
            hub_json_put_text(json, "field", field);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    return hub_json_status(json);
}

static enum hub_status read_series(struct findings *f, const struct hub_odd_rule *rule, struct hub_error *err)
{
    if (!f->has_series || f->of != rule->of) {
        hub_series_dispose(&f->series);
        f->series = (struct hub_series){0};
        HUB_TRY(hub_series_read(&f->target.state, NULL, rule->of, &f->series, err));
        f->has_series = true;
        f->of = rule->of;
    }
    return rule->test == HUB_ODD_OUTSIDE_QUARTILES && !f->series.sorted ? hub_series_sort(&f->series, err)
                                                                        : HUB_OK;
}

static enum hub_status put_rule(struct findings *f, const struct hub_odd_rule *rule, struct hub_json *json,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct rule_finding *found = NULL;
    const struct hub_series *all = &f->series;
    double low = 0, high = 0;
    HUB_TRY(read_series(f, rule, err));
    HUB_TRY(hub_new(&found, 2 * (size_t)f->limit, sizeof *found, err));
    struct worst worst = {.found = found, .limit = (uint32_t)f->limit};
    const bool fenced = rule->test == HUB_ODD_OUTSIDE_QUARTILES && read_fence(f, all, &low, &high);
    for (uint32_t i = 0; i < all->count && (fenced || rule->test != HUB_ODD_OUTSIDE_QUARTILES); i++) {
        const double bad = badness(f, rule, i, low, high);
        if (bad > -INFINITY)
            add_found(&worst, &(struct rule_finding){all->episodes[i], all->values[i], bad});
    }
    keep_worst(&worst);
    const uint32_t count = says_nothing(rule, all, worst.total) ? 0 : worst.total;
    hub_json_object(json);
    hub_json_put_text(json, "rule", rule->name);
    if (fenced) {
        hub_json_put_double(json, "k", f->k);
        hub_json_put_double(json, "low", low);
        hub_json_put_double(json, "high", high);
    } else if (rule->test == HUB_ODD_ABOVE) {
        hub_json_put_double(json, "high", rule->limit);
    } else if (rule->test == HUB_ODD_LASTING) {
        hub_json_put_double(json, "high", HUB_ODD_LONG_SHARE);
    }
    hub_json_put_uint(json, "of", all->count);
    hub_json_put_uint(json, "count",
                      rule->test == HUB_ODD_LOWEST || rule->test == HUB_ODD_HIGHEST ? HUB_MIN(count, 1U)
                                                                                    : count);
    HUB_TRY(put_episodes(f, rule, found, count ? worst.count : 0, json, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status parse_query(struct hub_request *request, struct hub_response *response,
                                   struct findings *f, struct hub_error *err)
{
    const struct hub_view k = hub_request_query(request, "k"), rule = hub_request_query(request, "rule");
    f->k = k.data ? strtod(k.data, NULL) : 1.5;
    f->rule = -1;
    for (unsigned i = 0; rule.data && i < HUB_ODD_RULES; i++)
        f->rule = hub_view_is(rule, hub_odd_rule(i)->name) ? (int)i : f->rule;
    (void)hub_request_int(request, "limit", &f->limit);
    return hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &f->target, err);
}

static enum hub_status read_fps(struct findings *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_dataset_fact(&f->target.state, "fps", &fact, err));
    f->fps = fact.size ? strtod(fact.data, NULL) : 0;
    return HUB_OK;
}

static enum hub_status write_answer(struct hub_request *request, struct findings *f,
                                    const struct hub_coverage *coverage, struct hub_response *response,
                                    struct hub_error *err)
{
    const double looks = (double)f->target.state.dataset->episode_count * (f->rule < 0 ? HUB_ODD_RULES : 1);
    HUB_TRY(hub_work_admit_us(request, HUB_WORK_EPISODES, looks * LOOK_US, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            (uint64_t)f->target.state.dataset->episode_count * HUB_SERIES, err));
    HUB_TRY(read_fps(f, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 64 * MIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "revision", f->target.summary->revision);
    if (f->fps > 0)
        hub_json_put_double(&json, "fps", f->fps);
    hub_coverage_put(&json, request->app, coverage);
    hub_json_put_array(&json, "rules");
    for (size_t i = 0; i < HUB_ODD_RULES; i++)
        if (f->rule < 0 || f->rule == (int)i) {
            HUB_TRY(hub_work_go_on(request, HUB_WORK_EPISODES, 0, err));
            HUB_TRY(put_rule(f, hub_odd_rule((unsigned)i), &json, err));
        }
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    hub_aggregate_store(request, "~findings", &f->target.state, coverage, response);
    return HUB_OK;
}

enum hub_status hub_findings_show(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(findings_dispose) struct findings f = {0};
    struct hub_coverage coverage;
    bool kept;
    HUB_TRY(parse_query(request, response, &f, err));
    HUB_TRY(hub_coverage_read(&f.target.state, HUB_MEASURED_ALL, &coverage, err));
    HUB_TRY(hub_aggregate_find(request, "~findings", &f.target.state, &coverage, response, &kept, err));
    if (!kept)
        HUB_TRY(write_answer(request, &f, &coverage, response, err));
    HUB_TRY(hub_coverage_headers(request, &f.target, &coverage, response, err));
    return hub_reply_document(request, response, err);
}
