/*
 * A file store whose bytes come late, for tests: files are found as the local store finds them, but what is
 * read of them is fetched, by another thread, some milliseconds later, out of order; sometimes at once,
 * sometimes not at all. Linked instead of storage/read/store_kind.c.
 *
 * HUB_LATE_SEED  of what is drawn
 * HUB_LATE_FILE  a file that is read at each fetch: "MIN MAX FAIL", milliseconds and how many of 1000 fetches
 * fail; without it 0 30 0
 */
#include "storage/read/read.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct waiting {
    struct waiting *next;
    struct hub_file_fetch *fetch;
    int64_t due_ms;
    bool fail;
};

struct late {
    struct hub_fetch_source source; /* first */
    struct hub_store *local;
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t thread;
    struct waiting *first; /* soonest due first */
    uint64_t random;
    bool stopping;
};

struct order {
    unsigned min_ms, max_ms, fail;
};

static struct order read_order(void)
{
    const char *path = getenv("HUB_LATE_FILE"), *ms = getenv("HUB_LATE_MS");
    struct order order = {0, ms ? (unsigned)strtoul(ms, NULL, 10) : 30, 0};
    FILE *f = path ? fopen(path, "re") : NULL;
    if (f && fscanf(f, "%u %u %u", &order.min_ms, &order.max_ms, &order.fail) != 3)
        abort();
    if (f)
        fclose(f);
    return order;
}

static uint64_t draw(struct late *late)
{
    late->random += 0x9E3779B97F4A7C15U;
    uint64_t z = late->random;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

static int open_again(int fd, int flags)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, flags | O_CLOEXEC);
}

/* The bytes themselves, last item first: nobody may count on an order. */
static enum hub_status read_items(struct hub_file_fetch *fetch, struct hub_error *err)
{
    for (uint32_t i = fetch->count; i > 0; i--) {
        const struct hub_want *want = &fetch->items[i - 1];
        const struct hub_file *file = want->file;
        struct hub_file plain = {.sealed = file->sealed, .stamp = file->stamp, .path = file->path};
        plain.fd = open_again(file->fd, O_RDONLY);
        const enum hub_status st = plain.fd < 0
                                       ? hub_fail_errno(err, errno, "'%s'", file->path)
                                       : hub_read_bytes(&plain, want->offset, want->data, want->size, 0, err);
        if (plain.fd >= 0)
            close(plain.fd);
        HUB_TRY(st);
    }
    return HUB_OK;
}

static enum hub_status unavailable(struct hub_error *err)
{
    return hub_fail_as(err, HUB_IO, HUB_PROBLEM_STORAGE_UNAVAILABLE, "the storage failed, as it was told to");
}

static void end(struct waiting *w, bool fail)
{
    struct hub_file_fetch *fetch = w->fetch;
    free(w);
    if (fail)
        hub_fetch_done(fetch, unavailable(&fetch->err));
    else if (hub_fetch_left(fetch))
        hub_fetch_done(fetch, hub_fail(&fetch->err, HUB_CANCELLED, "nobody waits for it"));
    else
        hub_fetch_done(fetch, read_items(fetch, &fetch->err));
}

static void *serve(void *late_)
{
    struct late *late = late_;
    pthread_mutex_lock(&late->lock);
    while (!late->stopping || late->first) {
        struct waiting *w = late->first;
        if (w && (late->stopping || w->due_ms <= hub_time_mono_ms())) {
            late->first = w->next;
            const bool fail = w->fail || late->stopping;
            pthread_mutex_unlock(&late->lock);
            end(w, fail);
            pthread_mutex_lock(&late->lock);
        } else {
            const int64_t ms = w ? HUB_MAX(w->due_ms - hub_time_mono_ms(), 1) : 1000;
            const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, (unsigned)ms);
            pthread_cond_timedwait(&late->more, &late->lock, &until);
        }
    }
    pthread_mutex_unlock(&late->lock);
    return NULL;
}

static enum hub_status fetch(const struct hub_fetch_source *source, struct hub_file_fetch *fetch,
                             struct hub_error *err)
{
    struct late *late = (struct late *)source;
    const struct order order = read_order();
    struct waiting *w = calloc(1, sizeof *w);
    if (!w)
        return hub_fail(err, HUB_NO_MEMORY, "no memory to be late");
    pthread_mutex_lock(&late->lock);
    const bool inline_ = draw(late) % 16 == 0, fail = draw(late) % 1000 < order.fail;
    const uint64_t ms = order.min_ms + draw(late) % (order.max_ms - order.min_ms + 1);
    if (!inline_ || order.min_ms) {
        *w = (struct waiting){.fetch = fetch, .due_ms = hub_time_mono_ms() + (int64_t)ms, .fail = fail};
        struct waiting **at = &late->first;
        while (*at && (*at)->due_ms <= w->due_ms)
            at = &(*at)->next;
        w->next = *at;
        *at = w;
        pthread_cond_signal(&late->more);
        pthread_mutex_unlock(&late->lock);
        return HUB_AGAIN;
    }
    pthread_mutex_unlock(&late->lock);
    free(w);
    return fail ? unavailable(err) : read_items(fetch, err);
}

static enum hub_status get(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                           struct hub_error *err)
{
    struct late *late = (struct late *)store;
    struct hub_file *local;
    HUB_TRY(hub_store_local.get(late->local, ref, &local, err));
    const size_t size = strlen(local->path) + 1;
    struct hub_file *file = calloc(1, sizeof *file + size);
    /* nobody reads it but by a fetch; of a sealed one the seal is looked at */
    const int fd = file ? open_again(local->fd, local->sealed ? O_RDONLY : O_PATH) : -1;
    if (fd < 0) {
        free(file);
        hub_file_put(local);
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "too many open files");
    }
    atomic_init(&file->item.refs, 1);
    file->fd = fd;
    file->sealed = local->sealed;
    file->stamp = local->stamp;
    file->source = &late->source;
    file->path = memcpy(file + 1, local->path, size);
    hub_file_put(local);
    *out = file;
    return HUB_OK;
}

static enum hub_status open_late(const struct hub_store_options *options, struct hub_store **out,
                                 struct hub_error *err)
{
    struct late *late = calloc(1, sizeof *late);
    const char *seed = getenv("HUB_LATE_SEED");
    pthread_condattr_t attr;
    if (!late)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a file store");
    const enum hub_status st = hub_store_local.open(options, &late->local, err);
    if (st) {
        free(late);
        return st;
    }
    late->source.fetch = fetch;
    late->random = seed ? strtoull(seed, NULL, 10) : 1;
    pthread_mutex_init(&late->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&late->more, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&late->thread, NULL, serve, late) != 0)
        abort();
    *out = (struct hub_store *)late;
    return HUB_OK;
}

static void close_late(struct hub_store *store)
{
    struct late *late = (struct late *)store;
    pthread_mutex_lock(&late->lock);
    late->stopping = true;
    pthread_cond_signal(&late->more);
    pthread_mutex_unlock(&late->lock);
    pthread_join(late->thread, NULL);
    hub_store_local.close(late->local);
    pthread_cond_destroy(&late->more);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

static void forget(struct hub_store *store, uint32_t root, const char *prefix)
{
    hub_store_local.forget(((struct late *)store)->local, root, prefix);
}

static const struct hub_store_kind kind = {
    .open = open_late, .close = close_late, .get = get, .forget = forget};
const struct hub_store_kind *const hub_store_kind = &kind;
