/*
 * The local file store: recently used descriptors, found by (root, path) in a cache of shards so that no lock
 * is shared by all requests. A descriptor counts for the stamp it was opened with: who expects another one
 * opens the file again. Roots are opened by name each time, so that one that is mounted later is found.
 */
#include "storage/read/kept_file.h"
#include "storage/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEFAULT_OPEN = 512 };

struct local_file {
    struct hub_file file; /* first */
    char path[];
};

struct hub_store {
    const struct hub_roots *roots;
    char *state;
    struct hub_lru *open;             /* one counts as one byte */
    struct hub_store_options options; /* `admit` and its user */
};

/* ---- the cache ---- */

static struct hub_lru_key key_of(const struct hub_file_ref *ref)
{
    return (struct hub_lru_key){0, ref->root, hub_hash(HUB_HASH_START, ref->path, strlen(ref->path))};
}

static void opened_free(struct hub_lru_item *item)
{
    close(((struct hub_file *)item)->fd);
    free(item);
}

/* The open file with this stamp. One with another stamp is stale or about to be asked for by nobody: it
 * goes. */
static struct local_file *find(struct hub_store *store, const struct hub_file_ref *ref)
{
    const struct hub_lru_key key = key_of(ref);
    struct local_file *opened = (struct local_file *)hub_lru_get(store->open, &key);
    if (!opened ||
        (hub_stamp_equal(&opened->file.stamp, ref->expect) && strcmp(opened->path, ref->path) == 0))
        return opened;
    hub_lru_drop(store->open, &key);
    hub_file_put(&opened->file);
    return NULL;
}

static bool is_below(const struct hub_lru_item *item, const void *user)
{
    const struct hub_file_ref *folder = user;
    return item->key.a == folder->root &&
           hub_path_below(((const struct local_file *)item)->path, folder->path);
}

static void forget_below(struct hub_store *store, uint32_t root, const char *prefix)
{
    const struct hub_file_ref folder = {.root = root, .path = prefix};
    hub_lru_drop_where(store->open, is_below, &folder);
}

/* ---- opening ---- */

static enum hub_status open_once(const struct hub_store *store, const struct hub_file_ref *ref, int *fd,
                                 struct hub_error *err)
{
    if (ref->root != HUB_ROOT_STATE)
        return hub_roots_open(store->roots, ref->root, ref->path, O_RDONLY, fd, err);
    if (!store->state)
        return hub_fail(err, HUB_NOT_FOUND, "there is no state directory");
    return hub_open_below(store->state, ref->path, O_RDONLY, 0, fd, err);
}

static enum hub_status open_file(struct hub_store *store, const struct hub_file_ref *ref, int *fd,
                                 struct hub_error *err)
{
    errno = 0;
    enum hub_status st = open_once(store, ref, fd, err);
    if (st && (errno == EMFILE || errno == ENFILE)) {
        hub_lru_make_room(store->open, SIZE_MAX);
        errno = 0;
        st = open_once(store, ref, fd, err);
        if (st && (errno == EMFILE || errno == ENFILE))
            return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "too many open files");
    }
    return st;
}

static enum hub_status new_file(const struct hub_file_ref *ref, int fd, struct local_file **out,
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
    struct local_file *opened = calloc(1, sizeof *opened + strlen(ref->path) + 1);
    HUB_TRY(hub_allocated(opened, err));
    strcpy(opened->path, ref->path);
    opened->file.item.key = key_of(ref);
    opened->file.item.bytes = 1;
    opened->file.item.free = opened_free;
    atomic_init(&opened->file.item.refs, 1);
    opened->file.fd = fd;
    opened->file.sealed = ref->root == HUB_ROOT_STATE;
    opened->file.stamp = stamp;
    opened->file.path = opened->path;
    *out = opened;
    return HUB_OK;
}

static enum hub_status admit(const struct hub_store *store, const struct hub_file_ref *ref,
                             const struct hub_stamp *stamp, struct hub_error *err)
{
    return store->options.admit && ref->root != HUB_ROOT_STATE
               ? store->options.admit(store->options.user, ref->root, ref->path, stamp, err)
               : HUB_OK;
}

/* Where another revision has taken the place of a dataset since its state was found out, the file lies among
 * those that are kept. */
static enum hub_status open_new(struct hub_store *store, const struct hub_file_ref *ref,
                                struct local_file **opened, struct hub_error *err)
{
    int fd = -1;
    enum hub_status st = open_file(store, ref, &fd, err);
    if (!st)
        st = new_file(ref, fd, opened, err);
    if ((st == HUB_CHANGED || st == HUB_NOT_FOUND) && ref->expect && ref->root != HUB_ROOT_STATE) {
        hub_closep(&fd);
        fd = -1;
        if (hub_kept_file_open(store->roots, ref->root, ref->path, ref->expect, &fd) == HUB_OK)
            st = new_file(ref, fd, opened, err);
    }
    if (st || !*opened)
        hub_closep(&fd);
    return st;
}

static enum hub_status get(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                           struct hub_error *err)
{
    struct local_file *opened = ref->expect ? find(store, ref) : NULL;
    if (!opened && ref->if_open)
        return hub_fail(err, HUB_AGAIN, "'%s' is not open", ref->path);
    if (!opened) {
        const enum hub_status st = open_new(store, ref, &opened, err);
        if (st || !opened)
            return st;
        hub_lru_replace(store->open, &opened->file.item);
    }
    const enum hub_status st = admit(store, ref, &opened->file.stamp, err);
    if (st) {
        hub_file_put(&opened->file);
        return st;
    }
    *out = &opened->file;
    return HUB_OK;
}

/* ---- the store ---- */

static void close_store(struct hub_store *store)
{
    hub_lru_free(store->open);
    free(store->state);
    free(store);
}

static enum hub_status open_store(const struct hub_store_options *options, struct hub_store **out,
                                  struct hub_error *err)
{
    struct hub_store *store = calloc(1, sizeof *store);
    HUB_TRY(hub_allocated(store, err));
    store->roots = options->roots;
    store->options = *options;
    store->state = options->state ? strdup(options->state) : NULL;
    enum hub_status st = hub_allocated(store->state || !options->state, err);
    if (!st)
        st = hub_lru_new(options->max_open ? options->max_open : DEFAULT_OPEN, &store->open, err);
    if (st) {
        close_store(store);
        return st;
    }
    *out = store;
    return HUB_OK;
}

const struct hub_store_kind hub_store_local = {
    .in_place = true, .open = open_store, .close = close_store, .get = get, .forget = forget_below};
