/* Distributions: see distribution.h. */
#include "server/api/distribution.h"

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

unsigned hub_histogram_bin(double value, double low, double high, unsigned bins)
{
    const double at =
        (value / 2 - low / 2) / (high / 2 - low / 2) * bins; /* halves: their difference is finite */
    return at >= bins ? bins - 1 : (unsigned)at;
}

void hub_histogram_put(struct hub_json *json, double low, double high, const uint64_t *counts, unsigned bins)
{
    hub_json_put_array(json, "edges");
    for (unsigned i = 0; i < bins; i++)
        hub_json_double(json, low + (high - low) * i / bins);
    hub_json_double(json, high);
    hub_json_end_array(json);
    hub_json_put_array(json, "counts");
    for (unsigned i = 0; i < bins; i++)
        hub_json_uint(json, counts[i]);
    hub_json_end_array(json);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* numpy's: between the two nearest, as far as the place is from the lower one. */
static double quantile(const double *sorted, uint32_t count, double q)
{
    const double at = q * (count - 1);
    const uint32_t below = (uint32_t)at;
    const double part = at - below, low = sorted[below], high = sorted[HUB_MIN(below + 1, count - 1)];
    return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

static void put_quantiles(struct hub_json *json, const double *sorted, uint32_t count)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"0.05", 0.05}, {"0.25", 0.25}, {"0.5", 0.5}, {"0.75", 0.75}, {"0.95", 0.95}};
    hub_json_put_object(json, "quantiles");
    for (size_t i = 0; i < HUB_COUNT(quantiles); i++)
        hub_json_put_double(json, quantiles[i].name, quantile(sorted, count, quantiles[i].q));
    hub_json_end_object(json);
}

static enum hub_status put_histogram(struct hub_json *json, const double *sorted, uint32_t count,
                                     unsigned bins, struct hub_error *err)
{
    const double low = sorted[0], high = sorted[count - 1];
    const unsigned n = low < high ? bins : 1;
    HUB_CLEANUP(hub_freep) uint64_t *counts = calloc(n, sizeof *counts);
    HUB_TRY(hub_allocated(counts, err));
    for (uint32_t i = 0; i < count; i++)
        counts[n > 1 ? hub_histogram_bin(sorted[i], low, high, n) : 0]++;
    hub_json_put_object(json, "histogram");
    hub_histogram_put(json, low, high, counts, n);
    hub_json_end_object(json);
    return HUB_OK;
}

enum hub_status hub_distribution_put(struct hub_json *json, double *values, uint32_t count, unsigned bins,
                                     struct hub_error *err)
{
    struct hub_fold fold = HUB_FOLD_INIT;
    uint32_t finite = 0;
    hub_fold_rows(&fold, 1, values, count);
    for (uint32_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            values[finite++] = values[i];
    hub_json_put_uint(json, "count", count);
    hub_nonfinite_put(json, fold.nan, fold.above, fold.below);
    if (!finite)
        return HUB_OK;
    qsort(values, finite, sizeof *values, by_value);
    hub_json_put_double(json, "min", values[0]);
    hub_json_put_double(json, "max", values[finite - 1]);
    hub_json_put_double(json, "mean", fold.mean);
    hub_json_put_double(json, "std", hub_fold_std(&fold));
    put_quantiles(json, values, finite);
    return put_histogram(json, values, finite, bins, err);
}
