/** One number of the first or the last row of a field in each episode of a part. */
#ifndef HUB_MEASURE_ENDS_H
#define HUB_MEASURE_ENDS_H

#include "storage/measure/measure.h"

/** Which row, and which number of it. */
struct hub_row_end {
    bool last, of_row;  /* of_row false: rows of one number alone have a value */
    uint32_t component; /* of a row in C order */
};
/**
 * Read nothing but these rows. Rows that belong to no step count too: the last observation is the one after
 * the last step.
 *
 * @param out  a value for each episode of the part; NaN where there is none, set before
 * @return HUB_CHANGED: a file is not the one that was indexed
 */
HUB_MUST_USE enum hub_status hub_measure_ends(struct hub_measured_part *part, const struct hub_layout *layout,
                                              const struct hub_row_end *end, struct hub_value *out,
                                              struct hub_error *err);

#endif
