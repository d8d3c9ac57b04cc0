/** What was measured of episodes, under the names of `where`: the metrics, the score, sums and the like
 * of fields, and the return of those whose files state none. Within episode_reader. */
#ifndef HUB_EPISODES_MEASURED_VALUES_H
#define HUB_EPISODES_MEASURED_VALUES_H

#include "storage/episodes/measures.h"
#include "storage/query/where.h"

struct hub_episode_reader;

/** A column that was last looked into: found again by its name as it is given, without spelling it out. */
struct hub_measured_slot {
    struct hub_measure_reader reader;
    enum hub_property_kind kind;
    struct hub_view of;
};

/** Columns that were last looked into, and what the score needs. Zeroed at first. */
struct hub_measured_values {
    struct hub_measured_slot slots[16];
    bool knows_scores, has_scores;
    double score_low, score_high;
};
void hub_measured_values_dispose(struct hub_measured_values *values);

HUB_MUST_USE enum hub_status hub_measured_value(struct hub_episode_reader *reader,
                                                const struct hub_dataset_episode *episode,
                                                const struct hub_property *name, struct hub_value *out,
                                                bool *found, struct hub_error *err);

#endif
