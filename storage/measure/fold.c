/* Folds: see fold.h. A block is taken a tile of lanes at a time; a lane is a dimension, or where there are
 * few of them every k-th row of one, so that the inner loops are long enough for vectors. */
#include "storage/measure/fold.h"

#include <math.h>

enum { LANES = 64, MIN_LANES = 16 };

struct lanes {
    double sum[LANES], min[LANES], max[LANES], mean[LANES], m2[LANES];
};

static void add_sums(struct lanes *l, const double *at, uint64_t rows, uint32_t stride, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        l->sum[i] = 0;
        l->min[i] = INFINITY;
        l->max[i] = -INFINITY;
    }
    for (uint64_t r = 0; r < rows; r++, at += stride)
        for (unsigned i = 0; i < n; i++) {
            l->sum[i] += at[i];
            l->min[i] = at[i] < l->min[i] ? at[i] : l->min[i];
            l->max[i] = at[i] > l->max[i] ? at[i] : l->max[i];
        }
}

static void add_squares(struct lanes *l, const double *at, uint64_t rows, uint32_t stride, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        l->mean[i] = l->sum[i] / (double)rows;
        l->m2[i] = 0;
    }
    for (uint64_t r = 0; r < rows; r++, at += stride)
        for (unsigned i = 0; i < n; i++) {
            const double d = at[i] - l->mean[i];
            l->m2[i] += d * d;
        }
}

/* Neumaier: what rounding took from the sum is kept beside it. */
static void add_to_sum(struct hub_fold *f, double value)
{
    const double sum = f->sum + value;
    if (isfinite(sum))
        f->rest += fabs(f->sum) >= fabs(value) ? (f->sum - sum) + value : (value - sum) + f->sum;
    f->sum = sum;
}

static void add_one(struct hub_fold *f, double value)
{
    if (isnan(value))
        f->nan++;
    else if (isinf(value))
        *(value > 0 ? &f->above : &f->below) += 1;
    else
        hub_fold_merge(f, &(struct hub_fold){.count = 1,
                                             .mean = value,
                                             .sum = value,
                                             .min = value,
                                             .max = value,
                                             .least_key = UINT64_MAX});
}

/* Of numbers that are all the same the mean is that number, however their sum was rounded. */
static void finish_lane(struct lanes *l, unsigned lane)
{
    if (l->min[lane] == l->max[lane]) {
        l->mean[lane] = l->min[lane];
        l->m2[lane] = 0;
    }
}

/* A lane's share of a block, whose sum tells whether there is anything else than numbers in it. */
static void add_lane(struct hub_fold *f, const struct lanes *l, unsigned lane, const double *at,
                     uint64_t rows, uint32_t stride)
{
    if (isfinite(l->sum[lane]) && isfinite(l->m2[lane])) {
        hub_fold_merge(f, &(struct hub_fold){.count = rows,
                                             .mean = l->mean[lane],
                                             .m2 = l->m2[lane],
                                             .sum = l->sum[lane],
                                             .min = l->min[lane],
                                             .max = l->max[lane],
                                             .least_key = UINT64_MAX});
        return;
    }
    for (uint64_t r = 0; r < rows; r++)
        add_one(f, at[r * stride]);
}

/* `width` adjoining numbers a row, of which the i-th belongs to dimension i % dims. */
static void add_tiles(struct hub_fold *folds, uint32_t dims, const double *at, uint64_t rows, uint32_t width)
{
    struct lanes l;
    for (uint32_t first = 0; rows && first < width; first += LANES) {
        const unsigned n = HUB_MIN(width - first, (uint32_t)LANES);
        add_sums(&l, at + first, rows, width, n);
        add_squares(&l, at + first, rows, width, n);
        for (unsigned i = 0; i < n; i++) {
            finish_lane(&l, i);
            add_lane(&folds[(first + i) % dims], &l, i, at + first + i, rows, width);
        }
    }
}

/* A block stays in the nearest cache for both of its passes, and is short enough for plain sums to be exact
 * to a few units. */
enum { BLOCK = 4096 };

void hub_fold_rows(struct hub_fold *folds, uint32_t dims, const double *values, uint64_t rows)
{
    const uint32_t together = dims < MIN_LANES ? MIN_LANES / dims : 1, width = dims * together;
    const uint64_t block = HUB_MAX(BLOCK / width, 16U);
    uint64_t wide = rows / together;
    for (uint64_t n; wide; wide -= n, values += n * width) {
        n = HUB_MIN(wide, block);
        add_tiles(folds, dims, values, n, width);
    }
    add_tiles(folds, dims, values, rows % together, dims);
}

void hub_fold_wide(struct hub_fold *folds, uint32_t dims, const struct hub_variant *variant, const void *raw,
                   const uint8_t *valid, uint64_t rows)
{
    const uint8_t *at = raw;
    for (uint64_t i = 0; i < rows * dims; i++, at += 8) {
        if (valid && !valid[i])
            continue;
        struct hub_fold *f = &folds[i % dims];
        const uint64_t key = hub_wide_key(variant, at);
        f->least_key = HUB_MIN(f->least_key, key);
        f->most_key = HUB_MAX(f->most_key, key);
    }
}

void hub_fold_merge(struct hub_fold *fold, const struct hub_fold *of)
{
    const uint64_t count = fold->count + of->count;
    if (of->count && !fold->count) {
        fold->mean = of->mean;
        fold->m2 = of->m2;
    } else if (of->count) {
        const double share = (double)of->count / (double)count, apart = of->mean - fold->mean;
        fold->m2 += of->m2 + apart * apart * share * (double)fold->count;
        fold->mean += apart * share;
    }
    if (of->count) {
        fold->min = HUB_MIN(fold->min, of->min);
        fold->max = HUB_MAX(fold->max, of->max);
        add_to_sum(fold, of->sum);
        fold->rest += of->rest;
    }
    fold->count = count;
    fold->nan += of->nan;
    fold->above += of->above;
    fold->below += of->below;
    fold->least_key = HUB_MIN(fold->least_key, of->least_key);
    fold->most_key = HUB_MAX(fold->most_key, of->most_key);
}

double hub_fold_sum(const struct hub_fold *fold)
{
    return isfinite(fold->sum) ? fold->sum + fold->rest : fold->sum;
}

double hub_fold_std(const struct hub_fold *fold)
{
    return fold->count ? sqrt(fold->m2 / (double)fold->count) : NAN;
}
