/* Measuring one dataset, part by part: see measure_state.h. */
#include "storage/measurer/measure_part.h"
#include "storage/measurer/measure_state.h"
#include "storage/text/time.h"

#include <stdlib.h>

static void put_progress(struct hub_measurer *m, uint64_t done, uint64_t of)
{
    pthread_mutex_lock(&m->thread.lock);
    m->done = done;
    m->of = of;
    pthread_mutex_unlock(&m->thread.lock);
}

static bool rests(const struct hub_measurer *m, const struct hub_dataset *dataset, uint32_t part,
                  enum hub_measured how_far)
{
    return hub_measures_rests(m->turn.options.catalog, dataset->parts[part].row, how_far);
}

/* What became of a part. Trouble of this machine with it keeps nobody waiting: it is tried again later. */
static enum hub_status end_part(struct hub_measurer *m, const struct hub_dataset *dataset, uint32_t part,
                                enum hub_measured how_far, enum hub_status st, const struct hub_error *why,
                                struct hub_error *err)
{
    struct hub_catalog *catalog = m->turn.options.catalog;
    const int64_t row = dataset->parts[part].row;
    if (!st)
        hub_measures_succeed(catalog, row, how_far);
    if (st != HUB_IO && st != HUB_DENIED && st != HUB_TIMEOUT)
        return st ? hub_pass(st, why, err) : HUB_OK;
    const int64_t again_ms =
        hub_time_mono_ms() + hub_measures_fail(catalog, dataset->summary->id, row, how_far, why->detail);
    m->retry_ms = m->retry_ms ? HUB_MIN(m->retry_ms, again_ms) : again_ms;
    return HUB_OK;
}

/* Pass 1 of those that are not as far. One bad part hides no other. */
static enum hub_status measure_parts(struct hub_measurer *m, const struct hub_measure_plan *plan,
                                     enum hub_measured how_far, struct hub_error *err)
{
    enum hub_status first = HUB_OK;
    bool any = false; /* each turn gets at least a part done */
    for (uint32_t i = 0; i < plan->dataset->part_count; i++) {
        put_progress(m, i, plan->dataset->part_count);
        if (plan->dataset->parts[i].broken || plan->states[i].how_far >= how_far ||
            rests(m, plan->dataset, i, how_far))
            continue;
        if (any && hub_measure_yields(m))
            return hub_fail(err, HUB_BUSY, "another dataset is measured first");
        any = true;
        struct hub_error why = {0};
        const enum hub_status part_st = hub_measure_part_fields(&m->turn, plan, i, how_far, &why),
                              st = end_part(m, plan->dataset, i, how_far, part_st, &why, err);
        first = first ? first : st;
        if (m->turn.stop)
            return st;
    }
    return first;
}

static enum hub_status measure_fields(struct hub_measurer *m, const struct hub_dataset *dataset,
                                      enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(hub_measure_plan_dispose) struct hub_measure_plan plan = {0};
    HUB_TRY(hub_measure_plan_read(m->turn.options.catalog, dataset, &plan, err));
    return measure_parts(m, &plan, how_far, err);
}

static enum hub_status read_ranges(struct hub_measurer *m, const struct hub_dataset *dataset,
                                   struct hub_ranges *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_TRY(hub_state_open(m->turn.options.catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    return hub_ranges_read(&state, out, err);
}

/* Pass 2 of those that were not measured with today's ranges. */
static enum hub_status measure_motions(struct hub_measurer *m, const struct hub_dataset *dataset,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_measure_plan_dispose) struct hub_measure_plan plan = {0};
    HUB_CLEANUP(hub_ranges_dispose) struct hub_ranges ranges = {0};
    enum hub_status first = HUB_OK;
    bool any = false; /* each turn gets at least a part done */
    HUB_TRY(hub_measure_plan_read(m->turn.options.catalog, dataset, &plan, err));
    HUB_TRY(read_ranges(m, dataset, &ranges, err));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        const struct hub_measured_state *state = &plan.states[i];
        put_progress(m, i, dataset->part_count);
        if (dataset->parts[i].broken || state->how_far < HUB_MEASURED_FIELDS /* pass 1 failed */ ||
            (state->how_far == HUB_MEASURED_ALL && state->ranges == ranges.hash) ||
            rests(m, dataset, i, HUB_MEASURED_ALL))
            continue;
        if (any && hub_measure_yields(m))
            return hub_fail(err, HUB_BUSY, "another dataset is measured first");
        any = true;
        struct hub_error why = {0};
        const enum hub_status part_st = hub_measure_part_motion(&m->turn, &plan, i, &ranges, &why),
                              st = end_part(m, dataset, i, HUB_MEASURED_ALL, part_st, &why, err);
        first = first ? first : st;
        if (m->turn.stop)
            return st;
    }
    return first;
}

enum hub_status hub_measure_dataset(struct hub_measurer *m, const struct hub_summary *summary,
                                    enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_TRY(hub_dataset_get(m->turn.options.catalog, summary, true, &dataset, err));
    HUB_TRY(measure_fields(m, dataset, HUB_MIN(how_far, HUB_MEASURED_FIELDS), err));
    hub_measure_wake(m, summary->id);
    if (how_far < HUB_MEASURED_ALL)
        return HUB_OK;
    HUB_TRY(measure_motions(m, dataset, err));
    hub_measure_wake(m, summary->id);
    return HUB_OK;
}

/* ---- a histogram ---- */

struct histograms {
    struct hub_histogram empty; /* of the dataset's range */
    uint32_t number;            /* of the field */
    bool *there;                /* by part */
};

static void histograms_dispose(struct histograms *h)
{
    hub_histogram_dispose(&h->empty);
    free(h->there);
}

/* Which parts have one of these ranges already. */
static enum hub_status find_histograms(struct hub_measurer *m, const struct hub_dataset *dataset,
                                       const struct hub_measure_wanted *wanted, struct histograms *out,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_merged_fields_dispose) struct hub_merged_fields merged = {0};
    HUB_TRY(hub_state_open(m->turn.options.catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    HUB_TRY(hub_merged_fields_read(&state, HUB_MEASURED_FIELDS, &merged, err));
    out->number = hub_dataset_find_field(dataset, hub_view_of(wanted->field));
    if (out->number == HUB_NONE || !merged.fields[out->number].dims)
        return hub_fail(err, HUB_NOT_FOUND, "'%s' has no numbers in '%s'", wanted->id, wanted->field);
    HUB_TRY(hub_histogram_init(&out->empty, &merged.fields[out->number], wanted->bins, err));
    return hub_histogram_parts(&state, wanted->field, &out->empty, &out->there, err);
}

enum hub_status hub_measure_histograms(struct hub_measurer *m, const struct hub_summary *summary,
                                       const struct hub_measure_wanted *wanted, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_CLEANUP(hub_measure_plan_dispose) struct hub_measure_plan plan = {0};
    HUB_CLEANUP(histograms_dispose) struct histograms h = {0};
    HUB_TRY(hub_dataset_get(m->turn.options.catalog, summary, true, &dataset, err));
    HUB_TRY(measure_fields(m, dataset, HUB_MEASURED_FIELDS, err));
    HUB_TRY(hub_measure_plan_read(m->turn.options.catalog, dataset, &plan, err));
    HUB_TRY(find_histograms(m, dataset, wanted, &h, err));
    const size_t bytes = (size_t)h.empty.dims * h.empty.room * sizeof *h.empty.counts;
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        put_progress(m, i, dataset->part_count);
        if (dataset->parts[i].broken || h.there[i])
            continue;
        memset(h.empty.counts, 0, bytes);
        HUB_TRY(hub_measure_part_histogram(&m->turn, &plan, i, h.number, &h.empty, err));
    }
    hub_measure_wake(m, summary->id);
    return HUB_OK;
}

/* ---- a row ---- */

enum hub_status hub_measure_rows(struct hub_measurer *m, const struct hub_summary *summary,
                                 const struct hub_measure_wanted *wanted, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_CLEANUP(hub_measure_plan_dispose) struct hub_measure_plan plan = {0};
    HUB_CLEANUP(hub_freep) bool *there = NULL;
    HUB_TRY(hub_dataset_get(m->turn.options.catalog, summary, true, &dataset, err));
    HUB_TRY(hub_measure_plan_read(m->turn.options.catalog, dataset, &plan, err));
    const uint32_t number = hub_dataset_find_field(dataset, hub_view_of(wanted->field));
    if (number == HUB_NONE)
        return hub_fail(err, HUB_NOT_FOUND, "%s has no field '%s'", wanted->id, wanted->field);
    HUB_TRY(hub_measure_plan_rows(m->turn.options.catalog, &plan, number, &wanted->end, &there, err));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        put_progress(m, i, dataset->part_count);
        if (!there[i])
            HUB_TRY(hub_measure_part_rows(&m->turn, &plan, i, number, &wanted->end, err));
    }
    hub_measure_wake(m, summary->id);
    return HUB_OK;
}
