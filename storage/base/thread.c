/* A thread that works in turns: see thread.h. */
#include "storage/base/thread.h"

#include <errno.h>
#include <time.h>

enum hub_status hub_thread_start(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                                 const char *what, struct hub_error *err)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    atomic_init(&thread->stop, false);
    const int errnum = pthread_create(&thread->id, NULL, run, arg);
    if (!errnum)
        return HUB_OK;
    hub_thread_dispose(thread);
    return hub_fail_errno(err, errnum, "cannot start the thread of %s", what);
}

static struct timespec ahead(unsigned ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000 + (t.tv_nsec + ms % 1000 * 1000000L) / 1000000000;
    t.tv_nsec = (t.tv_nsec + ms % 1000 * 1000000L) % 1000000000;
    return t;
}

void hub_thread_wait(struct hub_thread *thread, unsigned ms)
{
    const struct timespec until = ahead(ms);
    pthread_cond_timedwait(&thread->wake, &thread->lock, &until);
}

static void ask_to_end(struct hub_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->stop = true;
    pthread_cond_broadcast(&thread->wake);
    pthread_mutex_unlock(&thread->lock);
}

void hub_thread_stop(struct hub_thread *thread)
{
    ask_to_end(thread);
    pthread_join(thread->id, NULL);
}

bool hub_thread_stop_within(struct hub_thread *thread, unsigned ms)
{
    ask_to_end(thread);
    const struct timespec until = ahead(ms);
    if (pthread_clockjoin_np(thread->id, NULL, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        return true;
    pthread_detach(thread->id);
    return false;
}

void hub_thread_dispose(struct hub_thread *thread)
{
    pthread_cond_destroy(&thread->wake);
    pthread_mutex_destroy(&thread->lock);
}
