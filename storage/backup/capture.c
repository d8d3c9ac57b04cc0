/* One dataset: see capture.h. Its folder is opened once, so that a dataset that is replaced meanwhile is
 * captured as it was, or has a problem. */
#include "storage/backup/capture.h"

#include "storage/backup/place.h"
#include "storage/ids/revision.h"
#include "storage/transfer/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_BYTES = 1024 * 1024 * 1024 };

/* ---- where it lies ---- */

static bool has_record(const struct hub_root *root, const char *path)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    return hub_open_below(root->path, path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &fd, NULL) == HUB_OK &&
           faccessat(fd, HUB_RECORD_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static enum hub_status set_place(struct hub_backup_set *set, const struct hub_root *root, const char *path,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *key = NULL;
    HUB_TRY(hub_dup(&key, hub_root_key(root), err));
    free(set->path);
    set->path = NULL;
    HUB_TRY(hub_dup(&set->path, path, err));
    free(set->root);
    set->root = key;
    key = NULL;
    return HUB_OK;
}

enum hub_status hub_capture_place(const struct hub_roots *roots, struct hub_backup_set *set,
                                  struct hub_error *err)
{
    if (set->kept || hub_roots_number(roots, set->root) < roots->count)
        return HUB_OK;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        const char *path = root->name ? hub_path_below(set->id, root->name) : set->id;
        if (path && *path && has_record(root, path))
            return set_place(set, root, path, err);
    }
    return HUB_OK;
}

/* ---- problems ---- */

static enum hub_status note(struct hub_backup_set *set, struct hub_error *err, const char *fmt, ...)
    HUB_PRINTF(3, 4);
static enum hub_status note(struct hub_backup_set *set, struct hub_error *err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    free(set->problem);
    const int n = vasprintf(&set->problem, fmt, args);
    va_end(args);
    if (n < 0)
        set->problem = NULL;
    return hub_allocated(n >= 0, err);
}

bool hub_capture_is_problem(enum hub_status st)
{
    return st == HUB_NOT_FOUND || st == HUB_CHANGED || st == HUB_CORRUPT || st == HUB_DENIED || st == HUB_IO;
}

/* ---- listing ---- */

static enum hub_status add_record(int folder, struct hub_backup_set *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(RECORD_BYTES);
    uint8_t sha256[HUB_DIGEST_MAX];
    HUB_TRY(hub_fs_read(folder, HUB_RECORD_FILE, &text, err));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), sha256, err));
    struct hub_file_facts *more = realloc(set->files, (set->count + 1) * sizeof *more);
    HUB_TRY(hub_allocated(more, err));
    set->files = more;
    memmove(more + 1, more, set->count * sizeof *more);
    more[0] = (struct hub_file_facts){.path = strdup(HUB_RECORD_FILE), .size = text.size, .has_sha256 = true};
    memcpy(more[0].sha256, sha256, HUB_SHA256_BYTES);
    set->count++;
    return hub_allocated(more[0].path, err);
}

static enum hub_status list_files(int folder, struct hub_backup_set *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    HUB_TRY(hub_record_read(path, &record, err));
    for (size_t i = 0; set->files && i < set->count; i++)
        hub_file_facts_dispose(&set->files[i]);
    free(set->files);
    set->files = record.files;
    set->count = record.count;
    record.files = NULL;
    record.count = 0;
    return add_record(folder, set, err);
}

/* ---- its files ---- */

static enum hub_status open_file(int folder, struct hub_file_facts *file, int *fd, struct hub_error *err)
{
    struct stat st;
    HUB_TRY(hub_fs_open_beneath(folder, file->path, O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, fd, err));
    if (fstat(*fd, &st))
        return hub_fail_errno(err, errno, "'%s'", file->path);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != file->size)
        return hub_fail(err, HUB_CHANGED, "it is not what its record says");
    file->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return HUB_OK;
}

static enum hub_status take_file(int folder, struct hub_backup_objects *objects, struct hub_file_facts *file,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(open_file(folder, file, &fd, err));
    if (!objects)
        return HUB_OK;
    HUB_TRY(hub_backup_objects_put(objects, fd, file->size, file->has_sha256, file->sha256, err));
    file->has_sha256 = true;
    return HUB_OK;
}

static enum hub_status take_files(int folder, struct hub_backup_objects *objects, struct hub_backup_set *set,
                                  struct hub_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        struct hub_error why = {0};
        const enum hub_status st = take_file(folder, objects, &set->files[i], &why);
        if (st && !hub_capture_is_problem(st))
            return hub_pass(st, &why, err);
        if (st == HUB_NOT_FOUND)
            return note(set, err, "'%s' is missing", set->files[i].path);
        if (st)
            return note(set, err, "'%s': %s", set->files[i].path, why.detail);
    }
    return HUB_OK;
}

enum hub_status hub_capture(const struct hub_roots *roots, struct hub_backup_objects *objects,
                            struct hub_backup_set *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int folder = -1;
    struct hub_error why = {0};
    const uint32_t root = hub_roots_number(roots, set->root);
    HUB_TRY(note(set, err, "%s", ""));
    if (root >= roots->count)
        return *set->root ? note(set, err, "its root '%s' is not served", set->root)
                          : note(set, err, "no root has a folder of it");
    enum hub_status st = hub_backup_set_open(&roots->roots[root], set, &folder, &why);
    if (!st)
        st = list_files(folder, set, &why);
    if (st)
        return hub_capture_is_problem(st) ? note(set, err, "it has no readable record (%s)", why.detail)
                                          : hub_pass(st, &why, err);
    return take_files(folder, objects, set, err);
}

bool hub_capture_is_of_commit(const struct hub_backup_set *set)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *named = NULL;
    char content[HUB_CONTENT_CHARS + 1];
    if (!*set->tree)
        return true;
    if (hub_new(&named, set->count, sizeof *named, NULL))
        return false;
    for (size_t i = 0; i < set->count; i++)
        named[i] =
            (struct hub_revision_file){.path = set->files[i].path,
                                       .size = set->files[i].size,
                                       .sha256 = set->files[i].has_sha256 ? set->files[i].sha256 : NULL};
    return hub_content(named, set->count, content, NULL) == HUB_OK && strcmp(content, set->tree) == 0;
}
