/* One dataset below its root: see place.h. */
#include "storage/backup/place.h"

#include "storage/base/order.h"
#include "storage/transfer/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE "restore"

/* ---- what is there ---- */

static bool has_file(int folder, const struct hub_file_facts *file)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    return hub_fs_open_beneath(folder, file->path, O_PATH, HUB_FS_NO_LINKS, &fd, NULL) == HUB_OK &&
           fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == file->size;
}

/* The record itself is one of the set's files; it may say when it was written, and so differ. */
static bool is_of_set(const struct hub_record *record, const struct hub_backup_set *set, int folder)
{
    size_t at = 0;
    for (size_t i = 0; i < set->count; i++) {
        const struct hub_file_facts *want = &set->files[i];
        if (strcmp(want->path, HUB_RECORD_FILE) == 0)
            continue;
        const struct hub_file_facts *have = at < record->count ? &record->files[at++] : NULL;
        if (!have || strcmp(have->path, want->path) != 0 || have->size != want->size ||
            (have->has_sha256 && want->has_sha256 &&
             memcmp(have->sha256, want->sha256, HUB_SHA256_BYTES) != 0) ||
            !has_file(folder, want))
            return false;
    }
    return at == record->count;
}

enum hub_status hub_backup_set_open(const struct hub_root *root, const struct hub_backup_set *set,
                                    int *folder, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    if (!set->kept)
        return hub_open_below(root->path, set->path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, folder, err);
    HUB_TRY(hub_private_open(root->path, false, &place, err));
    HUB_TRY(hub_backup_kept_path(set, &path, err));
    return hub_fs_open_beneath(place.folder, path.data, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, folder, err);
}

enum hub_status hub_place_look(const struct hub_root *root, const struct hub_backup_set *set,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_closep) int folder = -1;
    char path[64], label[HUB_BACKUP_LABEL];
    HUB_TRY(hub_backup_set_open(root, set, &folder, err));
    snprintf(path, sizeof path, "/proc/self/fd/%d", folder);
    if (hub_record_read(path, &record, NULL) == HUB_OK && is_of_set(&record, set, folder))
        return HUB_OK;
    return set->kept
               ? hub_fail(err, HUB_EXISTS,
                          "other files are in the place of %s in the private folder of %s: move them "
                          "away and restore again",
                          hub_backup_set_label(set, label), root->path)
               : hub_fail(err, HUB_EXISTS, "another dataset is in %s/%s: move it away and restore again",
                          root->path, set->path);
}

/* ---- putting ---- */

struct place {
    struct hub_backup_objects *objects;
    const struct hub_backup_set *set, *like;
    int folder; /* of the files of `like`; -1: there are none */
};

static enum hub_status make_above(int tree, const char *path, struct hub_error *err)
{
    const char *slash = strrchr(path, '/');
    HUB_CLEANUP(hub_freep) char *above = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    if (!slash)
        return HUB_OK;
    HUB_TRY(hub_allocated(above, err));
    return hub_fs_make_dirs(tree, above, 0777, err);
}

/* Files of a dataset that was published by the hub are its own again; its record is not one of them. */
static enum hub_status set_mode(int fd, const struct hub_backup_set *set, const char *path,
                                struct hub_error *err)
{
    if (fchmod(fd, 0644))
        return hub_fail_errno(err, errno, "'%s'", path);
    return *set->commit && strcmp(path, HUB_RECORD_FILE) != 0 ? hub_fs_own(fd, path, err) : HUB_OK;
}

static const struct hub_file_facts *find_same(const struct hub_backup_set *set,
                                              const struct hub_file_facts *file)
{
    const struct hub_file_facts *same =
        set && set->count ? bsearch(&file->path, set->files, set->count, sizeof *set->files, hub_by_text)
                          : NULL;
    return same && same->has_sha256 && same->size == file->size && same->modified_ns == file->modified_ns &&
                   memcmp(same->sha256, file->sha256, sizeof file->sha256) == 0
               ? same
               : NULL;
}

/* What did not change from one revision to the next is stored once, as it was before. */
static bool link_same(int tree, const struct place *p, const struct hub_file_facts *file)
{
    return p->folder >= 0 && file->has_sha256 && strcmp(file->path, HUB_RECORD_FILE) != 0 &&
           find_same(p->like, file) && linkat(p->folder, file->path, tree, file->path, 0) == 0;
}

static enum hub_status write_file(int tree, const struct place *p, const struct hub_file_facts *file,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct timespec modified = {.tv_sec = file->modified_ns / 1000000000,
                                      .tv_nsec = file->modified_ns % 1000000000};
    if (!file->has_sha256)
        return hub_fail(err, HUB_NOT_FOUND, "the backup does not have '%s'", file->path);
    HUB_TRY(make_above(tree, file->path, err));
    if (link_same(tree, p, file))
        return HUB_OK;
    HUB_TRY(hub_fs_open_beneath(tree, file->path, O_RDWR | O_CREAT | O_EXCL, HUB_FS_NO_LINKS, &fd, err));
    HUB_TRY(hub_backup_objects_get(p->objects, file->sha256, file->size, fd, err));
    HUB_TRY(set_mode(fd, p->set, file->path, err));
    return futimens(fd, (const struct timespec[]){modified, modified})
               ? hub_fail_errno(err, errno, "'%s'", file->path)
               : HUB_OK;
}

static enum hub_status write_tree(int aside, const char *name, const struct place *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int tree = -1;
    HUB_TRY(hub_private_folder(aside, name, true, &tree, err));
    for (size_t i = 0; i < p->set->count; i++)
        HUB_TRY(write_file(tree, p, &p->set->files[i], err));
    return syncfs(tree) ? hub_fail_errno(err, errno, "syncing the files of '%s'", p->set->path) : HUB_OK;
}

static enum hub_status put_in_place(const struct hub_private *place, const char *tree,
                                    const struct hub_backup_set *set, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    if (!set->kept)
        return hub_publish(place, set->path, tree, false, false, err);
    HUB_TRY(hub_backup_kept_path(set, &path, err));
    return hub_publish_keep(place, tree, path.data, err);
}

enum hub_status hub_place(const struct hub_root *root, struct hub_backup_objects *objects,
                          const struct hub_backup_set *set, const struct hub_backup_set *like,
                          struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int aside = -1, folder = -1;
    char name[48], tree[64];
    if (like && hub_backup_set_open(root, like, &folder, NULL))
        folder = -1; /* then nothing is shared */
    const struct place p = {objects, set, like, folder};
    hub_private_name(name);
    snprintf(tree, sizeof tree, ASIDE "/%s", name);
    HUB_TRY(hub_private_open(root->path, true, &place, err));
    HUB_TRY(hub_fs_remove(place.folder, ASIDE, err)); /* of a restore that was interrupted */
    HUB_TRY(hub_private_folder(place.folder, ASIDE, true, &aside, err));
    enum hub_status st = write_tree(aside, name, &p, err);
    if (!st)
        st = put_in_place(&place, tree, set, err);
    (void)!hub_fs_remove(place.folder, ASIDE, NULL);
    return st;
}
