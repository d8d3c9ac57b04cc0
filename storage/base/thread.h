/** Threads that work in turns, one or several, with a lock, a condition on the monotonic clock and an end. */
#ifndef HUB_BASE_THREAD_H
#define HUB_BASE_THREAD_H

#include "storage/base/error.h"

#include <pthread.h>
#include <stdatomic.h>

struct hub_thread {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_bool stop; /* all are to end; hub_thread_stop sets it with the lock held */
    uint32_t count, capacity;
    pthread_t *ids;
};

/** A condition on the monotonic clock. */
void hub_cond_init(pthread_cond_t *cond);
/** With a lock and a condition, and no thread yet. */
void hub_thread_init(struct hub_thread *thread);
/** Start another one; those that were added before go on if that fails. One caller at a time.
 *
 * @param what  for the error: "the log" */
HUB_MUST_USE enum hub_status hub_thread_add(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                                            const char *what, struct hub_error *err);
/** Both of them; on failure there is nothing to stop or dispose. */
HUB_MUST_USE enum hub_status hub_thread_start(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                                              const char *what, struct hub_error *err);
/** With the lock held: until the condition is signalled, or so many milliseconds have passed. */
void hub_thread_wait(struct hub_thread *thread, unsigned ms);
/** Have all end, and wait for that. False: one did not end within so many milliseconds, and is detached. */
void hub_thread_stop(struct hub_thread *thread);
HUB_MUST_USE bool hub_thread_stop_within(struct hub_thread *thread, unsigned ms);
/** After all have ended. */
void hub_thread_dispose(struct hub_thread *thread);

#endif
