/**
 * How many datasets have a value: of words and names, whose upper and lower case are one, as for those who
 * choose by them (hub_facet_has).
 */
#ifndef HUB_API_FACET_COUNTS_H
#define HUB_API_FACET_COUNTS_H

#include "storage/base/buf.h"

struct hub_facet_value {
    struct hub_view text; /* borrowed */
    uint32_t dataset;     /* which has it */
    uint32_t count;       /* of datasets, once they are counted */
};
struct hub_facet_counts {
    bool exact; /* upper and lower case differ: of parts of ids */
    struct hub_facet_value *items;
    uint32_t count, capacity;
};

void hub_facet_counts_dispose(struct hub_facet_counts *counts);
/** A value of a dataset. */
HUB_MUST_USE enum hub_status hub_facet_counts_add(struct hub_facet_counts *counts, struct hub_view text,
                                                  uint32_t dataset, struct hub_error *err);
/** One item for each value, that of most datasets first, in the spelling that most of them have. */
void hub_facet_counts_sum(struct hub_facet_counts *counts);

#endif
