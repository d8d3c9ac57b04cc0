/* Hashing: one thread reads a file once and computes all three digests in that pass. They count only if the
 * file is the same before and after. What is wanted last is hashed first; what does not fit into the queue
 * is wanted again by the next request. What came with a CRC-32C alone gets its SHA-256 without being asked
 * for, once the catalogue did not change for a while, in a part of the time. Where it also hashes while it
 * is idle, one pass over the catalogue follows; what is wanted comes before the next block of such files. */
#include "storage/base/thread.h"
#include "storage/scan/state.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"
#include "storage/truth/digests.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WANTED = 1024, QUIET_MS = 1000 };
/* It pauses so many times as long as it hashes what nobody waits for, so that copies that are under way go
 * on. */
enum { PAUSES = 3 };
#define BLOCK_BYTES (1 * MIB)

struct hash_request {
    uint32_t root;
    struct hub_stamp stamp;
    char *path;
    bool background; /* others go first ... */
    bool paced;      /* ... and whatever else the machine does */
};

struct hub_digest_queue {
    struct hub_hasher_options options;
    struct hub_thread thread;               /* its condition also wakes those who wait for a file */
    uint64_t finished;                      /* files, well or not */
    struct hash_request wanted[MAX_WANTED]; /* the last one is next */
    unsigned count;
    const char *current; /* being hashed, or NULL */
    uint64_t current_size;
    int64_t started_ms;
    atomic_uint_fast64_t hashed; /* bytes of it */
    char unread[900];            /* why the last file that could not be read was not; "": it was, later */
    uint64_t unread_file;        /* its hash */

    bool resumed; /* files came that have no SHA-256; by the lock. What follows is the thread's own: */
    bool behind;  /* there may be such files ... */
    struct hub_unhashed at; /* ... after this one */
    uint64_t generation;    /* of the snapshot this pass goes over */
    uint32_t summary, file; /* next */
    int64_t since_ms;       /* the catalogue did not change */
    bool through;
};

static void hash_wanted(struct hub_digest_queue *h);

/* With the lock, until something happens. False: it is time, or all ends. */
static bool wait_until(struct hub_digest_queue *h, int64_t until_ms)
{
    const int64_t left_ms = until_ms - hub_time_mono_ms();
    if (h->thread.stop || left_ms <= 0)
        return false;
    hub_thread_wait(&h->thread, (unsigned)HUB_MIN(left_ms, (int64_t)UINT_MAX));
    return true;
}

/* Unless something is wanted. */
static void pause_for(struct hub_digest_queue *h, int64_t us)
{
    const int64_t until_ms = hub_time_mono_ms() + us / 1000;
    pthread_mutex_lock(&h->thread.lock);
    while (!h->count && wait_until(h, until_ms))
        continue;
    pthread_mutex_unlock(&h->thread.lock);
}

static enum hub_status read_all(struct hub_digest_queue *h, const struct hash_request *w,
                                struct hub_file *file, struct hub_file_hasher *hasher, struct hub_error *err)
{
    const uint64_t size = hub_file_stamp(file)->size;
    HUB_CLEANUP(hub_freep) char *block = malloc(BLOCK_BYTES);
    HUB_TRY(hub_allocated(block, err));
    for (uint64_t at = 0; at < size;) {
        const size_t n = (size_t)HUB_MIN(size - at, (uint64_t)BLOCK_BYTES);
        if (w->background)
            hash_wanted(h);
        const int64_t began_us = hub_time_mono_us();
        if (h->thread.stop)
            return hub_fail(err, HUB_CANCELLED, "stopped");
        HUB_TRY(hub_fetch_read(file, at, block, n, err));
        HUB_TRY(hub_file_hasher_add(hasher, (struct hub_view){block, n}, err));
        at += n;
        atomic_store_explicit(&h->hashed, at, memory_order_relaxed);
        if (w->paced)
            pause_for(h, PAUSES * (hub_time_mono_us() - began_us));
    }
    return HUB_OK;
}

/* The dataset that a file lies in; both "" where none is known. */
struct file_owner {
    char *id, *folder;
};

static void file_owner_dispose(struct file_owner *owner)
{
    free(owner->id);
    free(owner->folder);
}

static void find_owner(struct hub_digest_queue *h, const struct hash_request *w, struct file_owner *out)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(h->options.catalog);
    const struct hub_summary *best = NULL;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *s = snapshot->summaries[i];
        if (s->root == w->root && hub_summary_is_here(s) && hub_path_below(w->path, s->path) &&
            (!best || strlen(s->path) > strlen(best->path)))
            best = s;
    }
    out->id = strdup(best ? best->id : "");
    out->folder = strdup(best ? best->path : "");
}

static void describe(const struct hub_file_digests *stored, const struct hub_file_digests *is, const char *id,
                     char out[700])
{
    const bool sha256 = *stored->sha256 && strcmp(stored->sha256, is->sha256) != 0,
               crc32c = !sha256 && *stored->crc32c && strcmp(stored->crc32c, is->crc32c) != 0;
    snprintf(out, 700,
             "its bytes changed without a change of size or time (%s %.16s, it was %.16s);"
             " `minari-hub check --repair %.300s` fetches the copy of a mirror rule again",
             sha256   ? "SHA-256"
             : crc32c ? "CRC-32C"
                      : "MD5",
             sha256   ? is->sha256
             : crc32c ? is->crc32c
                      : is->md5,
             sha256   ? stored->sha256
             : crc32c ? stored->crc32c
                      : stored->md5,
             id);
}

/* It had these digests at this stamp: what a check does with such a file. */
static enum hub_status quarantine(struct hub_digest_queue *h, const struct hash_request *w,
                                  const struct hub_file_digests *stored, const struct hub_file_digests *is,
                                  struct hub_error *err)
{
    HUB_CLEANUP(file_owner_dispose) struct file_owner owner = {0};
    char why[700];
    find_owner(h, w, &owner);
    HUB_TRY(hub_allocated(owner.id && owner.folder, err));
    describe(stored, is, owner.id, why);
    const struct hub_damage damage = {
        .root = w->root, .path = w->path, .dataset = owner.folder, .stamp = w->stamp, .why = why};
    HUB_TRY(hub_damage_put(h->options.truth, &damage, err));
    if (h->options.damaged) {
        HUB_CLEANUP(hub_freep) char *detail = NULL;
        if (asprintf(&detail, "%s: %s", w->path, why) < 0)
            detail = NULL;
        h->options.damaged(h->options.user, owner.id, detail ? detail : why);
    }
    return hub_fail(err, HUB_CORRUPT, "the file has changed");
}

static void report_hashed(struct hub_digest_queue *h, const struct hash_request *w,
                          const struct hub_file_digests *digests)
{
    HUB_CLEANUP(file_owner_dispose) struct file_owner owner = {0};
    find_owner(h, w, &owner);
    if (owner.id && *owner.id && owner.folder)
        h->options.hashed(h->options.user, &(struct hub_hash_result){.root = w->root,
                                                                     .dataset = owner.id,
                                                                     .folder = owner.folder,
                                                                     .path = w->path,
                                                                     .stamp = w->stamp,
                                                                     .sha256 = digests->sha256});
}

/* A copied file must match the digests that came with it. */
static enum hub_status hash_open(struct hub_digest_queue *h, const struct hash_request *w,
                                 struct hub_file *file, const struct hub_file_digests *stored,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    struct hub_file_digests digests = {0};
    HUB_TRY(hub_file_hasher_begin(&hasher, hub_digests_kind(stored), w->stamp.size, err));
    HUB_TRY(read_all(h, w, file, &hasher, err));
    HUB_TRY(hub_file_unchanged(file, err));
    HUB_TRY(hub_digests_end(&hasher, &digests, err));
    if (!hub_digests_agree(stored, &digests))
        return quarantine(h, w, stored, &digests, err);
    HUB_TRY(hub_digest_store(h->options.truth, w->root, w->path, &w->stamp, &digests, err));
    if (h->options.hashed)
        report_hashed(h, w, &digests);
    return HUB_OK;
}

/* A disk that does not give what is on it is reported once for each file. */
static void note_result(struct hub_digest_queue *h, const struct hash_request *w, enum hub_status st,
                        const struct hub_error *why)
{
    const bool unread = st == HUB_IO || st == HUB_DENIED || st == HUB_TIMEOUT;
    const uint64_t file = hub_hash(w->root, w->path, strlen(w->path));
    char detail[sizeof h->unread];
    HUB_CLEANUP(file_owner_dispose) struct file_owner owner = {0};
    snprintf(detail, sizeof detail, "%.300s: it could not be hashed: %s", w->path, why->detail);
    pthread_mutex_lock(&h->thread.lock);
    const bool last = *h->unread && h->unread_file == file;
    if (unread || last)
        snprintf(h->unread, sizeof h->unread, "%s", unread ? detail : "");
    if (unread)
        h->unread_file = file;
    pthread_mutex_unlock(&h->thread.lock);
    if (!unread || last || !h->options.unread)
        return;
    find_owner(h, w, &owner);
    h->options.unread(h->options.user, owner.id ? owner.id : "", detail);
}

/* A failure leaves the digests unknown; whoever wants them asks again. What is damaged is not opened
 * again. */
static void hash(struct hub_digest_queue *h, const struct hash_request *w)
{
    const struct hub_file_ref ref = {.root = w->root, .path = w->path, .expect = &w->stamp};
    struct hub_file_digests stored = {0};
    struct hub_file *file = NULL;
    struct hub_error err = {0};
    enum hub_status st = hub_digest_find(h->options.truth, w->root, w->path, &w->stamp, &stored, NULL);
    if (st)
        stored = (struct hub_file_digests){0};
    st = HUB_OK;
    if (!stored.sha256[0] || !stored.crc32c[0])
        st = hub_file_get(h->options.store, &ref, &file, &err);
    if (file)
        st = hash_open(h, w, file, &stored, &err);
    hub_file_put(file);
    note_result(h, w, st, &err);
}

/* One file, and what is learned of it meanwhile. The lock is held before and after. */
static void hash_one(struct hub_digest_queue *h, struct hash_request w)
{
    const char *before = h->current;
    const uint64_t before_size = h->current_size, before_hashed = atomic_load(&h->hashed);
    const int64_t before_ms = h->started_ms;
    h->current = w.path;
    h->current_size = w.stamp.size;
    h->started_ms = hub_time_now_ns() / 1000000;
    atomic_store_explicit(&h->hashed, 0, memory_order_relaxed);
    pthread_mutex_unlock(&h->thread.lock);
    hash(h, &w);
    pthread_mutex_lock(&h->thread.lock);
    h->finished++;
    pthread_cond_broadcast(&h->thread.wake);
    h->current = before;
    h->current_size = before_size;
    h->started_ms = before_ms;
    atomic_store_explicit(&h->hashed, before_hashed, memory_order_relaxed);
    free(w.path);
}

static void hash_wanted(struct hub_digest_queue *h)
{
    pthread_mutex_lock(&h->thread.lock);
    while (h->count && !h->thread.stop)
        hash_one(h, h->wanted[--h->count]);
    pthread_mutex_unlock(&h->thread.lock);
}

/* ---- what nobody asked for ---- */

/* The next file of a dataset without digests. */
static bool next_file(struct hub_digest_queue *h, const struct hub_summary *summary, struct hash_request *out)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    bool found = false;
    if (!hub_summary_is_here(summary) || hub_dataset_get(h->options.catalog, summary, true, &dataset, NULL))
        return false;
    while (!found && h->file < dataset->file_count && !h->thread.stop) {
        const struct hub_dataset_file *file = &dataset->files[h->file++];
        struct hub_file_digests stored;
        *out = (struct hash_request){.root = summary->root,
                                     .stamp = file->stamp,
                                     .path = hub_path_join(summary->path, file->path),
                                     .background = true};
        found = out->path && hub_digest_find(h->options.truth, out->root, out->path, &out->stamp, &stored,
                                             NULL) == HUB_NOT_FOUND;
        if (!found)
            free(out->path);
    }
    return found;
}

/* What is fetched meanwhile is not read while it is written. */
static bool is_quiet(struct hub_digest_queue *h, const struct hub_snapshot *snapshot)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (snapshot->generation != h->generation) {
        h->generation = snapshot->generation;
        h->since_ms = now_ms;
        h->summary = h->file = 0;
        h->through = false;
    }
    return now_ms - h->since_ms >= QUIET_MS;
}

/* The next file that has other digests and no SHA-256: each once. One that is gone or another by now stays
 * behind. */
static bool next_behind(struct hub_digest_queue *h, struct hash_request *out)
{
    h->behind = h->behind && !hub_digest_unhashed(h->options.truth, &h->at, NULL);
    if (!h->behind)
        return false;
    *out = (struct hash_request){.root = h->at.root,
                                 .stamp = h->at.stamp,
                                 .path = strdup(h->at.path),
                                 .background = true,
                                 .paced = true};
    return out->path != NULL;
}

/* No lock held. */
static bool next_background(struct hub_digest_queue *h, struct hash_request *out)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(h->options.catalog);
    if ((!h->options.idle && !h->behind) || !is_quiet(h, snapshot))
        return false;
    if (next_behind(h, out))
        return true;
    if (!h->options.idle || h->through)
        return false;
    for (; h->summary < snapshot->count && !h->thread.stop; h->summary++, h->file = 0)
        if (next_file(h, snapshot->summaries[h->summary], out))
            return true;
    h->through = true;
    return false;
}

/* Until something is wanted; where it hashes while idle, a moment. */
static void rest(struct hub_digest_queue *h)
{
    if (h->options.idle || h->behind)
        hub_thread_wait(&h->thread, 1000);
    else
        pthread_cond_wait(&h->thread.wake, &h->thread.lock);
}

/* By the lock. */
static void begin_behind(struct hub_digest_queue *h)
{
    h->resumed = false;
    h->behind = true;
    free(h->at.path);
    h->at = (struct hub_unhashed){0};
}

static void *run(void *arg)
{
    struct hub_digest_queue *h = arg;
    struct hash_request background;
    pthread_mutex_lock(&h->thread.lock);
    while (!h->thread.stop) {
        if (h->count) {
            hash_one(h, h->wanted[--h->count]);
            continue;
        }
        if (h->resumed)
            begin_behind(h);
        pthread_mutex_unlock(&h->thread.lock);
        const bool found = next_background(h, &background);
        pthread_mutex_lock(&h->thread.lock);
        if (found)
            hash_one(h, background);
        else if (!h->count && !h->thread.stop && !h->resumed)
            rest(h);
    }
    pthread_mutex_unlock(&h->thread.lock);
    return NULL;
}

enum hub_status hub_digest_queue_start(const struct hub_hasher_options *options,
                                       struct hub_digest_queue **out, struct hub_error *err)
{
    struct hub_digest_queue *h = calloc(1, sizeof *h);
    HUB_TRY(hub_allocated(h, err));
    h->options = *options;
    h->resumed = true; /* what an earlier call left */
    const enum hub_status st = hub_thread_start(&h->thread, run, h, "hashing", err);
    if (st)
        free(h);
    else
        *out = h;
    return st;
}

void hub_digest_queue_stop(struct hub_digest_queue *h)
{
    if (!h)
        return;
    hub_thread_stop(&h->thread);
    while (h->count)
        free(h->wanted[--h->count].path);
    free(h->at.path);
    hub_thread_dispose(&h->thread);
    free(h);
}

void hub_digest_queue_resume(struct hub_digest_queue *h)
{
    pthread_mutex_lock(&h->thread.lock);
    h->resumed = true;
    pthread_cond_broadcast(&h->thread.wake);
    pthread_mutex_unlock(&h->thread.lock);
}

uint64_t hub_digest_queue_finished(struct hub_digest_queue *h)
{
    pthread_mutex_lock(&h->thread.lock);
    const uint64_t finished = h->finished;
    pthread_mutex_unlock(&h->thread.lock);
    return finished;
}

bool hub_digest_queue_wait(struct hub_digest_queue *h, uint64_t *seen, int64_t until_ms)
{
    pthread_mutex_lock(&h->thread.lock);
    while (h->finished == *seen && wait_until(h, until_ms))
        continue;
    const bool more = h->finished != *seen;
    *seen = h->finished;
    pthread_mutex_unlock(&h->thread.lock);
    return more;
}

bool hub_digest_queue_unread(struct hub_digest_queue *h, char *out, size_t size)
{
    pthread_mutex_lock(&h->thread.lock);
    snprintf(out, size, "%s", h->unread);
    pthread_mutex_unlock(&h->thread.lock);
    return *out;
}

void hub_digest_queue_jobs(struct hub_digest_queue *h, hub_scan_job_each each, void *user)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->thread.lock);
    if (h->current) {
        const struct hub_scan_job job = {.target = h->current,
                                         .running = true,
                                         .done = atomic_load_explicit(&h->hashed, memory_order_relaxed),
                                         .of = h->current_size,
                                         .started_ms = h->started_ms};
        each(user, &job);
    }
    for (unsigned i = h->count; i-- > 0;) {
        const struct hub_scan_job job = {.target = h->wanted[i].path, .of = h->wanted[i].stamp.size};
        each(user, &job);
    }
    pthread_mutex_unlock(&h->thread.lock);
}

void hub_digest_queue_want(struct hub_digest_queue *h, uint32_t root, const char *path,
                           const struct hub_stamp *stamp)
{
    struct hash_request w = {.root = root, .stamp = *stamp, .path = strdup(path)};
    if (!w.path)
        return;
    pthread_mutex_lock(&h->thread.lock);
    unsigned kept = 0;
    for (unsigned i = 0; i < h->count; i++) {
        const bool again = h->wanted[i].root == root && strcmp(h->wanted[i].path, path) == 0;
        if (again || (h->count == MAX_WANTED && i == 0))
            free(h->wanted[i].path); /* moved to the front; or the oldest makes room */
        else
            h->wanted[kept++] = h->wanted[i];
    }
    h->count = kept;
    h->wanted[h->count++] = w;
    pthread_cond_broadcast(&h->thread.wake);
    pthread_mutex_unlock(&h->thread.lock);
}
