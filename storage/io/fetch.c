/* Wants and fetches: see fetch.h. */
#include "storage/io/fetch.h"

#include "storage/base/order.h"

#include <inttypes.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

/* Wants with no more between them are one; at least what a gather reads over. */
enum { GAP = 16 * 1024 };

enum stage {
    RUNS,   /* nobody waits yet */
    WAITED, /* `done` is to be called */
    DONE,
    LEFT, /* nobody waits any more */
};

/* ---- wants ---- */

static bool may_join(const struct hub_want *a, uint32_t number, uint64_t offset)
{
    const uint64_t end = a->offset + a->size;
    return a->number == number && offset >= a->offset && (offset <= end || offset - end <= GAP);
}

static void join(struct hub_want *a, uint64_t end)
{
    a->size = HUB_MAX(a->offset + a->size, end) - a->offset;
}

enum hub_status hub_wants_add(struct hub_wants *wants, uint32_t number, uint64_t offset, uint64_t size,
                              struct hub_error *err)
{
    if (wants->count && may_join(&wants->items[wants->count - 1], number, offset)) {
        join(&wants->items[wants->count - 1], offset + size);
        return HUB_OK;
    }
    HUB_TRY(hub_grow(&wants->items, wants->count, &wants->capacity, sizeof *wants->items, err));
    wants->items[wants->count++] = (struct hub_want){.number = number, .offset = offset, .size = size};
    return HUB_OK;
}

static int by_offset(const void *a_, const void *b_)
{
    const struct hub_want *a = a_, *b = b_;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

uint64_t hub_wants_join(struct hub_wants *wants)
{
    uint32_t kept = 0;
    uint64_t bytes = 0;
    if (wants->count)
        qsort(wants->items, wants->count, sizeof *wants->items, by_offset);
    for (uint32_t i = 0; i < wants->count; i++) {
        const struct hub_want *want = &wants->items[i];
        if (kept && may_join(&wants->items[kept - 1], want->number, want->offset))
            join(&wants->items[kept - 1], want->offset + want->size);
        else
            wants->items[kept++] = *want;
    }
    wants->count = kept;
    for (uint32_t i = 0; i < kept; i++)
        bytes += wants->items[i].size;
    return bytes;
}

void hub_wants_dispose(struct hub_wants *wants)
{
    free(wants->items);
    *wants = (struct hub_wants){0};
}

/* ---- fetches ---- */

static void drop(struct hub_file_fetch *fetch)
{
    if (atomic_fetch_sub(&fetch->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < fetch->count; i++)
        hub_file_put(fetch->items[i].file);
    free(fetch->items);
    free(fetch->bytes);
    free(fetch);
}

static int by_file(const void *a_, const void *b_)
{
    const struct hub_want *a = a_, *b = b_;
    return a->file != b->file ? (a->file < b->file ? -1 : 1) : by_offset(a, b);
}

/* Those wants that do not lie in place, their files held. */
static enum hub_status take_wants(struct hub_file_fetch *fetch, const struct hub_wants *wants,
                                  struct hub_error *err)
{
    uint64_t bytes = 0;
    fetch->items = malloc(wants->count * sizeof *fetch->items);
    for (uint32_t i = 0; fetch->items && i < wants->count; i++) {
        if (!wants->items[i].file->source)
            continue;
        fetch->items[fetch->count] = wants->items[i];
        atomic_fetch_add_explicit(&fetch->items[fetch->count++].file->item.refs, 1, memory_order_relaxed);
        bytes += wants->items[i].size;
    }
    fetch->bytes = fetch->items ? malloc(HUB_MAX(bytes, 1)) : NULL;
    HUB_TRY(hub_allocated(fetch->bytes, err));
    qsort(fetch->items, fetch->count, sizeof *fetch->items, by_file);
    bytes = 0;
    for (uint32_t i = 0; i < fetch->count; i++) {
        fetch->items[i].data = fetch->bytes + bytes;
        bytes += fetch->items[i].size;
    }
    return HUB_OK;
}

enum hub_status hub_fetch_new(struct hub_file_fetch **out, struct hub_error *err)
{
    struct hub_file_fetch *fetch = calloc(1, sizeof *fetch);
    HUB_TRY(hub_allocated(fetch, err));
    atomic_init(&fetch->refs, 2); /* the caller's and the source's */
    *out = fetch;
    return HUB_OK;
}

enum hub_status hub_fetch_start(const struct hub_wants *wants, struct hub_file_fetch **out,
                                struct hub_error *err)
{
    const struct hub_fetch_source *source = NULL;
    for (uint32_t i = 0; i < wants->count && !source; i++)
        source = wants->items[i].file->source;
    *out = NULL;
    if (!source)
        return HUB_OK;
    struct hub_file_fetch *fetch;
    HUB_TRY(hub_fetch_new(&fetch, err));
    enum hub_status st = take_wants(fetch, wants, err);
    if (!st)
        st = source->fetch(source, fetch, err);
    if (st != HUB_AGAIN)
        hub_fetch_done(fetch, st);
    if (st == HUB_OK || st == HUB_AGAIN)
        *out = fetch;
    else
        drop(fetch);
    return st;
}

enum hub_status hub_fetch_range(struct hub_file *file, uint64_t offset, uint64_t size,
                                struct hub_file_fetch **out, struct hub_error *err)
{
    struct hub_want want = {.file = file, .offset = offset, .size = size};
    return hub_fetch_start(&(struct hub_wants){&want, 1, 1}, out, err);
}

enum hub_status hub_fetch_result(const struct hub_file_fetch *fetch, struct hub_error *err)
{
    if (atomic_load(&fetch->stage) != DONE)
        return HUB_AGAIN;
    if (fetch->status && err)
        *err = fetch->err;
    return fetch->status;
}

bool hub_fetch_wait(struct hub_file_fetch *fetch, void (*done)(void *user), void *user)
{
    int runs = RUNS;
    fetch->done = done;
    fetch->user = user;
    return atomic_compare_exchange_strong(&fetch->stage, &runs, WAITED);
}

bool hub_fetch_leave(struct hub_file_fetch *fetch)
{
    int waited = WAITED;
    return atomic_compare_exchange_strong(&fetch->stage, &waited, LEFT);
}

bool hub_fetch_left(const struct hub_file_fetch *fetch)
{
    return atomic_load(&fetch->refs) == 1;
}

void hub_fetch_put(struct hub_file_fetch *fetch)
{
    if (fetch)
        drop(fetch);
}

void hub_fetch_done(struct hub_file_fetch *fetch, enum hub_status status)
{
    fetch->status = status;
    if (atomic_exchange(&fetch->stage, DONE) == WAITED)
        fetch->done(fetch->user);
    drop(fetch);
}

/* ---- reading ---- */

/* For the first want that begins behind a place. */
static int by_begin(const void *position, const void *want)
{
    const struct hub_want *p = position, *w = want;
    return w->file < p->file || (w->file == p->file && w->offset <= p->offset) ? 1 : -1;
}

enum hub_status hub_fetch_copy(const struct hub_file_fetch *fetch, const struct hub_file *file,
                               uint64_t offset, void *out, size_t size, struct hub_error *err)
{
    const struct hub_want position = {.file = (struct hub_file *)file, .offset = offset};
    const uint32_t behind =
        fetch ? hub_lower_bound(&position, fetch->items, fetch->count, sizeof position, by_begin) : 0;
    const struct hub_want *want = behind ? &fetch->items[behind - 1] : NULL;
    if (!want || want->file != file || offset < want->offset || size > want->size ||
        offset - want->offset > want->size - size)
        return hub_fail(err, HUB_IO, "bytes %" PRIu64 " onwards of '%s' were not fetched", offset,
                        file->path);
    memcpy(out, want->data + (offset - want->offset), size);
    return HUB_OK;
}

static void wake(void *sleeper)
{
    sem_post(sleeper);
}

/* True: woken. */
static bool sleep_a_while(sem_t *sleeper)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 200 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_clockwait(sleeper, CLOCK_MONOTONIC, &until) == 0;
}

enum hub_status hub_fetch_join(struct hub_file_fetch *fetch, bool (*stops)(void *user), void *user,
                               struct hub_error *err)
{
    bool left = false;
    sem_t sleeper;
    sem_init(&sleeper, 0, 0);
    if (hub_fetch_wait(fetch, wake, &sleeper))
        while (!left && !sleep_a_while(&sleeper))
            left = stops && stops(user) && hub_fetch_leave(fetch); /* else it is done, and about to wake us */
    sem_destroy(&sleeper);
    return left ? hub_fail(err, HUB_CANCELLED, "stopped") : hub_fetch_result(fetch, err);
}

enum hub_status hub_fetch_read(struct hub_file *file, uint64_t offset, void *out, size_t size,
                               struct hub_error *err)
{
    struct hub_file_fetch *fetch;
    if (!file->source)
        return hub_read_bytes(file, offset, out, size, 0, err);
    enum hub_status st = hub_fetch_range(file, offset, size, &fetch, err);
    if (st == HUB_AGAIN)
        st = hub_fetch_join(fetch, NULL, NULL, err);
    if (!st)
        st = hub_fetch_copy(fetch, file, offset, out, size, err);
    hub_fetch_put(fetch);
    return st;
}
