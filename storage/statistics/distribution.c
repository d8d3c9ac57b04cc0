/* Distributions: see distribution.h. */
#include "storage/statistics/distribution.h"

#include "storage/measure/fold.h"

#include <math.h>
#include <stdlib.h>

void hub_nonfinite_put(struct hub_json *json, uint64_t nan, uint64_t above, uint64_t below)
{
    hub_json_put_object(json, "nonfinite");
    hub_json_put_uint(json, "nan", nan);
    hub_json_put_uint(json, "+inf", above);
    hub_json_put_uint(json, "-inf", below);
    hub_json_end_object(json);
}

static void put_edges(struct hub_json *json, const char *name, double low, double high, unsigned bins)
{
    hub_json_put_array(json, name);
    for (unsigned i = 0; i < bins; i++)
        hub_json_double(json, low + (high - low) * i / bins);
    hub_json_double(json, high);
    hub_json_end_array(json);
}

void hub_histogram_put(struct hub_json *json, double low, double high, const uint64_t *counts, unsigned bins)
{
    put_edges(json, "edges", low, high, bins);
    hub_json_put_array(json, "counts");
    for (unsigned i = 0; i < bins; i++)
        hub_json_uint(json, counts[i]);
    hub_json_end_array(json);
}

static void put_quantiles(struct hub_json *json, const struct hub_series *s)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"0.05", 0.05}, {"0.25", 0.25}, {"0.5", 0.5}, {"0.75", 0.75}, {"0.95", 0.95}};
    hub_json_put_object(json, "quantiles");
    for (size_t i = 0; i < HUB_COUNT(quantiles); i++)
        hub_json_put_double(json, quantiles[i].name, hub_series_quantile(s, quantiles[i].q));
    hub_json_end_object(json);
}

unsigned hub_histogram_bin(double value, double low, double high, unsigned bins)
{
    const double at =
        (value / 2 - low / 2) / (high / 2 - low / 2) * bins; /* halves: what they differ by is finite */
    return at >= bins ? bins - 1 : (unsigned)at;
}

#define MOST_WHOLE 9007199254740992.0 /* up to here doubles tell whole numbers apart */

/* Of whole numbers a bin has as many as each other one: of few a bin for each. 0: they are not whole. */
static double whole_width(const struct hub_series *s, unsigned bins)
{
    const double low = s->sorted[0], high = s->sorted[s->finite - 1];
    if (!(fabs(low) < MOST_WHOLE && fabs(high) < MOST_WHOLE))
        return 0;
    for (uint32_t i = 0; i < s->finite; i++)
        if (s->sorted[i] != floor(s->sorted[i]))
            return 0;
    return ceil((high - low + 1) / bins);
}

static enum hub_status put_histogram(struct hub_json *json, const struct hub_series *s, unsigned bins,
                                     struct hub_error *err)
{
    const double low = s->sorted[0], high = s->sorted[s->finite - 1], width = whole_width(s, bins);
    const unsigned n = !(low < high) ? 1 : width > 0 ? (unsigned)ceil((high - low + 1) / width) : bins;
    HUB_CLEANUP(hub_freep) uint64_t *counts = calloc(n, sizeof *counts);
    HUB_TRY(hub_allocated(counts, err));
    for (uint32_t i = 0; i < s->finite; i++)
        counts[n == 1      ? 0
               : width > 0 ? (unsigned)((s->sorted[i] - low) / width)
                           : hub_histogram_bin(s->sorted[i], low, high, n)]++;
    hub_json_put_object(json, "histogram");
    hub_histogram_put(json, low, n > 1 && width > 0 ? low + width * n : high, counts, n);
    hub_json_end_object(json);
    return HUB_OK;
}

bool hub_numbers_put(struct hub_json *json, const struct hub_series *s)
{
    struct hub_fold fold = HUB_FOLD_INIT;
    hub_fold_rows(&fold, 1, s->values, s->count);
    hub_json_put_text(json, "origin", hub_series_origin(s));
    hub_json_put_uint(json, "count", s->count);
    hub_nonfinite_put(json, fold.nan, fold.above, fold.below);
    if (!fold.count)
        return false;
    hub_json_put_double(json, "min", fold.min);
    hub_json_put_double(json, "max", fold.max);
    hub_measured_number(json, "mean", fold.mean);
    hub_measured_number(json, "std", hub_fold_std(&fold));
    return true;
}

enum hub_status hub_distribution_put(struct hub_json *json, struct hub_series *s, unsigned bins,
                                     struct hub_error *err)
{
    HUB_TRY(hub_series_sort(s, err));
    if (!hub_numbers_put(json, s))
        return HUB_OK;
    put_quantiles(json, s);
    return put_histogram(json, s, bins, err);
}

/* ---- two together ---- */

/* What both series have of an episode, as pairs. */
static uint32_t join(const struct hub_series *x, const struct hub_series *y, double *pairs)
{
    uint32_t n = 0;
    for (uint32_t i = 0, k = 0; i < x->count && k < y->count;) {
        if (x->episodes[i] != y->episodes[k]) {
            x->episodes[i] < y->episodes[k] ? i++ : k++;
            continue;
        }
        if (isfinite(x->values[i]) && isfinite(y->values[k])) {
            pairs[2 * (size_t)n] = x->values[i];
            pairs[2 * (size_t)n++ + 1] = y->values[k];
        }
        i++;
        k++;
    }
    return n;
}

struct axis {
    double low, high;
    unsigned bins;
};

static struct axis axis_of(const double *values, uint32_t count, unsigned bins)
{
    struct axis a = {values[0], values[0], bins};
    for (uint32_t i = 1; i < count; i++) {
        a.low = fmin(a.low, values[2 * (size_t)i]);
        a.high = fmax(a.high, values[2 * (size_t)i]);
    }
    a.bins = a.low < a.high ? bins : 1;
    return a;
}

static unsigned bin_of(const struct axis *a, double value)
{
    return a->bins > 1 ? hub_histogram_bin(value, a->low, a->high, a->bins) : 0;
}

static void put_counts(struct hub_json *json, const uint64_t *counts, unsigned rows, unsigned columns)
{
    hub_json_put_array(json, "counts");
    for (unsigned i = 0; i < rows; i++) {
        hub_json_array(json);
        for (unsigned k = 0; k < columns; k++)
            hub_json_uint(json, counts[(size_t)i * columns + k]);
        hub_json_end_array(json);
    }
    hub_json_end_array(json);
}

enum hub_status hub_grid_put(struct hub_json *json, const char *x_name, const struct hub_series *x,
                             const char *y_name, const struct hub_series *y, unsigned bins,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *pairs = NULL;
    HUB_CLEANUP(hub_freep) uint64_t *counts = NULL;
    HUB_TRY(hub_new(&pairs, (size_t)HUB_MIN(x->count, y->count) + 1, 2 * sizeof *pairs, err));
    HUB_TRY(hub_new(&counts, (size_t)bins * bins, sizeof *counts, err));
    const uint32_t n = join(x, y, pairs);
    if (!n)
        return HUB_OK;
    const struct axis across = axis_of(pairs, n, bins), up = axis_of(pairs + 1, n, bins);
    for (uint32_t i = 0; i < n; i++)
        counts[(size_t)bin_of(&across, pairs[2 * (size_t)i]) * up.bins +
               bin_of(&up, pairs[2 * (size_t)i + 1])]++;
    hub_json_put_object(json, "grid");
    hub_json_put_text(json, "x", x_name);
    hub_json_put_text(json, "y", y_name);
    put_edges(json, "x_edges", across.low, across.high, across.bins);
    put_edges(json, "y_edges", up.low, up.high, up.bins);
    put_counts(json, counts, across.bins, up.bins);
    hub_json_end_object(json);
    return hub_json_status(json);
}
