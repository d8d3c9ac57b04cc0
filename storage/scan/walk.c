/* Listing and opening beneath the roots: see walk.h. */
#include "storage/scan/walk.h"

#include "storage/base/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_NAMES_BYTES (256 * MIB)

char *hub_walk_join(const char *directory, const char *name)
{
    const size_t a = strlen(directory), b = strlen(name), slash = a && b;
    char *joined = malloc(a + slash + b + 1);
    if (!joined)
        return NULL;
    memcpy(joined, directory, a);
    if (slash)
        joined[a] = '/';
    memcpy(joined + a + slash, name, b + 1);
    return joined;
}

static enum hub_status no_memory(struct hub_error *err)
{
    return hub_fail(err, HUB_NO_MEMORY, "no memory to walk the roots");
}

/* ---- roots ---- */

enum hub_status hub_walk_init(struct hub_walk *walk, const char *const *roots, uint32_t root_count,
                              const char *const *allowed, uint32_t allowed_count, struct hub_error *err)
{
    *walk = (struct hub_walk){.root_count = root_count};
    walk->roots = calloc(root_count + (size_t)1, sizeof *walk->roots);
    walk->bases = calloc((size_t)root_count + allowed_count + 1, sizeof *walk->bases);
    if (!walk->roots || !walk->bases) {
        walk->root_count = 0;
        return no_memory(err);
    }
    for (uint32_t i = 0; i < root_count; i++) {
        walk->roots[i] = strdup(roots[i]);
        if (!walk->roots[i])
            return no_memory(err);
    }
    for (uint32_t i = 0; i < root_count + allowed_count; i++) {
        walk->bases[walk->base_count] = realpath(i < root_count ? roots[i] : allowed[i - root_count], NULL);
        walk->base_count += walk->bases[walk->base_count] != NULL;
    }
    return HUB_OK;
}

void hub_walk_dispose(struct hub_walk *walk)
{
    for (uint32_t i = 0; i < walk->root_count; i++)
        free(walk->roots[i]);
    for (uint32_t i = 0; i < walk->base_count; i++)
        free(walk->bases[i]);
    free(walk->roots);
    free(walk->bases);
    *walk = (struct hub_walk){0};
}

static bool beneath(const char *path, const char *base)
{
    const size_t n = strlen(base);
    return strncmp(path, base, n) == 0 && (path[n] == '\0' || path[n] == '/' || (n && base[n - 1] == '/'));
}

/* Where a path with links really is, if that is allowed. */
static enum hub_status resolve(const struct hub_walk *walk, uint32_t root, const char *path, char **out,
                               const char **base, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *full = hub_walk_join(walk->roots[root], path);
    if (!full)
        return no_memory(err);
    HUB_CLEANUP(hub_freep) char *real = realpath(full, NULL);
    if (!real)
        return hub_fail_errno(err, errno, "%s", path);
    for (uint32_t i = 0; i < walk->base_count; i++) {
        if (!beneath(real, walk->bases[i]))
            continue;
        *out = real;
        *base = walk->bases[i];
        real = NULL;
        return HUB_OK;
    }
    return hub_fail(err, HUB_DENIED, "%s is a link that leaves the roots", path);
}

enum hub_status hub_walk_open(const struct hub_walk *walk, uint32_t root, const char *path, int flags,
                              int *fd, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *real = NULL;
    HUB_CLEANUP(hub_closep) const int at = open(walk->roots[root], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0) /* opened anew each time: it may be mounted later */
        return hub_fail_errno(err, errno, "the root %s", walk->roots[root]);
    const enum hub_status st = hub_fs_open_beneath(at, path, flags | O_NONBLOCK | O_NOCTTY, 0, fd, err);
    if (st != HUB_DENIED)
        return st;
    const char *base;
    HUB_TRY(resolve(walk, root, path, &real, &base, err));
    /* nothing is followed any more: what was resolved is what is opened */
    HUB_CLEANUP(hub_closep) const int beneath_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (beneath_fd < 0)
        return hub_fail_errno(err, errno, "%s", path);
    const char *rest = real + strlen(base);
    rest += strspn(rest, "/");
    return hub_fs_open_beneath(beneath_fd, rest, flags | O_NONBLOCK | O_NOCTTY, HUB_FS_NO_LINKS, fd, err);
}

/* ---- one directory ---- */

void hub_listing_dispose(struct hub_listing *listing)
{
    free(listing->entries);
    free(listing->names);
    free(listing->leaving);
    *listing = (struct hub_listing){0};
}

static enum hub_status allowed_link(const struct hub_walk *walk, uint32_t root, const char *path,
                                    const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *joined = hub_walk_join(path, name);
    HUB_CLEANUP(hub_freep) char *real = NULL;
    const char *base;
    return joined ? resolve(walk, root, joined, &real, &base, err) : no_memory(err);
}

/* Names of directories and regular files are put one after another into `names`; the entries point there at
 * the end. */
struct reading {
    const struct hub_walk *walk;
    uint32_t root;
    const char *path;
    struct hub_listing *out;
    struct hub_buf names, entries, leaving;
};

static struct hub_entry entry_of(const char *name, const struct stat *st)
{
    return (struct hub_entry){.name = name,
                              .directory = S_ISDIR(st->st_mode),
                              .stamp = hub_stamp_of(st),
                              .ctime_ns = hub_ctime_ns(st),
                              .device = (uint64_t)st->st_dev,
                              .inode = (uint64_t)st->st_ino};
}

static enum hub_status read_entry(struct reading *r, int fd, const struct dirent *d, struct hub_error *err)
{
    struct stat st;
    if (d->d_name[0] == '.' || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
        return HUB_OK; /* gone meanwhile */
    if (S_ISLNK(st.st_mode)) {
        if (allowed_link(r->walk, r->root, r->path, d->d_name, NULL))
            return hub_buf_add(&r->leaving, d->d_name, strlen(d->d_name) + 1, err);
        if (fstatat(fd, d->d_name, &st, 0))
            return HUB_OK;
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return HUB_OK;
    const struct hub_entry entry = entry_of(NULL, &st);
    HUB_TRY(hub_buf_add(&r->names, d->d_name, strlen(d->d_name) + 1, err));
    HUB_TRY(hub_buf_add(&r->entries, &entry, sizeof entry, err));
    return ++r->out->count > HUB_MAX_LISTED
               ? hub_fail(err, HUB_TOO_BIG, "%s has more than %d entries", r->path, HUB_MAX_LISTED)
               : HUB_OK;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct hub_entry *)a)->name, ((const struct hub_entry *)b)->name);
}

static enum hub_status read_all(struct reading *r, DIR *dir, struct hub_error *err)
{
    const struct dirent *d;
    struct stat st;
    if (fstat(dirfd(dir), &st))
        return hub_fail_errno(err, errno, "%s", r->path);
    r->out->device = (uint64_t)st.st_dev;
    r->out->inode = (uint64_t)st.st_ino;
    while ((d = readdir(dir)))
        HUB_TRY(read_entry(r, dirfd(dir), d, err));
    struct hub_listing *out = r->out;
    if (r->leaving.size) /* the buffer ends in a NUL of its own: the empty name */
        out->leaving = hub_buf_take(&r->leaving, NULL);
    out->names = hub_buf_take(&r->names, NULL);
    out->entries = (struct hub_entry *)(void *)hub_buf_take(&r->entries, NULL);
    const char *name = out->names; /* they were put down in the same order */
    for (uint32_t i = 0; i < out->count; i++) {
        out->entries[i].name = name;
        name += strlen(name) + 1;
    }
    if (out->count)
        qsort(out->entries, out->count, sizeof *out->entries, compare_entries);
    return HUB_OK;
}

enum hub_status hub_walk_list(const struct hub_walk *walk, uint32_t root, const char *path,
                              struct hub_listing *out, struct hub_error *err)
{
    struct reading r = {walk,
                        root,
                        path,
                        out,
                        HUB_BUF_INIT(MAX_NAMES_BYTES),
                        HUB_BUF_INIT(MAX_NAMES_BYTES),
                        HUB_BUF_INIT(MAX_NAMES_BYTES)};
    int fd = -1;
    *out = (struct hub_listing){0};
    HUB_TRY(hub_walk_open(walk, root, path, O_RDONLY | O_DIRECTORY, &fd, err));
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return no_memory(err);
    }
    const enum hub_status st = read_all(&r, dir, err);
    closedir(dir);
    hub_buf_dispose(&r.names);
    hub_buf_dispose(&r.entries);
    hub_buf_dispose(&r.leaving);
    if (st)
        hub_listing_dispose(out);
    return st;
}

/* ---- all files of a dataset ---- */

void hub_fileset_dispose(struct hub_fileset *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        free((void *)set->files[i].path);
    free(set->files);
    free(set->leaving);
    *set = (struct hub_fileset){0};
}

static uint64_t past(uint64_t time_ns, uint64_t now_ns)
{
    return time_ns <= now_ns ? time_ns : 0;
}

static uint64_t newest_of(const struct hub_entry *entry)
{
    const uint64_t now_ns = (uint64_t)hub_time_now_ns();
    return HUB_MAX(past(entry->stamp.mtime_ns, now_ns), past(entry->ctime_ns, now_ns));
}

enum hub_status hub_fileset_add(struct hub_fileset *set, const char *prefix, const struct hub_entry *entry,
                                struct hub_error *err)
{
    if (set->count == HUB_MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "a dataset of more than %d files", HUB_MAX_FILES);
    if (set->count == set->capacity) {
        const uint32_t capacity = set->capacity ? set->capacity * 2 : 8;
        struct hub_ds_file *files = realloc(set->files, capacity * sizeof *files);
        if (!files)
            return no_memory(err);
        set->files = files;
        set->capacity = capacity;
    }
    char *path = hub_walk_join(prefix, entry->name);
    if (!path)
        return no_memory(err);
    set->files[set->count++] = (struct hub_ds_file){path, entry->stamp};
    set->newest_ns = HUB_MAX(set->newest_ns, newest_of(entry));
    return HUB_OK;
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const struct hub_ds_file *)a)->path, ((const struct hub_ds_file *)b)->path);
}

void hub_fileset_sort(struct hub_fileset *set)
{
    if (set->count)
        qsort(set->files, set->count, sizeof *set->files, compare_files);
}

/* The directories above the one being read, to notice a link that leads back up. */
struct above {
    const struct above *up;
    uint64_t device, inode;
};

static bool is_above(const struct above *above, const struct hub_entry *entry)
{
    for (; above; above = above->up)
        if (above->device == entry->device && above->inode == entry->inode)
            return true;
    return false;
}

static enum hub_status collect(const struct hub_walk *walk, uint32_t root, const char *top, const char *below,
                               const struct above *up, unsigned depth, struct hub_fileset *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing listing = {0};
    HUB_CLEANUP(hub_freep) char *path = hub_walk_join(top, below);
    if (!path)
        return no_memory(err);
    if (depth > HUB_MAX_DEPTH)
        return hub_fail(err, HUB_TOO_BIG, "%s is more than %d levels deep", path, HUB_MAX_DEPTH);
    HUB_TRY(hub_walk_list(walk, root, path, &listing, err));
    const struct above here = {up, listing.device, listing.inode};
    if (listing.leaving && !out->leaving)
        out->leaving = hub_walk_join(below, listing.leaving);
    for (uint32_t i = 0; i < listing.count; i++) {
        const struct hub_entry *e = &listing.entries[i];
        if (!e->directory) {
            HUB_TRY(hub_fileset_add(out, below, e, err));
            continue;
        }
        if (is_above(&here, e))
            continue;
        HUB_CLEANUP(hub_freep) char *next = hub_walk_join(below, e->name);
        if (!next)
            return no_memory(err);
        const enum hub_status st = collect(walk, root, top, next, &here, depth + 1, out, err);
        if (st && st != HUB_NOT_FOUND &&
            st != HUB_DENIED) /* gone, or not ours to read: its files are not there then */
            return st;
    }
    return HUB_OK;
}

enum hub_status hub_walk_collect(const struct hub_walk *walk, uint32_t root, const char *path,
                                 struct hub_fileset *out, struct hub_error *err)
{
    *out = (struct hub_fileset){0};
    const enum hub_status st = collect(walk, root, path, "", NULL, 0, out, err);
    if (st)
        hub_fileset_dispose(out);
    else
        hub_fileset_sort(out);
    return st;
}

enum hub_status hub_walk_restat(const struct hub_walk *walk, uint32_t root, const char *path,
                                const struct hub_fileset *of, struct hub_fileset *out, struct hub_error *err)
{
    *out = (struct hub_fileset){0};
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; i < of->count && !st; i++) {
        HUB_CLEANUP(hub_freep) char *full = hub_walk_join(path, of->files[i].path);
        HUB_CLEANUP(hub_closep) int fd = -1;
        struct stat now;
        st = full ? hub_walk_open(walk, root, full, O_PATH, &fd, err) : no_memory(err);
        if (!st && fstat(fd, &now))
            st = hub_fail_errno(err, errno, "%s", full);
        if (!st) {
            const struct hub_entry entry = entry_of(of->files[i].path, &now);
            st = hub_fileset_add(out, "", &entry, err);
        }
    }
    if (st)
        hub_fileset_dispose(out);
    return st;
}
