/**
 * What the rows of an answer take of a processor, planned before any of it is done: what may be done at once,
 * what waits for a worker, what waits for a thread for long work, and what is refused.
 */
#ifndef HUB_API_ROWS_ROW_COST_H
#define HUB_API_ROWS_ROW_COST_H

#include "server/api/app.h"
#include "storage/encode/representation.h"
#include "storage/rows/rows.h"

/**
 * May a priced selection be read and encoded here and now? HUB_AGAIN: not on this thread, or not before
 * lighter requests. HUB_TOO_BIG "too-large": over the ceiling of the route; the error names the parameter and
 * what to ask for instead.
 */
HUB_MUST_USE enum hub_status hub_rows_admit(struct hub_request *request,
                                            const struct hub_selection *selection,
                                            const struct hub_encoding *encoding, struct hub_error *err);

/** What rows [first, stop) of a slice take to be read, in microseconds, added to `us`: those that are
 * gone through in blocks, and may be more than one answer holds. HUB_OUT_OF_RANGE. */
HUB_MUST_USE enum hub_status hub_rows_price(const struct hub_plan *plan, uint64_t first, uint64_t stop,
                                            double *us, struct hub_error *err);

/** It is made in no time, so that even a HEAD makes it, for its length. */
bool hub_rows_are_small(const struct hub_selection *selection, const struct hub_encoding *encoding);

#endif
