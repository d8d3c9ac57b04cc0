/**
 * Measuring one part of a dataset: its rows are read, and what they come to is kept when the whole part was
 * read and no file of it changed meanwhile. Of the thread whose turn it is; blocking.
 */
#ifndef HUB_MEASURER_MEASURE_PART_H
#define HUB_MEASURER_MEASURE_PART_H

#include "storage/episodes/measures.h"
#include "storage/measure/ends.h"
#include "storage/measure/histogram.h"
#include "storage/measurer/measure_turn.h"
#include "storage/measurer/merged.h"

/** What is known of the parts of a dataset before they are measured. */
struct hub_measure_plan {
    const struct hub_dataset *dataset;
    struct hub_measured_state *states;
    double fps;
    uint32_t *places, *starts; /* of episodes, part by part; where each part's begin */
};

/** HUB_CHANGED: the dataset was published again. */
HUB_MUST_USE enum hub_status hub_measure_plan_read(struct hub_catalog *catalog,
                                                   const struct hub_dataset *dataset,
                                                   struct hub_measure_plan *out, struct hub_error *err);
void hub_measure_plan_dispose(struct hub_measure_plan *plan);

/** Pass 1 of a part, or of its rewards alone. */
HUB_MUST_USE enum hub_status hub_measure_part_fields(struct hub_measure_turn *turn,
                                                     const struct hub_measure_plan *plan, uint32_t part,
                                                     enum hub_measured how_far, struct hub_error *err);
/** Pass 2. */
HUB_MUST_USE enum hub_status hub_measure_part_motion(struct hub_measure_turn *turn,
                                                     const struct hub_measure_plan *plan, uint32_t part,
                                                     const struct hub_ranges *ranges, struct hub_error *err);
/** Which parts have this row of a field already, by part; to be freed. */
HUB_MUST_USE enum hub_status hub_measure_plan_rows(struct hub_catalog *catalog,
                                                   const struct hub_measure_plan *plan, uint32_t field,
                                                   const struct hub_row_end *end, bool **there,
                                                   struct hub_error *err);
/** The first or the last row of a field, in each episode. How far the part is measured stays as it is. */
HUB_MUST_USE enum hub_status hub_measure_part_rows(struct hub_measure_turn *turn,
                                                   const struct hub_measure_plan *plan, uint32_t part,
                                                   uint32_t field, const struct hub_row_end *end,
                                                   struct hub_error *err);
/** The histogram of a field. How far the part is measured stays as it is. */
HUB_MUST_USE enum hub_status hub_measure_part_histogram(struct hub_measure_turn *turn,
                                                        const struct hub_measure_plan *plan, uint32_t part,
                                                        uint32_t field, struct hub_histogram *histogram,
                                                        struct hub_error *err);

#endif
