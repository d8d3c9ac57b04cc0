/* Least and greatest values of buckets of rows: see buckets.h. A run is the rows of a block that lie in one
 * bucket. It is gone through in short blocks, in a loop that the compiler turns into vectors; the rows
 * of what was found are looked for in the block that had it first. What is not finite shows in the sums;
 * a run that has some is gone through value by value. */
#include "storage/measure/buckets.h"

#include <math.h>
#include <stdlib.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LANES = 16, MOST_LANES = HUB_BUCKETS_DIMS + LANES, BLOCK_ROWS = 32, BLOCK_VALUES = 1024 };

struct hub_bucket_grid hub_bucket_grid_wide(uint64_t start, uint64_t stop, uint64_t width)
{
    const uint64_t first = start / width, end = stop / width + (stop % width != 0);
    const uint64_t count = stop > start ? end - first : 0;
    return (struct hub_bucket_grid){.start = start,
                                    .stop = HUB_MAX(start, stop),
                                    .width = width,
                                    .first = first,
                                    .count = (uint32_t)HUB_MIN(count, (uint64_t)UINT32_MAX)};
}

struct hub_bucket_grid hub_bucket_grid_of(uint64_t start, uint64_t stop, uint32_t buckets)
{
    struct hub_bucket_grid grid = hub_bucket_grid_wide(start, stop, 1);
    while (grid.count > buckets)
        grid = hub_bucket_grid_wide(start, stop, grid.width * 2);
    return grid;
}

enum hub_status hub_buckets_init(struct hub_buckets *b, struct hub_error *err)
{
    const size_t count = (size_t)b->grid.count * b->dims;
    HUB_TRY(hub_new(&b->buckets, HUB_MAX(count, (size_t)1), sizeof *b->buckets, err));
    for (size_t i = 0; i < count; i++)
        b->buckets[i] = (struct hub_bucket){.low = INFINITY, .high = -INFINITY};
    return HUB_OK;
}

void hub_buckets_dispose(struct hub_buckets *b)
{
    free(b->buckets);
    b->buckets = NULL;
}

void hub_buckets_part(const struct hub_buckets *whole, uint32_t from, uint32_t count,
                      struct hub_buckets *part)
{
    const struct hub_bucket_grid *g = &whole->grid;
    const uint64_t first = g->first + from;
    *part = *whole;
    part->grid.start = HUB_MAX(g->start, first * g->width);
    part->grid.stop = HUB_MIN(g->stop, (first + count) * g->width);
    part->grid.first = first;
    part->grid.count = count;
    part->buckets = whole->buckets + (size_t)from * whole->dims;
}

/* ---- one run ---- */

struct row_run {
    const double *values; /* rows x dims */
    uint64_t rows;
    uint32_t dims;
    uint32_t at; /* of its first row in the bucket */
};

struct extremes {
    double low[MOST_LANES], high[MOST_LANES], sum[MOST_LANES];
};

__attribute__((always_inline)) static inline void scan_rows(const double *restrict values, uint64_t rows,
                                                            uint32_t lanes, struct extremes *restrict e)
{
    for (uint64_t r = 0; r < rows; r++, values += lanes)
        for (uint32_t i = 0; i < lanes; i++) {
            const double v = values[i];
            e->low[i] = v < e->low[i] ? v : e->low[i];
            e->high[i] = v > e->high[i] ? v : e->high[i];
            e->sum[i] += v;
        }
}

#if defined(__x86_64__)
/* Vectors of four: a third of the time. */
__attribute__((target("avx2"))) static void scan_avx2(const double *values, uint64_t rows, uint32_t lanes,
                                                      struct extremes *e)
{
    scan_rows(values, rows, lanes, e);
}
#endif

static void scan(const double *values, uint64_t rows, uint32_t lanes, struct extremes *e)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        scan_avx2(values, rows, lanes, e);
        return;
    }
#endif
    scan_rows(values, rows, lanes, e);
}

/* Rows of few numbers are gone through several at a time. */
static void find_extremes(const double *values, uint64_t rows, uint32_t dims, struct extremes *e)
{
    const uint32_t together = dims && dims < LANES ? LANES / dims : 1, lanes = dims * together;
    for (uint32_t i = 0; i < lanes; i++) {
        e->low[i] = INFINITY;
        e->high[i] = -INFINITY;
        e->sum[i] = 0;
    }
    const uint64_t groups = rows / together;
    scan(values, groups, lanes, e);
    for (uint32_t i = dims; i < lanes; i++) {
        e->low[i % dims] =
            e->low[i] < e->low[i % dims] ? e->low[i] : e->low[i % dims]; /* no NaN is in them */
        e->high[i % dims] = e->high[i] > e->high[i % dims] ? e->high[i] : e->high[i % dims];
        e->sum[i % dims] += e->sum[i];
    }
    scan(values + groups * lanes, rows - groups * together, dims, e);
}

/* What a run comes to so far, and in which block each extreme was met first. */
struct best {
    double low[HUB_BUCKETS_DIMS], high[HUB_BUCKETS_DIMS], sum[HUB_BUCKETS_DIMS];
    uint64_t low_from[HUB_BUCKETS_DIMS], high_from[HUB_BUCKETS_DIMS]; /* rows */
};

static void keep_best(struct best *best, const struct extremes *e, uint32_t dims, uint64_t row)
{
    for (uint32_t d = 0; d < dims; d++) {
        if (e->low[d] < best->low[d]) {
            best->low[d] = e->low[d];
            best->low_from[d] = row;
        }
        if (e->high[d] > best->high[d]) {
            best->high[d] = e->high[d];
            best->high_from[d] = row;
        }
        best->sum[d] += e->sum[d];
    }
}

#if defined(__x86_64__)
/* From where on one of the next rows, of one number each, is this value; or there are fewer left than are
 * looked at together. */
__attribute__((target("avx2"))) static uint64_t skip_others(const struct row_run *run, uint64_t from,
                                                            double value)
{
    const __m256d wanted = _mm256_set1_pd(value);
    for (; from + LANES <= run->rows; from += LANES) {
        const double *at = run->values + from;
        __m256d found = _mm256_setzero_pd();
        for (unsigned i = 0; i < LANES; i += 4)
            found = _mm256_or_pd(found, _mm256_cmp_pd(_mm256_loadu_pd(at + i), wanted, _CMP_EQ_OQ));
        if (_mm256_movemask_pd(found))
            break;
    }
    return from;
}
#endif

/* The first row of a block that holds a value, which one does. */
static uint32_t row_of(const struct row_run *run, uint32_t dim, uint64_t from, double value)
{
#if defined(__x86_64__)
    if (run->dims == 1 && __builtin_cpu_supports("avx2"))
        from = skip_others(run, from, value);
#endif
    const double *at = run->values + from * run->dims + dim;
    while (*at != value) {
        at += run->dims;
        from++;
    }
    return run->at + (uint32_t)from;
}

static void take(struct hub_bucket *b, double low, uint32_t low_at, double high, uint32_t high_at)
{
    if (low < b->low) {
        b->low = low;
        b->low_at = low_at;
    }
    if (high > b->high) {
        b->high = high;
        b->high_at = high_at;
    }
}

static void count_odd(double value, struct hub_bucket *bucket)
{
    bucket->nan += isnan(value);
    bucket->above += value > 0;
    bucket->below += value < 0;
}

static void fold_odd(const struct row_run *run, struct hub_bucket *bucket)
{
    for (uint64_t r = 0; r < run->rows; r++)
        for (uint32_t d = 0; d < run->dims; d++) {
            const double v = run->values[r * run->dims + d];
            const uint32_t at = run->at + (uint32_t)r;
            if (isfinite(v)) {
                take(&bucket[d], v, at, v, at);
                bucket[d].sum += v;
                bucket[d].count++;
            } else {
                count_odd(v, &bucket[d]);
            }
        }
}

static bool find_best(const struct row_run *run, struct best *best)
{
    const uint64_t chunk = HUB_MAX(BLOCK_VALUES / HUB_MAX(run->dims, 1U), (uint64_t)BLOCK_ROWS);
    double all = 0;
    for (uint32_t d = 0; d < run->dims; d++) {
        best->low[d] = INFINITY;
        best->high[d] = -INFINITY;
        best->sum[d] = 0;
        best->low_from[d] = best->high_from[d] = 0;
    }
    for (uint64_t row = 0; row < run->rows; row += chunk) {
        struct extremes e;
        find_extremes(run->values + row * run->dims, HUB_MIN(chunk, run->rows - row), run->dims, &e);
        keep_best(best, &e, run->dims, row);
    }
    for (uint32_t d = 0; d < run->dims; d++)
        all += best->sum[d] * 0;
    return !isnan(all);
}

static void fold_run(const struct row_run *run, struct hub_bucket *bucket)
{
    struct best best;
    if (!find_best(run, &best)) {
        fold_odd(run, bucket);
        return;
    }
    for (uint32_t d = 0; d < run->dims; d++) {
        if (best.low[d] < bucket[d].low) {
            bucket[d].low = best.low[d];
            bucket[d].low_at = row_of(run, d, best.low_from[d], best.low[d]);
        }
        if (best.high[d] > bucket[d].high) {
            bucket[d].high = best.high[d];
            bucket[d].high_at = row_of(run, d, best.high_from[d], best.high[d]);
        }
        bucket[d].sum += best.sum[d];
        bucket[d].count += (uint32_t)run->rows;
    }
}

/* ---- blocks ---- */

struct bucket_fold {
    struct hub_buckets *buckets;
    double *work; /* of a block: the chosen dimensions, their sums or differences */
    uint64_t room;
    double carried[HUB_BUCKETS_DIMS]; /* the sum so far, or the row before */
};

static void folding_freep(struct bucket_fold **f)
{
    if (*f)
        free((*f)->work);
    free(*f);
}

/* The rows of a block as they go into buckets. `row`: the first one's in the episode. */
static enum hub_status prepare(struct bucket_fold *f, const struct hub_block *block, uint64_t row,
                               const double **out, struct hub_error *err)
{
    const struct hub_buckets *b = f->buckets;
    *out = block->values;
    if (!b->chosen && b->of == HUB_BUCKETS_VALUE)
        return HUB_OK;
    if (block->rows > f->room) {
        free(f->work);
        f->work = NULL;
        f->room = 0;
        HUB_TRY(hub_new(&f->work, block->rows * b->dims, sizeof *f->work, err));
        f->room = block->rows;
    }
    *out = f->work;
    for (uint64_t r = 0; r < block->rows; r++)
        for (uint32_t d = 0; d < b->dims; d++) {
            const double v = block->values[r * block->dims + (b->chosen ? b->chosen[d] : d)];
            double *to = &f->work[r * b->dims + d];
            *to = v;
            if (b->of == HUB_BUCKETS_SUM)
                *to = f->carried[d] = row + r > b->skip ? f->carried[d] + v : v;
            else if (b->of == HUB_BUCKETS_DELTA)
                *to = v - f->carried[d];
            if (b->of == HUB_BUCKETS_DELTA)
                f->carried[d] = v;
        }
    return HUB_OK;
}

/* The first row that has something to fold. */
static uint64_t first_row(const struct hub_buckets *b)
{
    return b->of == HUB_BUCKETS_VALUE ? 0 : (uint64_t)b->skip + (b->of == HUB_BUCKETS_DELTA);
}

static void fold_block(struct bucket_fold *f, const struct hub_block *block, const double *values,
                       uint64_t row)
{
    const struct hub_buckets *b = f->buckets;
    const uint32_t dims = b->beside ? b->beside : b->dims;
    const struct hub_bucket_grid *g = &b->grid;
    const uint64_t end = HUB_MIN(row + block->rows, g->stop);
    const uint64_t start = HUB_MAX(g->start, first_row(b));
    for (uint64_t at = HUB_MAX(row, start), next; at < end; at = next) {
        const uint64_t bucket = at / g->width;
        next = HUB_MIN(end, (bucket + 1) * g->width);
        const struct row_run run = {values + (at - row) * b->dims, next - at, b->dims,
                                    (uint32_t)(at % g->width)};
        fold_run(&run, b->buckets + (bucket - g->first) * dims);
    }
}

static enum hub_status fold_rows(struct hub_buckets *b, struct hub_row_source *source,
                                 const struct hub_window *window, struct hub_error *err)
{
    HUB_CLEANUP(folding_freep) struct bucket_fold *f = NULL;
    const struct hub_bucket_grid *g = &b->grid;
    const bool before = b->of == HUB_BUCKETS_DELTA && g->start > 0;
    uint64_t row = b->of == HUB_BUCKETS_SUM ? 0 : g->start - before;
    HUB_TRY(hub_new(&f, 1, sizeof *f, err));
    f->buckets = b;
    while (row < g->stop) {
        struct hub_block block;
        const double *values;
        HUB_TRY(hub_source_get(source, window, row, g->stop - row, &block, err));
        HUB_TRY(prepare(f, &block, row, &values, err));
        fold_block(f, &block, values, row);
        row += block.rows;
    }
    return HUB_OK;
}

/* ---- rows whose chunks lie beside each other: put together they would only be taken apart again ---- */

static bool by_column(const struct hub_buckets *b, const struct hub_row_source *source,
                      const struct hub_window *window)
{
    for (uint32_t d = 1; b->chosen && d < b->dims; d++)
        if (b->chosen[d] <= b->chosen[d - 1])
            return false;
    return b->of == HUB_BUCKETS_VALUE && hub_source_column(source, window);
}

/* The chosen dimensions of a column that is `wide` and begins at dimension `first`; `from` of them are
 * before it. */
static struct hub_buckets column_of(const struct hub_buckets *b, uint32_t first, uint32_t wide, uint32_t from,
                                    uint32_t *chosen)
{
    struct hub_buckets part = *b;
    part.row_dims = HUB_MIN(wide, b->row_dims - first);
    part.beside = b->dims;
    part.buckets += from;
    part.dims = 0;
    while (from + part.dims < b->dims) {
        const uint32_t d = b->chosen ? b->chosen[from + part.dims] : from + part.dims;
        if (d >= first + part.row_dims)
            break;
        chosen[part.dims++] = d - first;
    }
    part.chosen = part.dims < part.row_dims ? chosen : NULL;
    return part;
}

static enum hub_status fold_columns(struct hub_buckets *b, struct hub_row_source *source,
                                    const struct hub_window *window, struct hub_error *err)
{
    uint32_t chosen[HUB_BUCKETS_DIMS];
    const uint32_t wide = hub_source_column(source, window);
    for (uint32_t i = 0, from = 0; from < b->dims; i++) {
        struct hub_buckets part = column_of(b, i * wide, wide, from, chosen);
        from += part.dims;
        if (!part.dims)
            continue;
        hub_source_take_column(source, i);
        HUB_TRY(fold_rows(&part, source, window, err));
    }
    return HUB_OK;
}

/* Chunks lie in files by their rows, so all columns of some are taken before the next. */
enum hub_status hub_buckets_fold(struct hub_buckets *b, struct hub_row_source *source,
                                 const struct hub_window *window, struct hub_error *err)
{
    if (!by_column(b, source, window))
        return fold_rows(b, source, window, err);
    const struct hub_bucket_grid whole = b->grid;
    for (uint64_t row = whole.start, next; row < whole.stop; row = next) {
        next = HUB_MIN(whole.stop, row + hub_source_column_rows(source, window, row));
        const uint64_t first = row / whole.width;
        struct hub_buckets span = *b;
        span.grid.start = row;
        span.grid.stop = next;
        span.grid.first = first;
        span.buckets += (first - whole.first) * b->dims;
        source->end = window->first + next;
        HUB_TRY(fold_columns(&span, source, window, err));
    }
    return HUB_OK;
}
