/**
 * What becomes of commits of repos: a thread of its own inspects them, one after another, and publishes those
 * that are ready. What waits when the hub ends is gone on with at its next start. Safe from any thread.
 */
#ifndef HUB_API_PUSHES_PUSHES_H
#define HUB_API_PUSHES_PUSHES_H

#include "server/api/app.h"
#include "storage/truth/repos.h"

struct hub_pushes;

HUB_MUST_USE enum hub_status hub_pushes_start(struct hub_app *app, struct hub_pushes **out,
                                              struct hub_error *err);
/** NULL is fine. */
void hub_pushes_stop(struct hub_pushes *pushes);
/** There is a new commit. */
void hub_pushes_wake(struct hub_pushes *pushes);
/** Read a commit again when its verdict is there, or after some milliseconds as it is. */
HUB_MUST_USE enum hub_status hub_push_await(const struct hub_app *app, const char *repo, unsigned ms,
                                            struct hub_push *push, struct hub_error *err);

#endif
