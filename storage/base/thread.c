/* Threads that work in turns: see thread.h. */
#include "storage/base/thread.h"

#include "storage/base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void hub_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void hub_thread_init(struct hub_thread *thread)
{
    *thread = (struct hub_thread){0};
    pthread_mutex_init(&thread->lock, NULL);
    hub_cond_init(&thread->wake);
}

enum hub_status hub_thread_add(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                               const char *what, struct hub_error *err)
{
    HUB_TRY(hub_grow(&thread->ids, thread->count, &thread->capacity, sizeof *thread->ids, err));
    const int errnum = pthread_create(&thread->ids[thread->count], NULL, run, arg);
    if (errnum)
        return hub_fail_errno(err, errnum, "cannot start the thread of %s", what);
    thread->count++;
    return HUB_OK;
}

enum hub_status hub_thread_start(struct hub_thread *thread, void *(*run)(void *arg), void *arg,
                                 const char *what, struct hub_error *err)
{
    hub_thread_init(thread);
    const enum hub_status st = hub_thread_add(thread, run, arg, what, err);
    if (st)
        hub_thread_dispose(thread);
    return st;
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

static void begin_stop(struct hub_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->stop = true;
    pthread_cond_broadcast(&thread->wake);
    pthread_mutex_unlock(&thread->lock);
}

void hub_thread_stop(struct hub_thread *thread)
{
    begin_stop(thread);
    while (thread->count)
        pthread_join(thread->ids[--thread->count], NULL);
}

bool hub_thread_stop_within(struct hub_thread *thread, unsigned ms)
{
    bool ended = true;
    begin_stop(thread);
    for (unsigned waited_ms = 0; thread->count;) {
        const pthread_t id = thread->ids[thread->count - 1];
        const bool runs = pthread_tryjoin_np(id, NULL) == EBUSY; /* ThreadSanitizer does not know clockjoin */
        if (runs && waited_ms++ < ms) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            continue;
        }
        if (runs)
            pthread_detach(id);
        ended &= !runs;
        thread->count--;
    }
    return ended;
}

void hub_thread_dispose(struct hub_thread *thread)
{
    pthread_cond_destroy(&thread->wake);
    pthread_mutex_destroy(&thread->lock);
    free(thread->ids);
}
