/** What is known and measured of episodes, as numbers: one each, for distributions and rules over them. */
#ifndef HUB_STATISTICS_MEASURED_H
#define HUB_STATISTICS_MEASURED_H

#include "storage/episodes/episode_reader.h"
#include "storage/measure/measure.h"

/** Bytes an episode that a series takes, and what is done with it. */
#define HUB_SERIES 96

/** Of the episodes that were chosen and have it, in their order. */
struct hub_series {
    double *values;
    uint32_t *episodes; /* places in the dataset */
    double *sorted;     /* the finite ones, by hub_series_sort */
    uint32_t count, finite;
    uint32_t claimed, computed; /* stated by the files; summed up here */
};
/** @param chosen  by place; NULL: all */
HUB_MUST_USE enum hub_status hub_series_read(const struct hub_state *state, const bool *chosen,
                                             enum hub_property_kind kind, struct hub_series *out,
                                             struct hub_error *err);
void hub_series_dispose(struct hub_series *series);
HUB_MUST_USE enum hub_status hub_series_sort(struct hub_series *series, struct hub_error *err);
/** As numpy.quantile has it, of at least one finite value of a sorted one. */
double hub_series_quantile(const struct hub_series *series, double q);
static inline const char *hub_series_origin(const struct hub_series *series)
{
    return series->claimed && series->computed ? "mixed" : series->claimed ? "claimed" : "computed";
}

/** A member that may be no finite number: then it is a text. */
void hub_measured_number(struct hub_json *json, const char *key, double value);
/** Path of the first field of the role of this name, or NULL; of "" none. */
const char *hub_measured_role(const struct hub_dataset *dataset, const char *role);

/** Measures of one episode after the other, as members of the items of a list. Zeroed at first but
 * for these two; of one thread, and of a state that outlives it. */
struct hub_measured_items {
    bool metrics, spark; /* which are asked for */
    struct hub_column_cursor cursors[HUB_METRIC_COUNT];
};
/** "metrics" and "spark", null where they are not measured. */
HUB_MUST_USE enum hub_status hub_measured_item(struct hub_json *json, struct hub_measured_items *items,
                                               const struct hub_state *state,
                                               const struct hub_dataset_episode *episode,
                                               struct hub_error *err);
/** Forgets what it read of a state; the next may be another. */
void hub_measured_items_leave(struct hub_measured_items *items);

/** "measured": what was measured of an episode, beside what its files state. */
HUB_MUST_USE enum hub_status hub_measured_put(struct hub_json *json, const struct hub_state *state,
                                              const struct hub_dataset_episode *episode,
                                              struct hub_error *err);

#endif
