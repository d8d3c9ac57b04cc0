/**
 * What the rows of an answer take of a processor, planned before any of it is done: what may be done at once,
 * what waits for a worker, what waits among the heavy, and what is refused.
 */
#ifndef HUB_API_WORK_H
#define HUB_API_WORK_H

#include "server/api/app.h"
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

/** What rows [first, stop) of a slice take to be read, in microseconds, added to `us`: those that are gone through in blocks,
 * and may be more than one answer holds. HUB_OUT_OF_RANGE. */
HUB_MUST_USE enum hub_status hub_work_price(const struct hub_plan *plan, uint64_t first, uint64_t stop,
                                            double *us, struct hub_error *err);
/** What an answer goes through: the error of one that would take too long says so, and what to ask for
 * instead. */
enum hub_work_of { HUB_WORK_ROWS, HUB_WORK_EPISODES, HUB_WORK_FILES, HUB_WORK_OBJECTS };
/** The same as hub_work_admit, on a worker, of what takes so many microseconds and holds a block at a time. */
HUB_MUST_USE enum hub_status hub_work_admit_us(struct hub_request *request, enum hub_work_of of, double us,
                                               struct hub_error *err);

/** May work go on that has taken about `us` microseconds so far, and whose end is not known? What goes
 * through many things looks here every thousand or so. HUB_AGAIN: from its start, among the heavy;
 * HUB_TOO_BIG; HUB_CANCELLED: nobody waits for the answer. */
HUB_MUST_USE enum hub_status hub_work_go_on(struct hub_request *request, enum hub_work_of of, double us,
                                            struct hub_error *err);

/** It is made in no time, so that even a HEAD makes it, for its length. */
bool hub_work_is_small(const struct hub_selection *selection, const struct hub_encoding *encoding);

#endif
