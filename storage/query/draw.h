/**
 * Draws that come out the same on every machine, and as numpy's do: PCG64 (O'Neill's XSL RR 128/64) seeded by
 * numpy's SeedSequence, and what its Generator makes of it for whole episodes. A generator belongs to one
 * thread at a time.
 */
#ifndef HUB_QUERY_DRAW_H
#define HUB_QUERY_DRAW_H

#include "storage/base/error.h"

struct hub_draw {
    unsigned __int128 state, increment;
    uint32_t half; /* the second half of a number whose first was drawn */
    bool has_half;
};

/** As numpy.random.PCG64(seed). */
void hub_draw_init(struct hub_draw *draw, uint64_t seed);
/** As random_raw(). */
uint64_t hub_draw_raw(struct hub_draw *draw);
/** One of 0 .. n - 1, n > 0: (u * n) >> 64 of the next raw u. */
uint64_t hub_draw_below(struct hub_draw *draw, uint64_t n);

/** As Generator.permutation(items). */
void hub_draw_permute(struct hub_draw *draw, uint32_t *items, uint32_t count);
/**
 * As Generator.choice(items, size=count, replace=False), of `total` items, at least `count`.
 * @param[out] out  `count` of them
 */
HUB_MUST_USE enum hub_status hub_draw_choose(struct hub_draw *draw, const uint32_t *items, uint32_t total,
                                             uint32_t *out, uint32_t count, struct hub_error *err);

#endif
