/* Folds against what long doubles say of all values at once. */
#include "storage/measure/fold.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static double noise(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (double)(int64_t)(state ^ state >> 29) / 9.2e18;
}

struct brute {
    uint64_t count, nonfinite;
    long double sum, mean, std, magnitude;
    double min, max;
};

static struct brute brute_of(const double *values, uint64_t rows, uint32_t dims, uint32_t d)
{
    struct brute b = {.min = INFINITY, .max = -INFINITY};
    for (uint64_t r = 0; r < rows; r++) {
        const double v = values[r * dims + d];
        b.nonfinite += !isfinite(v);
        if (!isfinite(v))
            continue;
        b.count++;
        b.sum += v;
        b.magnitude += fabsl(v);
        b.min = fmin(b.min, v);
        b.max = fmax(b.max, v);
    }
    b.mean = b.sum / b.count;
    for (uint64_t r = 0; r < rows; r++)
        if (isfinite(values[r * dims + d]))
            b.std += (values[r * dims + d] - b.mean) * (values[r * dims + d] - b.mean);
    b.std = sqrtl(b.std / b.count);
    return b;
}

/* Within so many units in the last place of a magnitude. */
static void near(double got, long double want, long double magnitude, unsigned ulps)
{
    cr_assert(fabsl(got - want) <= ulps * magnitude * 0x1p-52L, "%.17g is not %.20Lg", got, want);
}

static void compare(const struct hub_fold *f, const struct brute *b)
{
    cr_assert_eq(f->count, b->count);
    cr_assert_eq(hub_fold_nonfinite(f), b->nonfinite);
    cr_assert_eq(f->min, b->min);
    cr_assert_eq(f->max, b->max);
    if (!b->count)
        return;
    const long double largest = fmax(fabs(b->min), fabs(b->max));
    near(hub_fold_sum(f), b->sum, b->magnitude, 8);
    near(f->mean, b->mean, largest, 8);
    near(hub_fold_std(f), b->std, largest, 8);
}

struct shape {
    uint32_t dims;
    uint64_t rows, block;
    double offset, odd; /* odd: share of values that are none */
};
ParameterizedTestParameters(fold, against_brute_force)
{
    static struct shape cases[] = {
        {1, 100000, 7777, 0, 0}, {1, 100000, 1, 0, 0.01}, {3, 10001, 100, 1e8, 0},  {39, 3000, 64, -3, 0.001},
        {64, 500, 500, 0, 0},    {65, 500, 3, 5, 0},      {4096, 20, 7, 1e-300, 0}, {1, 1, 1, 2, 0},
        {2, 0, 1, 0, 0},         {16, 1000, 999, 0, 1.1},
    };
    return cr_make_param_array(struct shape, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct shape *s, fold, against_brute_force)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    double *values = calloc(s->rows * s->dims + 1, sizeof *values);
    struct hub_fold *folds = calloc(s->dims, sizeof *folds);
    struct hub_fold *half = calloc(s->dims, sizeof *half);
    for (uint64_t i = 0; i < s->rows * s->dims; i++)
        values[i] = fabs(noise()) < s->odd ? odd[i % 3] : s->offset + noise();
    for (uint32_t d = 0; d < s->dims; d++)
        folds[d] = half[d] = HUB_FOLD_INIT;
    for (uint64_t r = 0; r < s->rows; r += s->block) /* in two halves, as of two parts */
        hub_fold_rows(r < s->rows / 2 ? folds : half, s->dims, values + r * s->dims,
                      HUB_MIN(s->block, s->rows - r));
    for (uint32_t d = 0; d < s->dims; d++) {
        hub_fold_merge(&folds[d], &half[d]);
        const struct brute b = brute_of(values, s->rows, s->dims, d);
        compare(&folds[d], &b);
    }
    free(values);
    free(folds);
    free(half);
}

Test(fold, extremes)
{
    const double constant[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, large[] = {1e308, 1e308, -1e308},
                 cancels[] = {1e16, 1, -1e16, 1};
    struct hub_fold f = HUB_FOLD_INIT;
    hub_fold_rows(&f, 1, constant, 7);
    cr_assert(f.mean == 0.1 && hub_fold_std(&f) == 0, "what is constant has no deviation");
    f = HUB_FOLD_INIT;
    hub_fold_rows(&f, 1, large, 3);
    cr_assert(f.count == 3 && f.max == 1e308 && f.min == -1e308 && f.sum == INFINITY);
    f = HUB_FOLD_INIT;
    for (unsigned i = 0; i < 4; i++)
        hub_fold_rows(&f, 1, &cancels[i], 1);
    cr_assert_eq(hub_fold_sum(&f), 2);
    f = HUB_FOLD_INIT;
    cr_assert(isnan(hub_fold_std(&f)) && f.count == 0);
}

Test(fold, wide_integers_keep_their_digits)
{
    const int64_t values[] = {INT64_C(9007199254740993), INT64_C(-9007199254740995), INT64_MAX};
    const struct hub_variant v = {.kind = HUB_KIND_INT, .item_size = 8};
    struct hub_fold f = HUB_FOLD_INIT;
    const uint8_t valid[] = {1, 1, 0};
    hub_fold_wide(&f, 1, &v, values, valid, 3);
    cr_assert_eq(hub_wide_signed(f.least_key), values[1]);
    cr_assert_eq(hub_wide_signed(f.most_key), values[0], "a null is no number");
}

struct stored {
    struct hub_variant variant;
    uint8_t bytes[8];
    double value;
};
ParameterizedTestParameters(numbers, of_every_kind)
{
    static struct stored cases[] = {
        {{.kind = HUB_KIND_BOOL, .item_size = 1}, {2}, 1},
        {{.kind = HUB_KIND_INT, .item_size = 1}, {0xff}, -1},
        {{.kind = HUB_KIND_UINT, .item_size = 1}, {0xff}, 255},
        {{.kind = HUB_KIND_INT, .item_size = 2}, {0xfe, 0xff}, -2},
        {{.kind = HUB_KIND_INT, .item_size = 2, .big_endian = 1}, {0xff, 0xfe}, -2},
        {{.kind = HUB_KIND_UINT, .item_size = 4}, {0, 0, 0, 0x80}, 2147483648.0},
        {{.kind = HUB_KIND_INT, .item_size = 8}, {1}, 1},
        {{.kind = HUB_KIND_UINT, .item_size = 8}, {0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63},
        {{.kind = HUB_KIND_FLOAT, .item_size = 2}, {0, 0x3c}, 1},
        {{.kind = HUB_KIND_FLOAT, .item_size = 4}, {0, 0, 0x80, 0xbf}, -1},
        {{.kind = HUB_KIND_FLOAT, .item_size = 8, .big_endian = 1}, {0x40}, 2},
    };
    return cr_make_param_array(struct stored, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct stored *s, numbers, of_every_kind)
{
    const uint8_t none = 0;
    double out;
    cr_assert(hub_numbers_are(&s->variant));
    hub_numbers(&s->variant, s->bytes, NULL, 1, &out);
    cr_assert_eq(out, s->value, "%g", out);
    hub_numbers(&s->variant, s->bytes, &none, 1, &out);
    cr_assert(isnan(out), "a null is NaN");
}
