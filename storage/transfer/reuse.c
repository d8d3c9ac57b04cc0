/* Links and copies of files that lie here: see reuse.h. */
#include "storage/transfer/reuse.h"

#include "storage/base/order.h"
#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW };

/* A file where it lies, by its folder. */
struct spot {
    int folder;
    const char *name;
};

static void release(struct spot *spot)
{
    hub_closep(&spot->folder);
}

static bool find(int directory, const char *path, struct spot *out)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    out->name = slash ? slash + 1 : path;
    snprintf(above, sizeof above, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (slash)
        return !hub_fs_open_beneath(directory, above, FOLDER, HUB_FS_NO_LINKS, &out->folder, NULL);
    out->folder = openat(directory, ".", FOLDER | O_CLOEXEC);
    return out->folder >= 0;
}

static bool copy_bytes(int from, int to, uint64_t size)
{
    if (ioctl(to, FICLONE, from) == 0)
        return true;
    while (size) {
        const ssize_t n = copy_file_range(from, NULL, to, NULL, size, 0);
        if (n <= 0)
            return false;
        size -= (uint64_t)n;
    }
    return true;
}

static bool copy(const struct spot *from, const struct spot *to, uint64_t size)
{
    HUB_CLEANUP(hub_closep) int in = openat(from->folder, from->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    HUB_CLEANUP(hub_closep)
    int out = openat(to->folder, to->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (in >= 0 && out >= 0 && copy_bytes(in, out, size))
        return true;
    if (out >= 0)
        (void)unlinkat(to->folder, to->name, 0);
    return false;
}

/* @return whether it is there now; `linked`: it is the very file, whose digest is known */
static bool take(const struct hub_reuse *have, const struct hub_file_facts *origin,
                 const struct hub_staging *s, const struct hub_file_facts *file, bool *linked)
{
    HUB_CLEANUP(release) struct spot from = {.folder = -1}, to = {.folder = -1};
    struct stat st;
    if (!find(have->directory, file->path, &from) ||
        fstatat(from.folder, from.name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
        return false;
    const int64_t modified_ns = (int64_t)hub_stamp_of(&st).mtime_ns;
    if ((uint64_t)st.st_size != file->size || modified_ns != origin->modified_ns || /* changed since, here */
        hub_staging_folder(s, file->path, NULL) || !find(s->tree, file->path, &to) ||
        (unlinkat(to.folder, to.name, 0) && errno != ENOENT))
        return false;
    /* two names of a file have one time; a repo's is that of its last commit, whatever changed */
    *linked = (!s->plan->timed || !file->modified_ns || file->modified_ns == modified_ns) &&
              linkat(from.folder, from.name, to.folder, to.name, 0) == 0;
    return *linked || copy(&from, &to, file->size);
}

void hub_reuse_take(const struct hub_reuse *have, struct hub_staging *s)
{
    for (uint32_t i = 0; i < s->plan->count; i++) {
        const struct hub_file_facts *file = &s->plan->items[i];
        bool linked = false;
        if (!s->files[i].missing || s->files[i].missing < s->files[i].segments)
            continue; /* begun already */
        const struct hub_file_facts *origin =
            bsearch(&file->path, have->files, have->count, sizeof *have->files, hub_by_text);
        if (!origin || !hub_file_same(origin, file) || !take(have, origin, s, file, &linked))
            continue;
        hub_staging_taken(s, i);
        if (linked) { /* verified when it came, by the digest that the remote still states */
            struct hub_sums *sums = &s->files[i].sums;
            hub_sums_dispose(sums);
            *sums = (struct hub_sums){.known = true, .has_sha256 = origin->has_sha256, .kind = file->other};
            memcpy(sums->sha256, origin->sha256, sizeof sums->sha256);
            memcpy(sums->other, file->sum, sizeof sums->other);
        }
    }
}
