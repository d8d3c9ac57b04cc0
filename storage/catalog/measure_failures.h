/** Parts whose measuring failed. */
#ifndef HUB_CATALOG_MEASURE_FAILURES_H
#define HUB_CATALOG_MEASURE_FAILURES_H

#include "storage/query/property.h"

struct hub_catalog;

/**
 * A part could not be measured so far for trouble of this machine, as an I/O error: nobody is to wait for it,
 * until it succeeded as far. Kept in memory; safe from any thread.
 *
 * @return milliseconds for which it is not tried again, longer each time
 */
int64_t hub_measures_fail(struct hub_catalog *catalog, const char *id, int64_t part,
                          enum hub_measured how_far, const char *why);
void hub_measures_succeed(struct hub_catalog *catalog, int64_t part, enum hub_measured how_far);
/** How far a part could not be measured; 0: it did not fail. */
enum hub_measured hub_measures_failed(const struct hub_catalog *catalog, int64_t part);
/** It failed, and is not to be tried again yet. */
bool hub_measures_rests(const struct hub_catalog *catalog, int64_t part, enum hub_measured how_far);
/** Hand over the parts that failed, by the ids of their datasets. How many there are. `each` must not call
 * the catalogue. */
typedef void (*hub_measure_failure_each)(void *user, const char *id, const char *why);
uint32_t hub_measure_failures_each(struct hub_catalog *catalog, hub_measure_failure_each each, void *user);

#endif
