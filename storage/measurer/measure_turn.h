/**
 * The turn of what is measured: requests come first, what is read too fast is slept off, and memory is of
 * what requests have. Of the one thread that measures; `stop` is set by any.
 */
#ifndef HUB_MEASURER_MEASURE_TURN_H
#define HUB_MEASURER_MEASURE_TURN_H

#include "storage/measurer/measure.h"

#include <stdatomic.h>

/** Zeroed at first, then `options` set. */
struct hub_measure_turn {
    struct hub_measurer_options options;
    atomic_bool stop;

    /* inside */
    uint64_t served, held; /* requests at the last look; bytes of the memory of requests */
    int64_t shared_until_ms;
    double ahead_s; /* how much more was read than the rate allows */
    int64_t paced_ms;
};

/**
 * Wait until the next block may be read: so many bytes, with so much memory in all.
 *
 * @return HUB_CANCELLED: stopped; HUB_BUSY "overloaded": requests need the memory that is held
 */
HUB_MUST_USE enum hub_status hub_measure_turn_take(struct hub_measure_turn *turn, uint64_t bytes,
                                                   uint64_t memory, struct hub_error *err);
void hub_measure_turn_give_memory(struct hub_measure_turn *turn);

#endif
