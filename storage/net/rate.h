/** Bytes a second that any number of transports share. Safe from any thread. */
#ifndef HUB_NET_RATE_H
#define HUB_NET_RATE_H

#include <stdatomic.h>
#include <stdint.h>

struct hub_rate {
    atomic_uint_fast64_t per_s;  /* 0: no limit */
    atomic_uint_fast64_t due_us; /* monotonic: when what has come was due */
};

void hub_rate_add(struct hub_rate *rate, uint64_t bytes);
/** So much ahead of its time it is; 0: more may come. */
uint64_t hub_rate_ahead_us(const struct hub_rate *rate);

#endif
