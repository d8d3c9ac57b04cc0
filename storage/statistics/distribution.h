/** A distribution as members of a JSON object: what numbers come to, quantiles, and a histogram. */
#ifndef HUB_STATISTICS_DISTRIBUTION_H
#define HUB_STATISTICS_DISTRIBUTION_H

#include "storage/statistics/measured.h"

/** Of a number an episode: origin, count, nonfinite, min, max, mean, std. False: none is finite, the latter
 * four are not there. */
bool hub_numbers_put(struct hub_json *json, const struct hub_series *series);
/** The same, quantiles, and a histogram of `bins` equal steps over the finite ones, the largest in the last
 * bin. Sorts the series. */
HUB_MUST_USE enum hub_status hub_distribution_put(struct hub_json *json, struct hub_series *series,
                                                  unsigned bins, struct hub_error *err);
/** {"nan","+inf","-inf"} of those that are there, or nothing. */
void hub_nonfinite_put(struct hub_json *json, uint64_t nan, uint64_t above, uint64_t below);
/** {"edges","counts"} of bins of equal width; one bin where low = high. */
void hub_histogram_put(struct hub_json *json, double low, double high, const uint64_t *counts, unsigned bins);
/** In which of these a value of [low, high] falls; low < high. */
unsigned hub_histogram_bin(double value, double low, double high, unsigned bins);

/** "grid": how often two numbers of episodes come together, counts[x][y] of bins as histograms have them; of
 * episodes that have both as finite numbers. Nothing where there is none. */
HUB_MUST_USE enum hub_status hub_grid_put(struct hub_json *json, const char *x_name,
                                          const struct hub_series *x, const char *y_name,
                                          const struct hub_series *y, unsigned bins, struct hub_error *err);

#endif
