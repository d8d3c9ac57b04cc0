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

static unsigned bin_of(double value, double low, double high, unsigned bins)
{
    const double at =
        (value / 2 - low / 2) / (high / 2 - low / 2) * bins; /* halves: what they differ by is finite */
    return at >= bins ? bins - 1 : (unsigned)at;
}

static enum hub_status put_histogram(struct hub_json *json, const struct hub_series *s, unsigned bins,
                                     struct hub_error *err)
{
    const double low = s->sorted[0], high = s->sorted[s->finite - 1];
    const unsigned n = low < high ? bins : 1;
    HUB_CLEANUP(hub_freep) uint64_t *counts = calloc(n, sizeof *counts);
    HUB_TRY(hub_allocated(counts, err));
    for (uint32_t i = 0; i < s->finite; i++)
        counts[n > 1 ? bin_of(s->sorted[i], low, high, n) : 0]++;
    hub_json_put_object(json, "histogram");
    hub_histogram_put(json, low, high, counts, n);
    hub_json_end_object(json);
    return HUB_OK;
}

enum hub_status hub_distribution_put(struct hub_json *json, const struct hub_series *s, unsigned bins,
                                     struct hub_error *err)
{
    struct hub_fold fold = HUB_FOLD_INIT;
    hub_fold_rows(&fold, 1, s->values, s->count);
    hub_json_put_uint(json, "count", s->count);
    hub_nonfinite_put(json, fold.nan, fold.above, fold.below);
    if (!s->finite)
        return HUB_OK;
    hub_json_put_double(json, "min", s->sorted[0]);
    hub_json_put_double(json, "max", s->sorted[s->finite - 1]);
    hub_measured_number(json, "mean", fold.mean);
    hub_measured_number(json, "std", hub_fold_std(&fold));
    put_quantiles(json, s);
    return put_histogram(json, s, bins, err);
}
