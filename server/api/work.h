/**
 * What the rows of an answer take of a processor, planned before any of it is done: what may be done at once,
 * what waits for a worker, what waits among the heavy, and what is refused.
 */
#ifndef HUB_API_WORK_H
#define HUB_API_WORK_H

#include "server/api/rows.h"
#include "storage/encode/representation.h"

/**
 * May a priced selection be read and encoded here and now? HUB_AGAIN: not on this thread, or not before
 * lighter requests. HUB_TOO_BIG "too-large": over the ceiling of the route; the error names the parameter and
 * what to ask for instead.
 */
HUB_MUST_USE enum hub_status hub_work_admit(struct hub_request *request,
                                            const struct hub_selection *selection,
                                            const struct hub_encoding *encoding, struct hub_error *err);

/** It is made in no time, so that even a HEAD makes it, for its length. */
bool hub_work_is_small(const struct hub_selection *selection, const struct hub_encoding *encoding);

#endif
