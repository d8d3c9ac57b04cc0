/**
 * Pass 2 of a part: how its actions move, measured by the range that each of their dimensions has over the
 * whole dataset.
 */
#ifndef HUB_MEASURE_MOTION_H
#define HUB_MEASURE_MOTION_H

#include "storage/measure/measure.h"

/** One dimension of an action. Without padding: it is hashed as it lies. */
struct hub_action_dim {
    double low, high; /* of the space; not finite: there is no bound */
    double
        range; /* high - low where both are finite, else the largest value less the smallest; 0: left out */
    uint32_t state;     /* of a field of states: which one, or HUB_NONE ... */
    uint32_t state_dim; /* ... and which dimension of it has the same name */
};

/** A field of a part, actions or states, whose rows are taken together with those of the others. */
struct hub_motion_field {
    const struct hub_layout *layout; /* NULL: this part has no such field */
    enum hub_axis axis;
    uint32_t dims;
    struct hub_action_dim *of; /* `dims` of them; of a state NULL */
};

/** What says of a dataset with which ranges its parts are measured; never 0. */
uint64_t hub_motion_hash(const struct hub_motion_field *actions, uint32_t count);

/**
 * Columns `frozen`, `still`, `jerk`, `saturated` and `offset` of the part, and at which step each is worst.
 * HUB_CHANGED: a file is not what was indexed. What cannot be decoded leaves its episode without.
 */
HUB_MUST_USE enum hub_status hub_measure_motion(struct hub_measured_part *part,
                                                const struct hub_motion_field *actions, uint32_t action_count,
                                                const struct hub_motion_field *states, uint32_t state_count,
                                                struct hub_error *err);

#endif
