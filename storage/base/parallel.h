/** How work may be spread over other threads, and when it stops early; NULL: it runs alone, to its end. */
#ifndef HUB_BASE_PARALLEL_H
#define HUB_BASE_PARALLEL_H

#include "storage/base/error.h"

#include <stdatomic.h>

struct hub_parallel {
    /** NULL: nobody helps. Run work(arg, i) for every i in 0..count-1, on this thread and on helpers, and
     * return when all are done. */
    void (*run)(void *pool, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count);
    void *pool;
    /** Looked at between reads: true, and the work ends with HUB_CANCELLED. NULL: never. */
    const atomic_bool *cancelled;
};

static inline bool hub_parallel_cancelled(const struct hub_parallel *parallel)
{
    return parallel && parallel->cancelled && atomic_load_explicit(parallel->cancelled, memory_order_relaxed);
}

#endif
