/* The files of a folder that is pushed: see folder.h. */
#include "client/lib/folder.h"

#include "storage/ids/id.h"
#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { MAX_NAMES = 4 * 1000 * 1000, MAX_DEPTH = 64, PATH_BYTES = 2048 /* the hub takes fewer */ };

static enum hub_status wrong(const char *path, const char *why, struct hub_error *err)
{
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_UNSAFE_NAME, "'%.200s' cannot be pushed: %s", path, why);
}

static enum hub_status check_name(const char *name, const char *path, struct hub_error *err)
{
    if (strchr(name, '\\'))
        return wrong(path, "its name has a backslash; rename it", err);
    if (!hub_id_segment_safe(hub_view_of(name)))
        return wrong(path, "its name is not printable UTF-8; rename it", err);
    return strlen(path) < PATH_BYTES ? HUB_OK : wrong(path, "its path has more than 2,047 bytes", err);
}

static enum hub_status add(struct hub_folder *f, const char *path, uint64_t size, struct hub_error *err)
{
    return hub_remote_files_add(&f->files, path, size, NULL, err);
}

/* Where a link leads to: a file within the folder. */
static enum hub_status add_link(struct hub_folder *f, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    const enum hub_status opened = hub_fs_open_beneath(f->fd, path, O_RDONLY | O_NONBLOCK, 0, &fd, err);
    if (opened == HUB_DENIED && fd < 0)
        return wrong(path, "it is a link that leads out of the folder; copy the folder with cp -rL first",
                     err);
    if (opened)
        return opened == HUB_NOT_FOUND ? wrong(path, "it is a link to nothing; remove it", err) : opened;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return wrong(path, "it is a link to what is not a file; copy the folder with cp -rL first", err);
    return add(f, path, (uint64_t)st.st_size, err);
}

static enum hub_status walk(struct hub_folder *f, const char *folder, unsigned depth, struct hub_error *err);

static enum hub_status add_any(struct hub_folder *f, const char *path, unsigned depth, struct hub_error *err)
{
    struct stat st;
    if (fstatat(f->fd, path, &st, AT_SYMLINK_NOFOLLOW))
        return hub_fail_errno(err, errno, "'%s' cannot be read", path);
    if (S_ISREG(st.st_mode))
        return add(f, path, (uint64_t)st.st_size, err);
    if (S_ISLNK(st.st_mode))
        return add_link(f, path, err);
    if (!S_ISDIR(st.st_mode))
        return wrong(path, "it is neither a file nor a folder; move it away", err);
    return depth < MAX_DEPTH ? walk(f, path, depth + 1, err)
                             : wrong(path, "more than 64 folders lie in each other", err);
}

static enum hub_status leave_out(struct hub_folder *f, const char *name, const char *path,
                                 struct hub_error *err)
{
    struct hub_file_facts *none;
    return strncmp(name, ".minari-hub", 11) == 0
               ? HUB_OK
               : hub_remote_files_try(&f->files, hub_view_of(path), 1, &none, err);
}

static enum hub_status walk(struct hub_folder *f, const char *folder, unsigned depth, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(hub_fs_list(f->fd, *folder ? folder : ".", MAX_NAMES, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i].text;
        path.size = 0;
        HUB_TRY(hub_buf_addf(&path, err, "%s%s%s", folder, *folder ? "/" : "", name));
        if (hub_name_hidden(hub_view_of(name))) {
            HUB_TRY(leave_out(f, name, path.data, err));
            continue;
        }
        HUB_TRY(check_name(name, path.data, err));
        HUB_TRY(add_any(f, path.data, depth, err));
    }
    return HUB_OK;
}

/* ---- names that are one where case does not count ---- */

static int by_letters(const void *a, const void *b)
{
    return strcasecmp(*(const char *const *)a, *(const char *const *)b);
}

static enum hub_status check_twins(const struct hub_remote_files *files, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) const char **paths = NULL;
    HUB_TRY(hub_new(&paths, files->count + (size_t)1, sizeof *paths, err));
    for (uint32_t i = 0; i < files->count; i++)
        paths[i] = files->items[i].path;
    qsort(paths, files->count, sizeof *paths, by_letters);
    for (uint32_t i = 1; i < files->count; i++)
        if (strcasecmp(paths[i - 1], paths[i]) == 0)
            return hub_fail_as(
                err, HUB_INVALID, HUB_PROBLEM_UNSAFE_NAME,
                "'%.200s' and '%.200s' differ in the case of letters alone, and cannot be pushed "
                "together: rename one",
                paths[i - 1], paths[i]);
    return HUB_OK;
}

enum hub_status hub_folder_open(const char *path, struct hub_folder *out, struct hub_error *err)
{
    *out = HUB_FOLDER_INIT;
    out->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->fd < 0)
        return errno == ENOTDIR
                   ? hub_fail(err, HUB_INVALID, "'%s' is not a folder: name the folder of the dataset", path)
                   : hub_fail_errno(err, errno, "'%s' cannot be opened", path);
    HUB_TRY(walk(out, "", 0, err));
    HUB_TRY(hub_remote_files_finish(&out->files, err));
    if (!out->files.count)
        return hub_fail(err, HUB_INVALID, "'%s' has no file to push", path);
    return check_twins(&out->files, err);
}

void hub_folder_dispose(struct hub_folder *folder)
{
    hub_closep(&folder->fd);
    hub_remote_files_dispose(&folder->files);
    *folder = HUB_FOLDER_INIT;
}

enum hub_status hub_folder_file(const struct hub_folder *folder, uint32_t file, int *fd,
                                struct hub_error *err)
{
    const struct hub_file_facts *item = &folder->files.items[file];
    struct stat st;
    HUB_TRY(hub_fs_open_beneath(folder->fd, item->path, O_RDONLY | O_NONBLOCK, 0, fd, err));
    if (!fstat(*fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == item->size)
        return HUB_OK;
    close(*fd);
    *fd = -1;
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED,
                       "'%.200s' has changed since it was listed: %" PRIu64
                       " bytes then; run the same again when nobody writes to the folder",
                       item->path, item->size);
}
