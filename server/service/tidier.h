/**
 * Removes what is over: old drafts, revisions that are kept no longer, and the trees of both, file by file. A
 * thread of its own, because a large tree takes its time, and nobody waits for it.
 */
#ifndef HUB_SERVICE_TIDIER_H
#define HUB_SERVICE_TIDIER_H

#include "server/api/app.h"

struct hub_tidier;

HUB_MUST_USE enum hub_status hub_tidier_start(struct hub_app *app, struct hub_tidier **out,
                                              struct hub_error *err);
/** NULL is fine. What is not removed yet is so after the next start. False: a disk did not answer within a
 * second, and the thread may still read the roots. */
bool hub_tidier_stop(struct hub_tidier *tidier);

#endif
