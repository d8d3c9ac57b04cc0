/* Earlier revisions: see kept.h. */
#include "storage/drafts/kept.h"

#include "storage/ids/kept.h"
#include "storage/io/fs.h"
#include "storage/text/json.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum hub_status hub_kept_path(const char *path, const char *commit, struct hub_buf *out,
                              struct hub_error *err)
{
    return hub_buf_addf(out, err, HUB_KEPT "/%s@%s", path, commit);
}

enum hub_status hub_draft_name_check(const char *id, struct hub_error *err)
{
    const char *slash = strrchr(id, '/');
    return strlen(slash ? slash + 1 : id) + 1 + HUB_KEPT_COMMIT <= NAME_MAX
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "the last part of '%.200s...' has more than %d bytes", id,
                          NAME_MAX - 1 - HUB_KEPT_COMMIT);
}

enum hub_status hub_kept_find(const char *root, const char *path, const char *commit, struct hub_buf *out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf keep = HUB_BUF_INIT(2 * PATH_MAX);
    const enum hub_status st = hub_private_open(root, false, &place, err);
    if (st) /* of a root that is not there for a moment nothing is known */
        return st == HUB_NOT_FOUND ? HUB_IO : st;
    HUB_TRY(hub_kept_path(path, commit, &keep, err));
    if (faccessat(place.folder, keep.data, F_OK, AT_SYMLINK_NOFOLLOW))
        return errno != ENOENT && errno != ENOTDIR
                   ? hub_fail_errno(err, errno, "%s/%s", place.path, keep.data)
                   : hub_fail(err, HUB_NOT_FOUND, "commit %s of '%.200s' is not kept", commit, path);
    return hub_buf_addf(out, err, "%s/%s", strrchr(place.path, '/') + 1, keep.data);
}

/* One that was published before records had commits is taken for it. */
static bool is_of(const struct hub_record *record, const char *commit)
{
    return !*record->commit || strcmp(record->commit, commit) == 0;
}

enum hub_status hub_kept_check(const char *root, const char *path, const char *commit, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_record_dispose) struct hub_record there = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(2 * PATH_MAX);
    bool others = false;
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_buf_addf(&folder, err, "%s/%s", root, path));
    if (hub_record_read(folder.data, &there, NULL) || !is_of(&there, commit))
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                           "the files in '%.200s' are not those of commit %s: somebody changed them by hand, "
                           "and has to move them away",
                           path, commit);
    const struct hub_fetched own = {there.files, there.count};
    HUB_TRY(hub_publish_others(&place, path, &own, &others, err));
    return others ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                                "somebody put other files into '%.200s' by hand: move them away first", path)
                  : HUB_OK;
}

enum hub_status hub_place_check(const char *root, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_TRY(hub_private_open(root, true, &place, err));
    return hub_publish_free(&place, path, err);
}

enum hub_status hub_kept_move(const char *root, const char *path, const char *commit, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_record_dispose) struct hub_record there = {0};
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf folder = HUB_BUF_INIT(2 * PATH_MAX), keep = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_buf_addf(&folder, err, "%s/%s", root, path));
    if (hub_record_read(folder.data, &there, NULL) || !is_of(&there, commit))
        return HUB_OK;
    HUB_TRY(hub_kept_path(path, commit, &keep, err));
    return hub_withdraw_keeping(&place, path, keep.data, err);
}

enum hub_status hub_kept_rename(const char *root, const char *from, const char *to, const char *commit,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf old = HUB_BUF_INIT(2 * PATH_MAX), new = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_kept_path(from, commit, &old, err));
    HUB_TRY(hub_kept_path(to, commit, &new, err));
    return hub_publish_keep(&place, old.data, new.data, err);
}

/* The record with another id. */
static enum hub_status rename_record(int directory, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * GIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *record = NULL;
    HUB_TRY(hub_fs_read(directory, HUB_RECORD_FILE, &text, err));
    HUB_TRY(hub_json_parse(hub_buf_view(&text), text.limit, &record, err));
    char *changed =
        json_object_set_new(record, "id", json_string(id)) ? NULL : json_dumps(record, JSON_COMPACT);
    HUB_TRY(hub_allocated(changed, err));
    const enum hub_status st = hub_fs_write(directory, HUB_RECORD_FILE, hub_view_of(changed), 0644, err);
    free(changed);
    return st;
}

enum hub_status hub_dataset_move(const char *root, const char *from, const char *to, const char *id,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int parent = -1, directory = -1;
    const char *name;
    HUB_TRY(hub_private_open(root, true, &place, err));
    HUB_TRY(hub_publish_move(&place, from, to, err));
    HUB_TRY(hub_private_parent(&place, to, false, &parent, &name, err));
    HUB_TRY(hub_private_folder(parent, name, false, &directory, err));
    return rename_record(directory, id, err);
}

enum hub_status hub_kept_remove(const char *root, const char *path, const char *commit, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf keep = HUB_BUF_INIT(2 * PATH_MAX);
    const enum hub_status st = hub_private_open(root, false, &place, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    HUB_TRY(hub_kept_path(path, commit, &keep, err));
    return hub_publish_drop(&place, keep.data, err);
}

/* ---- a draft that begins with files ---- */

/* False: it is no longer the file that the record says. */
static bool is_owned(int directory, const struct hub_file_facts *file)
{
    struct stat st;
    return file->has_sha256 && fstatat(directory, file->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           hub_stat_is_owned(&st) && (uint64_t)st.st_size == file->size;
}

/* Folders are made where the link says that there is none. */
static enum hub_status link_file(int directory, const struct hub_draft_folder *draft, const char *path,
                                 struct hub_error *err)
{
    const char *slash = strrchr(path, '/');
    if (linkat(directory, path, draft->tree, path, 0) == 0)
        return HUB_OK;
    if (errno == ENOENT && slash) {
        HUB_CLEANUP(hub_freep) char *above = strndup(path, (size_t)(slash - path));
        HUB_TRY(hub_allocated(above, err));
        HUB_TRY(hub_fs_make_dirs(draft->tree, above, 0777, err));
        if (linkat(directory, path, draft->tree, path, 0) == 0)
            return HUB_OK;
    }
    return hub_fail_errno(err, errno, "'%.200s' cannot be linked into the draft", path);
}

enum hub_status hub_draft_begin_with(const struct hub_draft_folder *draft, const char *directory,
                                     hub_draft_begins begins, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    char self[64];
    HUB_TRY(
        hub_fs_open_beneath(draft->place.root, directory, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &fd, err));
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    HUB_TRY(hub_record_read(self, &record, err));
    for (size_t i = 0; i < record.count; i++) {
        const struct hub_file_facts *file = &record.files[i];
        if (!is_owned(fd, file) || hub_draft_path_check(hub_view_of(file->path), NULL))
            continue;
        HUB_TRY(link_file(fd, draft, file->path, err));
        HUB_TRY(begins(user, file, err));
    }
    return HUB_OK;
}
