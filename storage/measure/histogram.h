/** Histograms of the values of a field in a part, by dimension, over the range in the dataset. */
#ifndef HUB_MEASURE_HISTOGRAM_H
#define HUB_MEASURE_HISTOGRAM_H

#include "storage/measure/measure.h"

enum { HUB_HISTOGRAM_DIMS = 512, HUB_HISTOGRAM_BINS = 512, HUB_HISTOGRAM_VALUES = 64 };

struct hub_histogram {
    uint32_t dims, bins; /* bins: as asked for; 0: nothing is there */
    bool whole;          /* of bools and integers: a dimension of few values has a bin for each */
    double *low, *high;  /* by dimension, over the dataset; low > high: it has no number */
    uint64_t *counts;    /* by dimension, `room` each */
    uint32_t room;
};

/** Bins of equal steps over what the folds of the whole dataset say. */
HUB_MUST_USE enum hub_status hub_histogram_init(struct hub_histogram *histogram,
                                                const struct hub_measured_field *field, uint32_t bins,
                                                struct hub_error *err);
void hub_histogram_dispose(struct hub_histogram *histogram);
/** Bins of a dimension: 1 where all its values are the same. */
uint32_t hub_histogram_bins(const struct hub_histogram *histogram, uint32_t dim);
/** A bin is one value there, not a range. */
bool hub_histogram_of_values(const struct hub_histogram *histogram, uint32_t dim);

/** Count the rows of a field in a part, as far as they belong to steps. */
HUB_MUST_USE enum hub_status hub_measure_histogram(struct hub_measured_part *part,
                                                   const struct hub_layout *layout, enum hub_axis axis,
                                                   struct hub_histogram *histogram, struct hub_error *err);

HUB_MUST_USE enum hub_status hub_histogram_pack(const struct hub_histogram *histogram, struct hub_buf *out,
                                                struct hub_error *err);
/** Add a packed one. False: it is of other ranges, or makes no sense. */
bool hub_histogram_add(struct hub_histogram *histogram, struct hub_view packed);

#endif
