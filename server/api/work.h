/** What an answer takes of a processor: what waits for a thread for long work, and what is refused. Of rows:
 * row_cost.h. */
#ifndef HUB_API_WORK_H
#define HUB_API_WORK_H

#include "server/api/app.h"

/** What an answer goes through: the error of one that would take too long says so, and what to ask for
 * instead. */
enum hub_work_of { HUB_WORK_ROWS, HUB_WORK_EPISODES, HUB_WORK_FILES, HUB_WORK_OBJECTS };
/** It takes so many microseconds, on a worker: is it worth a thread for long work? */
bool hub_work_is_heavy(double us);

/** May an answer be made on a worker that takes so many microseconds and holds a block at a time?
 * HUB_AGAIN: on a thread for long work; HUB_TOO_BIG "too-large": over the ceiling of the route; the error
 * names the parameter and what to ask for instead. */
HUB_MUST_USE enum hub_status hub_work_admit_us(struct hub_request *request, enum hub_work_of of, double us,
                                               struct hub_error *err);

/** May work go on that has taken about `us` microseconds so far, and whose end is not known? What goes
 * through many things looks here every thousand or so. HUB_AGAIN: from its start, on a thread for long work;
 * HUB_TOO_BIG; HUB_CANCELLED: nobody waits for the answer. */
HUB_MUST_USE enum hub_status hub_work_go_on(struct hub_request *request, enum hub_work_of of, double us,
                                            struct hub_error *err);

#endif
