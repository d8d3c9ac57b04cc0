/**
 * A few threads that may block, fed by one queue with a ceiling in which clients take turns. (A stack would
 * serve the newest first and starve the rest: p99 rose from 21 ms to over a second when that was measured.)
 * Long work is marked: of several threads one is always left to the rest. Safe from any thread.
 */
#ifndef HUB_HTTP_POOL_H
#define HUB_HTTP_POOL_H

#include "server/http/lanes.h"
#include "storage/base/parallel.h"

struct hub_pool;

/** Embedded in what it works on; the pool allocates nothing a task. */
struct hub_task {
    struct hub_lane_item item;             /* first; `client` is the owner's to set */
    bool heavy;                            /* it will take long */
    void (*run)(struct hub_task *task);    /* on a worker */
    void (*cancel)(struct hub_task *task); /* instead of run, when the pool stops first */
};

HUB_MUST_USE enum hub_status hub_pool_new(unsigned workers, unsigned queue, struct hub_pool **out,
                                          struct hub_error *err);
/** False: the queue is full (unless `beyond`, for work that was admitted before) or the pool is stopping. */
HUB_MUST_USE bool hub_pool_push(struct hub_pool *pool, struct hub_task *task, bool beyond);
unsigned hub_pool_depth(struct hub_pool *pool);
/** For the handlers that run on this pool's workers. Nobody helps while a task waits. */
const struct hub_parallel *hub_pool_parallel(struct hub_pool *pool);
/** Cancel what waits, let what runs finish, end the threads. Idempotent. */
void hub_pool_stop(struct hub_pool *pool);
void hub_pool_free(struct hub_pool *pool);

#endif
