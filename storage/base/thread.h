/** A thread that works in turns, with a lock and a condition on the monotonic clock. */
#ifndef HUB_BASE_THREAD_H
#define HUB_BASE_THREAD_H

#include "storage/base/error.h"

#include <pthread.h>
#include <stdatomic.h>

struct hub_thread {
    pthread_t id;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool stop; /* it is to end; set with the lock held */
};

/** On failure there is nothing to stop or dispose.
 *
 * @param what  for the error: "the log" */
HUB_MUST_USE enum hub_status hub_thread_start(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                                              const char *what, struct hub_error *err);
/** With the lock held: until the condition is signalled, or so many milliseconds have passed. */
void hub_thread_wait(struct hub_thread *thread, unsigned ms);
/** Have it end, and wait for that. False: it did not end within so many milliseconds, and is detached. */
void hub_thread_stop(struct hub_thread *thread);
HUB_MUST_USE bool hub_thread_stop_within(struct hub_thread *thread, unsigned ms);
/** After it has ended. */
void hub_thread_dispose(struct hub_thread *thread);

#endif
