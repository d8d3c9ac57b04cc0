/* Limits of rates: see rate.h. */
#include "storage/net/rate.h"

#include "storage/base/buf.h"
#include "storage/text/time.h"

/* Unused rate is not saved up: there is no burst after a pause. */
void hub_rate_add(struct hub_rate *rate, uint64_t bytes)
{
    const uint64_t per_s = atomic_load_explicit(&rate->per_s, memory_order_relaxed);
    if (!per_s)
        return;
    const uint64_t now = (uint64_t)hub_time_mono_us(), cost = (uint64_t)((double)bytes * 1e6 / (double)per_s);
    uint64_t due = atomic_load_explicit(&rate->due_us, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&rate->due_us, &due, HUB_MAX(due, now) + cost)) {
    }
}

uint64_t hub_rate_ahead_us(const struct hub_rate *rate)
{
    const uint64_t now = (uint64_t)hub_time_mono_us(), due = atomic_load(&rate->due_us);
    return atomic_load_explicit(&rate->per_s, memory_order_relaxed) && due > now ? due - now : 0;
}
