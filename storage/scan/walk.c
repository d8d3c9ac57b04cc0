/* Listing and opening beneath the roots: see walk.h. */
#include "storage/scan/walk.h"

#include "storage/base/fs.h"
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
    *walk = (struct hub_walk){.root_count = root_count, .max_directories = HUB_MAX_DIRECTORIES};
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
        walk->root_bases = i < root_count ? walk->base_count : walk->root_bases;
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

bool hub_walk_stopped(const struct hub_walk *walk)
{
    return walk->stop && atomic_load(walk->stop);
}

static bool beneath(const char *path, const char *base)
{
    const size_t n = strlen(base);
    return strncmp(path, base, n) == 0 && (path[n] == '\0' || path[n] == '/' || (n && base[n - 1] == '/'));
}

/* It is known under which user the hub may not: the first thing to look at. */
static enum hub_status not_permitted(struct hub_error *err, const char *path)
{
    char user[HUB_USER_BYTES];
    hub_fs_user(user);
    return hub_fail(err, HUB_DENIED, "%s%spermission denied (the hub runs as %s)", path, *path ? ": " : "",
                    user);
}

/* Where a path with links really is, if that is allowed. */
static enum hub_status resolve(const struct hub_walk *walk, uint32_t root, const char *path, char **out,
                               uint32_t *base, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *full = hub_walk_join(walk->roots[root], path);
    if (!full)
        return no_memory(err);
    HUB_CLEANUP(hub_freep) char *real = realpath(full, NULL);
    if (!real)
        return errno == EACCES ? not_permitted(err, path) : hub_fail_errno(err, errno, "%s", path);
    for (uint32_t i = 0; i < walk->base_count; i++) {
        if (!beneath(real, walk->bases[i]))
            continue;
        *out = real;
        *base = i;
        real = NULL;
        return HUB_OK;
    }
    return hub_fail(err, HUB_DENIED, "%s is a link that leaves the roots", path);
}

enum hub_status hub_walk_real(const struct hub_walk *walk, uint32_t root, const char *path, char **out,
                              struct hub_error *err)
{
    uint32_t base;
    return resolve(walk, root, path, out, &base, err);
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
    uint32_t number;
    HUB_TRY(resolve(walk, root, path, &real, &number, err));
    const char *base = walk->bases[number];
    /* nothing is followed any more: what was resolved is what is opened */
    HUB_CLEANUP(hub_closep) const int beneath_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (beneath_fd < 0)
        return hub_fail_errno(err, errno, "%s", path);
    const char *rest = real + strlen(base);
    rest += strspn(rest, "/");
    const enum hub_status again =
        hub_fs_open_beneath(beneath_fd, rest, flags | O_NONBLOCK | O_NOCTTY, HUB_FS_NO_LINKS, fd, err);
    return again == HUB_DENIED ? not_permitted(err, path) : again;
}

/* ---- one directory ---- */

void hub_listing_dispose(struct hub_listing *listing)
{
    free(listing->entries);
    free(listing->names);
    free(listing->leaving);
    *listing = (struct hub_listing){0};
}

/* Is a link followed, and does its end have a name of its own below a root, where the walk meets it anyway?
 */
static enum hub_status follow_link(const struct hub_walk *walk, uint32_t root, const char *path,
                                   const char *name, bool *elsewhere)
{
    HUB_CLEANUP(hub_freep) char *joined = hub_walk_join(path, name);
    HUB_CLEANUP(hub_freep) char *real = NULL;
    uint32_t base = 0;
    if (!joined)
        return HUB_NO_MEMORY;
    const enum hub_status st = resolve(walk, root, joined, &real, &base, NULL);
    if (st || !real)
        return st;
    const char *rest = real + strlen(walk->bases[base]);
    *elsewhere = base < walk->root_bases && rest[0] != '.' && !strstr(rest, "/.");
    return HUB_OK;
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

struct hub_entry hub_entry_of(const char *name, const struct stat *st)
{
    return (struct hub_entry){.name = name,
                              .directory = S_ISDIR(st->st_mode),
                              .stamp = hub_stamp_of(st),
                              .ctime_ns = hub_ctime_ns(st),
                              .device = (uint64_t)st->st_dev,
                              .inode = (uint64_t)st->st_ino};
}

static uint64_t past(uint64_t time_ns, uint64_t now_ns)
{
    return time_ns <= now_ns ? time_ns : 0;
}

uint64_t hub_entry_newest_ns(const struct hub_entry *entry)
{
    const uint64_t now_ns = (uint64_t)hub_time_now_ns();
    return HUB_MAX(past(entry->stamp.mtime_ns, now_ns), past(entry->ctime_ns, now_ns));
}

static enum hub_status read_entry(struct reading *r, int fd, const struct dirent *d, struct hub_error *err)
{
    struct stat st;
    if (d->d_name[0] == '.' || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
        return HUB_OK; /* gone meanwhile */
    const bool link = S_ISLNK(st.st_mode);
    bool elsewhere = false;
    if (link) {
        if (follow_link(r->walk, r->root, r->path, d->d_name, &elsewhere))
            return hub_buf_add(&r->leaving, d->d_name, strlen(d->d_name) + 1, err);
        if (fstatat(fd, d->d_name, &st, 0))
            return HUB_OK;
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return HUB_OK;
    struct hub_entry entry = hub_entry_of(NULL, &st);
    entry.link = link;
    entry.elsewhere = elsewhere && entry.directory;
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

const struct hub_entry *hub_listing_find(const struct hub_listing *listing, const char *name)
{
    const struct hub_entry wanted = {.name = name};
    return listing->count ? bsearch(&wanted, listing->entries, listing->count, sizeof wanted, compare_entries)
                          : NULL;
}

static enum hub_status read_all(struct reading *r, DIR *dir, struct hub_error *err)
{
    const struct dirent *d;
    struct stat st;
    if (fstat(dirfd(dir), &st))
        return hub_fail_errno(err, errno, "%s", r->path);
    r->out->device = (uint64_t)st.st_dev;
    r->out->inode = (uint64_t)st.st_ino;
    const struct hub_entry self = hub_entry_of(NULL, &st);
    r->out->newest_ns = hub_entry_newest_ns(&self);
    while ((d = readdir(dir)) && !hub_walk_stopped(r->walk))
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
    enum hub_status st = read_all(&r, dir, err);
    if (!st && hub_walk_stopped(walk))
        st = hub_fail(err, HUB_CANCELLED, "stopped");
    closedir(dir);
    hub_buf_dispose(&r.names);
    hub_buf_dispose(&r.entries);
    hub_buf_dispose(&r.leaving);
    if (st)
        hub_listing_dispose(out);
    return st;
}
