/**
 * Folds: what is known of many numbers, built up block by block and merged in any order. Sums are
 * compensated, means and deviations are joined as Chan, Golub and LeVeque do, so that the order of blocks and
 * parts does not show: against numpy over all values at once, within 8 units in the last place of the largest
 * magnitude (sums: of the sum of magnitudes).
 */
#ifndef HUB_MEASURE_FOLD_H
#define HUB_MEASURE_FOLD_H

#include "storage/measure/numbers.h"

/** Of the finite numbers; the others are only counted. */
struct hub_fold {
    uint64_t count;
    double mean, m2;              /* m2: sum of squared deviations from the mean */
    double sum, rest;             /* the sum is both together */
    double min, max;              /* infinite where there is no number */
    uint64_t nan, above, below;   /* NaN and null, infinity, -infinity */
    uint64_t least_key, most_key; /* of wide integers: hub_wide_key */
};

#define HUB_FOLD_INIT ((struct hub_fold){.min = INFINITY, .max = -INFINITY, .least_key = UINT64_MAX})

/** Rows of `dims` numbers, one fold each. */
void hub_fold_rows(struct hub_fold *folds, uint32_t dims, const double *values, uint64_t rows);
/** The smallest and the largest of the same rows as they are stored, where they are wide integers. */
void hub_fold_wide(struct hub_fold *folds, uint32_t dims, const struct hub_variant *variant, const void *raw,
                   const uint8_t *valid, uint64_t rows);
void hub_fold_merge(struct hub_fold *fold, const struct hub_fold *of);

double hub_fold_sum(const struct hub_fold *fold);
/** Of the population. NaN where there is no number. */
double hub_fold_std(const struct hub_fold *fold);
static inline uint64_t hub_fold_nonfinite(const struct hub_fold *fold)
{
    return fold->nan + fold->above + fold->below;
}

#endif
