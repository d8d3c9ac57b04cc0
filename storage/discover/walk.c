/* Listing directories beneath the roots: see walk.h. */
#include "storage/discover/walk.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/io/credentials.h"
#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_NAMES_BYTES (256 * MIB)

bool hub_walk_stopped(const struct hub_walk *walk)
{
    return walk->stop && atomic_load(walk->stop);
}

/* ---- one directory ---- */

void hub_listing_dispose(struct hub_listing *listing)
{
    free(listing->entries);
    free(listing->names);
    free(listing->leaving);
    free(listing->withheld);
    *listing = (struct hub_listing){0};
}

/* Is a link followed, and does its end have a name of its own below a root, where the walk meets it
 * anyway? */
static enum hub_status follow_link(const struct hub_walk *walk, uint32_t root, const char *path,
                                   const char *name, bool *elsewhere)
{
    HUB_CLEANUP(hub_freep) char *joined = hub_path_join(path, name);
    HUB_CLEANUP(hub_freep) char *real = NULL;
    if (!joined)
        return HUB_NO_MEMORY;
    const enum hub_status st = hub_roots_real(walk->roots, root, joined, &real, NULL);
    if (walk->linked)
        walk->linked(walk->user, root, joined, st ? NULL : real);
    if (st || !real)
        return st;
    const char *below = hub_roots_below(walk->roots, real);
    *elsewhere = below && !hub_path_hidden(hub_view_of(below));
    return HUB_OK;
}

/* Names of directories and regular files are put one after another into `names`; the entries point there at
 * the end. */
struct directory_reader {
    const struct hub_walk *walk;
    uint32_t root;
    const char *path;
    struct hub_listing *out;
    struct hub_buf names, entries, leaving, withheld;
};

struct hub_entry hub_entry_of(const char *name, const struct stat *st)
{
    return (struct hub_entry){.name = name,
                              .directory = S_ISDIR(st->st_mode),
                              .stamp = hub_stamp_of(st),
                              .ctime_ns = hub_stat_is_owned(st) ? 0 : hub_ctime_ns(st),
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

static enum hub_status read_entry(struct directory_reader *r, int fd, const struct dirent *d,
                                  struct hub_error *err)
{
    struct stat st;
    if (hub_name_hidden(hub_view_of(d->d_name)) || fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW))
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
    if (S_ISREG(st.st_mode) && hub_credentials_in(fd, d->d_name))
        return hub_buf_add(&r->withheld, d->d_name, strlen(d->d_name) + 1, err);
    struct hub_entry entry = hub_entry_of(NULL, &st);
    entry.link = link;
    entry.elsewhere = elsewhere && entry.directory;
    HUB_TRY(hub_buf_add(&r->names, d->d_name, strlen(d->d_name) + 1, err));
    HUB_TRY(hub_buf_add(&r->entries, &entry, sizeof entry, err));
    return ++r->out->count > HUB_MAX_LISTED
               ? hub_fail(err, HUB_TOO_BIG, "%s has more than %d entries", r->path, HUB_MAX_LISTED)
               : HUB_OK;
}

const struct hub_entry *hub_listing_find(const struct hub_listing *listing, const char *name)
{
    return listing->count
               ? bsearch(&name, listing->entries, listing->count, sizeof *listing->entries, hub_by_text)
               : NULL;
}

static enum hub_status read_all(struct directory_reader *r, DIR *dir, struct hub_error *err)
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
    if (r->withheld.size)
        out->withheld = hub_buf_take(&r->withheld, NULL);
    out->names = hub_buf_take(&r->names, NULL);
    out->entries = (struct hub_entry *)(void *)hub_buf_take(&r->entries, NULL);
    const char *name = out->names; /* they were put down in the same order */
    for (uint32_t i = 0; i < out->count; i++) {
        out->entries[i].name = name;
        name += strlen(name) + 1;
    }
    if (out->count)
        qsort(out->entries, out->count, sizeof *out->entries, hub_by_text);
    return HUB_OK;
}

enum hub_status hub_walk_list(const struct hub_walk *walk, uint32_t root, const char *path,
                              struct hub_listing *out, struct hub_error *err)
{
    struct directory_reader r = {walk,
                                 root,
                                 path,
                                 out,
                                 HUB_BUF_INIT(MAX_NAMES_BYTES),
                                 HUB_BUF_INIT(MAX_NAMES_BYTES),
                                 HUB_BUF_INIT(MAX_NAMES_BYTES),
                                 HUB_BUF_INIT(MAX_NAMES_BYTES)};
    int fd = -1;
    *out = (struct hub_listing){0};
    HUB_TRY(hub_roots_open(walk->roots, root, path, O_RDONLY | O_DIRECTORY, &fd, err));
    if (walk->opened)
        walk->opened(walk->user, root, path, fd);
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return hub_no_memory(err);
    }
    enum hub_status st = read_all(&r, dir, err);
    if (!st && hub_walk_stopped(walk))
        st = hub_fail(err, HUB_CANCELLED, "stopped");
    closedir(dir);
    hub_buf_dispose(&r.names);
    hub_buf_dispose(&r.entries);
    hub_buf_dispose(&r.leaving);
    hub_buf_dispose(&r.withheld);
    if (st)
        hub_listing_dispose(out);
    return st;
}
