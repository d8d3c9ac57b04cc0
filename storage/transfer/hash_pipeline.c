/* Threads behind a download: see hash_pipeline.h. */
#include "storage/transfer/hash_pipeline.h"

#include "storage/base/thread.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS = 2 }; /* one waits for the disk while the other one hashes */

struct hub_hash_pipeline {
    void (*whole)(void *user, uint32_t file);
    void *user;
    struct hub_thread threads; /* their lock: of all below, and of `end`, `last`, `queued` of files */
    pthread_cond_t less;
    struct hub_hashed_file *first, *behind_last;
    atomic_bool now;
    enum hub_status status;
    struct hub_error error;
};

static enum hub_status go_on(void *user, struct hub_error *err)
{
    const struct hub_hash_pipeline *trail = user;
    return atomic_load(&trail->now) ? hub_fail(err, HUB_CANCELLED, "the transfer has ended") : HUB_OK;
}

static enum hub_status follow(struct hub_hash_pipeline *t, struct hub_hashed_file *f, uint64_t end, bool last,
                              struct hub_error *err)
{
    const uint64_t from = f->hasher.at;
    if (f->summed)
        f->hasher.at = end;
    else
        HUB_TRY(hub_file_hasher_read(&f->hasher, f->fd, end, go_on, t, err));
    /* on its way to the disk already, so that the sync in the end is short */
    (void)sync_file_range(f->fd, (off_t)from, (off_t)(end - from), SYNC_FILE_RANGE_WRITE);
    if (!last)
        return HUB_OK;
    if (!f->summed)
        HUB_TRY(hub_file_hasher_end(&f->hasher, f->sums, err));
    t->whole(t->user, f->file);
    return HUB_OK;
}

static void put(struct hub_hash_pipeline *t, struct hub_hashed_file *f)
{
    f->behind = NULL;
    *(t->first ? &t->behind_last->behind : &t->first) = f;
    t->behind_last = f;
}

/* By the lock, which is let go of meanwhile. */
static void take_one(struct hub_hash_pipeline *t)
{
    struct hub_hashed_file *f = t->first;
    const uint64_t end = f->end;
    const bool last = f->last;
    struct hub_error err = {0};
    t->first = f->behind;
    pthread_mutex_unlock(&t->threads.lock);
    const enum hub_status st = follow(t, f, end, last, &err);
    pthread_mutex_lock(&t->threads.lock);
    if (st && !t->status) {
        t->status = st;
        t->error = err;
    }
    f->queued = !st && (f->end > end || f->last != last);
    if (f->queued)
        put(t, f);
    else
        pthread_cond_broadcast(&t->less);
}

static void *work(void *arg)
{
    struct hub_hash_pipeline *t = arg;
    pthread_mutex_lock(&t->threads.lock);
    while (t->first || !t->threads.stop) {
        if (t->first)
            take_one(t);
        else
            pthread_cond_wait(&t->threads.wake, &t->threads.lock);
    }
    pthread_mutex_unlock(&t->threads.lock);
    return NULL;
}

enum hub_status hub_hash_pipeline_start(void (*whole)(void *user, uint32_t file), void *user,
                                        struct hub_hash_pipeline **out, struct hub_error *err)
{
    struct hub_hash_pipeline *t;
    HUB_TRY(hub_new(&t, 1, sizeof *t, err));
    t->whole = whole;
    t->user = user;
    hub_thread_init(&t->threads);
    pthread_cond_init(&t->less, NULL);
    enum hub_status st = HUB_OK;
    while (t->threads.count < THREADS && !st)
        st = hub_thread_add(&t->threads, work, t, "hashing", err);
    if (t->threads.count) {
        *out = t;
        return HUB_OK; /* one alone is slower */
    }
    (void)!hub_hash_pipeline_stop(t, true, NULL);
    return st;
}

void hub_hash_pipeline_to(struct hub_hash_pipeline *t, struct hub_hashed_file *f, uint64_t end, bool last)
{
    pthread_mutex_lock(&t->threads.lock);
    f->end = end;
    f->last = last;
    if (!f->queued) {
        f->queued = true;
        put(t, f);
        pthread_cond_signal(&t->threads.wake);
    }
    pthread_mutex_unlock(&t->threads.lock);
}

bool hub_hash_pipeline_busy(struct hub_hash_pipeline *t, const struct hub_hashed_file *f)
{
    pthread_mutex_lock(&t->threads.lock);
    const bool busy = f->queued;
    pthread_mutex_unlock(&t->threads.lock);
    return busy;
}

void hub_hash_pipeline_wait(struct hub_hash_pipeline *t, const struct hub_hashed_file *f)
{
    pthread_mutex_lock(&t->threads.lock);
    while (f->queued)
        pthread_cond_wait(&t->less, &t->threads.lock);
    pthread_mutex_unlock(&t->threads.lock);
}

enum hub_status hub_hash_pipeline_stop(struct hub_hash_pipeline *t, bool now, struct hub_error *err)
{
    atomic_store(&t->now, now);
    hub_thread_stop(&t->threads);
    const enum hub_status st = t->status;
    if (st && err)
        *err = t->error;
    pthread_cond_destroy(&t->less);
    hub_thread_dispose(&t->threads);
    free(t);
    return st;
}
