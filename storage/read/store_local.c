/*
 * The local file store: recently used descriptors, found by (root, path) in a table of shards so that no lock
 * is shared by all requests. A descriptor counts for the stamp it was opened with: who expects another one
 * opens the file anew. Roots are opened by name each time, so that one that is mounted later is found.
 */
#include "storage/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHARDS = 16, DEFAULT_OPEN = 512 };

struct cached {
    struct hub_file file; /* first; one of its references is the cache's while it is in there */
    uint64_t hash;
    uint32_t root;
    struct cached *chain, *newer, *older; /* the cache's, under its shard's lock */
    char path[];
};

struct shard {
    pthread_mutex_t lock;
    struct cached **buckets;
    struct cached *newest, *oldest;
    uint32_t count;
};

struct hub_store {
    const struct hub_roots *roots;
    char *state;
    uint32_t bucket_count; /* of a shard, a power of two */
    uint32_t shard_limit;
    struct shard shards[SHARDS];
};

/* ---- the cache ---- */

static void put(struct cached *file)
{
    if (file)
        hub_file_put(&file->file);
}

static uint64_t hash_of(uint32_t root, const char *path)
{
    uint64_t h = hub_hash(HUB_HASH_START ^ root, path, strlen(path));
    h ^= h >> 32; /* shard and bucket take different bits */
    return h * UINT64_C(0x9E3779B97F4A7C15);
}

static struct shard *shard_of(struct hub_store *store, uint64_t hash)
{
    return &store->shards[hash >> 60];
}

static struct cached **bucket_of(const struct hub_store *store, const struct shard *shard, uint64_t hash)
{
    return &shard->buckets[(hash >> 28) & (store->bucket_count - 1)];
}

static struct cached *find(const struct hub_store *store, const struct shard *shard, uint64_t hash,
                           uint32_t root, const char *path)
{
    struct cached *file = *bucket_of(store, shard, hash);
    while (file && (file->hash != hash || file->root != root || strcmp(file->path, path) != 0))
        file = file->chain;
    return file;
}

static void unlink_age(struct shard *shard, struct cached *file)
{
    *(file->newer ? &file->newer->older : &shard->newest) = file->older;
    *(file->older ? &file->older->newer : &shard->oldest) = file->newer;
    file->newer = file->older = NULL;
}

static void make_newest(struct shard *shard, struct cached *file)
{
    file->older = shard->newest;
    file->newer = NULL;
    *(shard->newest ? &shard->newest->newer : &shard->oldest) = file;
    shard->newest = file;
}

/* Out of the cache; the caller gives up the cache's reference once the lock is released. */
static struct cached *take_out(struct hub_store *store, struct shard *shard, struct cached *file)
{
    if (!file)
        return NULL;
    struct cached **at = bucket_of(store, shard, file->hash);
    while (*at != file)
        at = &(*at)->chain;
    *at = file->chain;
    unlink_age(shard, file);
    shard->count--;
    return file;
}

static struct cached *hold(struct cached *file)
{
    atomic_fetch_add_explicit(&file->file.refs, 1, memory_order_relaxed);
    return file;
}

/* The cached file with this stamp. One with another stamp is stale or about to be asked for by nobody: it
 * goes. */
static struct cached *find_cached(struct hub_store *store, const struct hub_file_ref *ref, uint64_t hash)
{
    struct shard *shard = shard_of(store, hash);
    struct cached *found = NULL, *stale = NULL;
    pthread_mutex_lock(&shard->lock);
    struct cached *file = find(store, shard, hash, ref->root, ref->path);
    if (file && hub_stamp_equal(&file->file.stamp, ref->expect)) {
        if (file != shard->newest) {
            unlink_age(shard, file);
            make_newest(shard, file);
        }
        found = hold(file);
    } else {
        stale = take_out(store, shard, file);
    }
    pthread_mutex_unlock(&shard->lock);
    put(stale);
    return found;
}

/* Keep a file just opened; of two with one stamp that were opened at once, the first stays. Returns the one
 * to use. */
static struct cached *keep(struct hub_store *store, struct cached *file)
{
    struct shard *shard = shard_of(store, file->hash);
    struct cached *dropped[2] = {NULL, NULL}, *use = file;
    pthread_mutex_lock(&shard->lock);
    struct cached *there = find(store, shard, file->hash, file->root, file->path);
    if (there && hub_stamp_equal(&there->file.stamp, &file->file.stamp)) {
        use = hold(there);
        dropped[0] = file;
    } else {
        dropped[0] = take_out(store, shard, there);
        if (shard->count >= store->shard_limit)
            dropped[1] = take_out(store, shard, shard->oldest);
        struct cached **bucket = bucket_of(store, shard, file->hash);
        file->chain = *bucket;
        *bucket = hold(file);
        make_newest(shard, file);
        shard->count++;
    }
    pthread_mutex_unlock(&shard->lock);
    put(dropped[0]);
    put(dropped[1]);
    return use;
}

static void forget(struct hub_store *store, bool every_root, uint32_t root, const char *prefix)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct shard *shard = &store->shards[i];
        struct cached *dropped = NULL;
        pthread_mutex_lock(&shard->lock);
        for (struct cached *file = shard->newest, *next; file; file = next) {
            next = file->older;
            if (!every_root && (file->root != root || !hub_path_below(file->path, prefix)))
                continue;
            take_out(store, shard, file);
            file->chain = dropped;
            dropped = file;
        }
        pthread_mutex_unlock(&shard->lock);
        while (dropped) {
            struct cached *next = dropped->chain;
            put(dropped);
            dropped = next;
        }
    }
}

static void forget_below(struct hub_store *store, uint32_t root, const char *prefix)
{
    forget(store, false, root, prefix);
}

/* ---- opening ---- */

static enum hub_status open_once(const struct hub_store *store, const struct hub_file_ref *ref, int *fd,
                                 struct hub_error *err)
{
    if (ref->root != HUB_ROOT_STATE)
        return hub_roots_open(store->roots, ref->root, ref->path, O_RDONLY, fd, err);
    if (!store->state)
        return hub_fail(err, HUB_NOT_FOUND, "no state directory");
    return hub_open_below(store->state, ref->path, O_RDONLY, 0, fd, err);
}

static enum hub_status open_file(struct hub_store *store, const struct hub_file_ref *ref, int *fd,
                                 struct hub_error *err)
{
    errno = 0;
    enum hub_status st = open_once(store, ref, fd, err);
    if (st && (errno == EMFILE || errno == ENFILE)) {
        forget(store, true, 0, "");
        errno = 0;
        st = open_once(store, ref, fd, err);
        if (st && (errno == EMFILE || errno == ENFILE))
            return hub_fail_as(err, HUB_BUSY, "overloaded", "too many open files");
    }
    return st;
}

static enum hub_status new_file(const struct hub_file_ref *ref, uint64_t hash, int fd, struct cached **out,
                                struct hub_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return hub_fail_errno(err, errno, "'%s'", ref->path);
    if (!S_ISREG(st.st_mode))
        return hub_fail(err, HUB_DENIED, "'%s' is not a regular file", ref->path);
    struct hub_stamp stamp;
    HUB_TRY(hub_file_stamp_of(fd, ref->root == HUB_ROOT_STATE, ref->path, &stamp, err));
    if (ref->expect && !hub_stamp_equal(&stamp, ref->expect))
        return hub_file_changed(ref->path, err);
    struct cached *file = calloc(1, sizeof *file + strlen(ref->path) + 1);
    HUB_TRY(hub_allocated(file, err));
    memcpy(file->path, ref->path, strlen(ref->path) + 1);
    atomic_init(&file->file.refs, 1);
    file->file.fd = fd;
    file->file.sealed = ref->root == HUB_ROOT_STATE;
    file->file.stamp = stamp;
    file->file.path = file->path;
    file->hash = hash;
    file->root = ref->root;
    *out = file;
    return HUB_OK;
}

static enum hub_status get(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                           struct hub_error *err)
{
    const uint64_t hash = hash_of(ref->root, ref->path);
    struct cached *file = ref->expect ? find_cached(store, ref, hash) : NULL;
    if (!file && ref->if_open)
        return hub_fail(err, HUB_AGAIN, "'%s' is not open", ref->path);
    if (!file) {
        int fd = -1;
        HUB_TRY(open_file(store, ref, &fd, err));
        const enum hub_status st = new_file(ref, hash, fd, &file, err);
        if (st || !file) {
            close(fd);
            return st;
        }
        file = keep(store, file);
    }
    *out = &file->file;
    return HUB_OK;
}

/* ---- the store ---- */

static enum hub_status fill_store(struct hub_store *store, const struct hub_store_options *options,
                                  struct hub_error *err)
{
    store->roots = options->roots;
    store->state = options->state ? strdup(options->state) : NULL;
    if (options->state && !store->state)
        return hub_no_memory(err);
    store->shard_limit = ((options->max_open ? options->max_open : DEFAULT_OPEN) + SHARDS - 1) / SHARDS;
    store->bucket_count = 16;
    while (store->bucket_count < store->shard_limit && store->bucket_count < 1u << 16)
        store->bucket_count *= 2;
    for (unsigned i = 0; i < SHARDS; i++) {
        HUB_TRY(hub_new(&store->shards[i].buckets, store->bucket_count, sizeof(struct cached *), err));
    }
    return HUB_OK;
}

static void close_store(struct hub_store *store)
{
    forget(store, true, 0, "");
    for (unsigned i = 0; i < SHARDS; i++) {
        free(store->shards[i].buckets);
        pthread_mutex_destroy(&store->shards[i].lock);
    }
    free(store->state);
    free(store);
}

static enum hub_status open_store(const struct hub_store_options *options, struct hub_store **out,
                                  struct hub_error *err)
{
    struct hub_store *store = calloc(1, sizeof *store);
    HUB_TRY(hub_allocated(store, err));
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&store->shards[i].lock, NULL);
    const enum hub_status st = fill_store(store, options, err);
    if (st) {
        close_store(store);
        return st;
    }
    *out = store;
    return HUB_OK;
}

const struct hub_store_kind hub_store_local = {
    .in_place = true, .open = open_store, .close = close_store, .get = get, .forget = forget_below};
