/**
 * Rows as buckets of least and greatest values, so that a curve of a million steps is drawn with a few
 * thousand points and a spike of one step is still there. The grid begins at row 0 of the episode and its
 * width must be a power of two: a bucket within two windows is the same. Numbers are float64, and those of
 * 64-bit integers that are one of them are equal. NaN, infinities and nulls lie in no bucket, and are
 * counted.
 *
 * Thread-safety: of one thread at a time; parts of one range, each of whole buckets, may be folded by
 * several threads.
 */
#ifndef HUB_MEASURE_BUCKETS_H
#define HUB_MEASURE_BUCKETS_H

#include "storage/measure/source.h"

enum { HUB_BUCKETS_LEAST = 16, HUB_BUCKETS_MOST = 2000, HUB_BUCKETS_DIMS = 512 };

/** What is put into buckets: the values, their running sum, or the difference of each to the one before. The
 * first row that belongs to a step begins the sum and has no difference; the rows before it have neither. */
enum hub_buckets_of { HUB_BUCKETS_VALUE, HUB_BUCKETS_SUM, HUB_BUCKETS_DELTA };

/** Where the rows lie on the grid. */
struct hub_bucket_grid {
    uint64_t start, stop; /* rows of the episode */
    uint64_t width;       /* of a bucket, a power of two */
    uint64_t first;       /* the bucket that holds row `start` */
    uint32_t count;       /* of buckets */
};
/** The narrowest grid of at most so many buckets over rows [start, stop). */
struct hub_bucket_grid hub_bucket_grid_of(uint64_t start, uint64_t stop, uint32_t buckets);
/** The one of this width: more than HUB_BUCKETS_MOST where it is too narrow. */
struct hub_bucket_grid hub_bucket_grid_wide(uint64_t start, uint64_t stop, uint64_t width);

/** One dimension of one bucket. Without any finite value `low` is above `high`. */
struct hub_bucket {
    double low, high, sum;      /* of the finite values */
    uint32_t low_at, high_at;   /* the first row of each, counted from the bucket's first */
    uint32_t count;             /* of finite values */
    uint32_t nan, above, below; /* of the others: NaN and null, infinity, -infinity */
};
static inline bool hub_bucket_has_hole(const struct hub_bucket *bucket)
{
    return bucket->nan || bucket->above || bucket->below;
}

struct hub_buckets {
    struct hub_bucket_grid grid;
    enum hub_buckets_of of;
    uint32_t skip;              /* rows at the start of the episode that belong to no step */
    uint32_t row_dims;          /* numbers of a row */
    const uint32_t *chosen;     /* the `dims` that are meant, borrowed; NULL: all */
    uint32_t dims;              /* of the result, at most HUB_BUCKETS_DIMS */
    struct hub_bucket *buckets; /* grid.count x dims, owned */
    uint32_t beside;            /* 0; else dims of the whole that this is some columns of, inside */
};

/** Everything above `buckets` is set. */
HUB_MUST_USE enum hub_status hub_buckets_init(struct hub_buckets *buckets, struct hub_error *err);
void hub_buckets_dispose(struct hub_buckets *buckets);

/**
 * Fold all rows of the grid, some of which a window of the source holds: grid.stop is at most
 * window->count. A running sum reads from row 0 on, and is added up row by row in float64, as numpy.cumsum
 * does. Blocking; what the source's host says ends it.
 */
HUB_MUST_USE enum hub_status hub_buckets_fold(struct hub_buckets *buckets, struct hub_row_source *source,
                                              const struct hub_window *window, struct hub_error *err);
/** Some buckets of the whole, to be folded by a thread of its own, into the whole's; not disposed. Not of a
 * running sum. */
void hub_buckets_part(const struct hub_buckets *whole, uint32_t from, uint32_t count,
                      struct hub_buckets *part);

/* ---- a level that is kept, so that whoever looks closer need not wait for all rows again ---- */

enum { HUB_LEVEL_WIDTH = 256 };

/** All rows and numbers of a window in buckets of HUB_LEVEL_WIDTH; counted, kept in memory while there is
 * room. */
struct hub_kept_level;
/** Its rows are worth it: many, of a layout that has a cache for levels. */
bool hub_level_is_worth(const struct hub_layout *layout, uint64_t rows, uint32_t dims);
/** With a reference for the caller, or NULL. */
struct hub_kept_level *hub_kept_level_get(const struct hub_layout *layout, const struct hub_window *window);
/** Keep buckets, which are handed over, with a reference for the caller. NULL: no memory, and they stay
 * his. */
struct hub_kept_level *hub_kept_level_add(const struct hub_layout *layout, const struct hub_window *window,
                                          struct hub_buckets *buckets);
void hub_kept_level_put(struct hub_kept_level *level);
/** The buckets, of which only what stands above them is looked at, can be had from those of a level: their
 * grid cuts through none of these. */
bool hub_kept_level_fits(const struct hub_kept_level *level, const struct hub_buckets *buckets);
/** Buckets, initialised, from those of a level that fits. */
void hub_kept_level_take(const struct hub_kept_level *level, struct hub_buckets *out);

#endif
