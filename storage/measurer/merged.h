/** Merged measures of the parts of a dataset: how its fields are distributed, and the ranges that
 * its actions are measured by. */
#ifndef HUB_MEASURER_MERGED_H
#define HUB_MEASURER_MERGED_H

#include "storage/episodes/measures.h"
#include "storage/measure/histogram.h"
#include "storage/measure/motion.h"

/** By number of the dataset's field, each with its path; of those that were not measured `dims` is 0. */
struct hub_merged_fields {
    struct hub_measured_field *fields;
    uint32_t count;
};
/** Of the parts that are as far. Blocking. */
HUB_MUST_USE enum hub_status hub_merged_fields_read(const struct hub_state *state, enum hub_measured how_far,
                                                    struct hub_merged_fields *out, struct hub_error *err);
void hub_merged_fields_dispose(struct hub_merged_fields *merged);

/** Add up the histograms of the parts that have one of these ranges; `there` by part, to be freed.
 * Blocking. */
HUB_MUST_USE enum hub_status hub_histogram_parts(const struct hub_state *state, const char *field,
                                                 struct hub_histogram *histogram, bool **there,
                                                 struct hub_error *err);

/** The actions of a dataset, and the states whose dimensions have the same names: by number of its fields,
 * without layouts. */
struct hub_ranges {
    struct hub_motion_field *actions, *states;
    uint32_t *action_fields, *state_fields;
    uint32_t action_count, state_count;
    uint64_t hash; /* of the ranges: see hub_motion_hash */
};
/** When all parts are measured as far as HUB_MEASURED_FIELDS. Blocking. */
HUB_MUST_USE enum hub_status hub_ranges_read(const struct hub_state *state, struct hub_ranges *out,
                                             struct hub_error *err);
void hub_ranges_dispose(struct hub_ranges *ranges);

#endif
