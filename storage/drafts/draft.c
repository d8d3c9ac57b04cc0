/* The folder of a draft: see draft.h. */
#include "storage/drafts/draft.h"

#include "storage/drafts/part.h"
#include "storage/ids/id.h"
#include "storage/io/boot.h"
#include "storage/io/fs.h"
#include "storage/text/utf8.h"
#include "storage/transfer/removed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_SEGMENTS = 32, MOST_PARTS = 1000000 };

static const char drafts[] = "drafts";

/* The tree of one that is being published may have gone to its place. */
static enum hub_status open_inner(const struct hub_draft_folder *draft, const char *name, bool make, int *fd,
                                  struct hub_error *err)
{
    const enum hub_status st = hub_private_folder(draft->folder, name, make, fd, err);
    return st == HUB_NOT_FOUND && !make ? HUB_OK : st;
}

static enum hub_status open_folders(struct hub_draft_folder *draft, const char *id, bool make,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int all = -1;
    snprintf(draft->within, sizeof draft->within, "%s/%s", drafts, id);
    HUB_TRY(hub_private_folder(draft->place.folder, drafts, make, &all, err));
    HUB_TRY(hub_private_folder(all, id, make, &draft->folder, err));
    HUB_TRY(open_inner(draft, "tree", make, &draft->tree, err));
    return open_inner(draft, "parts", make, &draft->parts, err);
}

enum hub_status hub_draft_open(const char *root, const char *id, bool make, struct hub_draft_folder *out,
                               struct hub_error *err)
{
    *out = HUB_DRAFT_FOLDER_INIT;
    enum hub_status st = hub_private_open(root, make, &out->place, err);
    if (!st)
        st = open_folders(out, id, make, err);
    if (st)
        hub_draft_close(out);
    return st;
}

void hub_draft_close(struct hub_draft_folder *draft)
{
    hub_closep(&draft->parts);
    hub_closep(&draft->tree);
    hub_closep(&draft->folder);
    hub_private_close(&draft->place);
    *draft = HUB_DRAFT_FOLDER_INIT;
}

/* Of a file system without locks nobody has it alone. */
static bool lock(const struct hub_draft_folder *draft, int how)
{
    int rc;
    do
        rc = flock(draft->folder, how | LOCK_NB);
    while (rc && errno == EINTR);
    return !rc || errno == ENOLCK || errno == EOPNOTSUPP;
}

enum hub_status hub_draft_lock(const struct hub_draft_folder *draft, struct hub_error *err)
{
    if (lock(draft, LOCK_SH))
        return HUB_OK;
    return errno == EWOULDBLOCK
               ? hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_DRAFT_BUSY,
                             "the draft is being published, or begins with the files of another commit")
               : hub_fail_errno(err, errno, "the draft cannot be locked");
}

bool hub_draft_try_lock(const struct hub_draft_folder *draft)
{
    return lock(draft, LOCK_EX);
}

void hub_draft_unlock(const struct hub_draft_folder *draft)
{
    (void)flock(draft->folder, LOCK_UN);
}

enum hub_status hub_draft_room(const struct hub_draft_folder *draft, uint64_t more, uint64_t spare_bytes,
                               struct hub_error *err)
{
    uint64_t left = 0;
    HUB_TRY(hub_fs_free_bytes(draft->place.path, &left, err));
    if (left >= spare_bytes && left - spare_bytes >= more)
        return HUB_OK;
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
                       "the disk has no room for %llu bytes more: %llu are free, and %llu of them stay so "
                       "(--min-free)",
                       (unsigned long long)more, (unsigned long long)left, (unsigned long long)spare_bytes);
}

/* The folder of all drafts; -1: there is none. */
static enum hub_status open_all(const char *root, struct hub_private *place, int *all, struct hub_error *err)
{
    enum hub_status st = hub_private_open(root, false, place, err);
    if (!st)
        st = hub_private_folder(place->folder, drafts, false, all, err);
    return st == HUB_NOT_FOUND ? HUB_OK : st;
}

enum hub_status hub_draft_remove(const char *root, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int all = -1;
    HUB_TRY(open_all(root, &place, &all, err));
    return all < 0 ? HUB_OK : hub_fs_remove(all, id, err);
}

enum hub_status hub_draft_discard(const char *root, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int all = -1;
    HUB_TRY(open_all(root, &place, &all, err));
    return all < 0 ? HUB_OK : hub_removed_put(&place, all, id, err);
}

/* ---- names ---- */

static enum hub_status wrong(struct hub_view path, const char *why, struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID, "a file cannot be called '%.*s': %s", (int)HUB_MIN(path.size, 200),
                    path.data, why);
}

static const char *what_is_wrong(struct hub_view segment)
{
    if (segment.size == 0)
        return "it has an empty segment";
    if (hub_name_hidden(segment))
        return "names that begin with a dot are hidden, and left out of datasets";
    return segment.size > NAME_MAX ? "a segment has more than 255 bytes" : NULL;
}

enum hub_status hub_draft_path_check(struct hub_view path, struct hub_error *err)
{
    if (path.size == 0 || path.size >= PATH_MAX / 2)
        return wrong(path, "it is empty, or has more than 2,047 bytes", err);
    if (!hub_utf8_printable(path))
        return wrong(path, "it is not printable UTF-8", err);
    if (memchr(path.data, '\\', path.size))
        return wrong(path, "it has a backslash", err);
    unsigned segments = 0;
    for (size_t at = 0; at <= path.size;) {
        if (++segments > MOST_SEGMENTS)
            return wrong(path, "it lies in too many folders", err);
        const char *slash = memchr(path.data + at, '/', path.size - at);
        const size_t size = slash ? (size_t)(slash - path.data) - at : path.size - at;
        const char *why = what_is_wrong((struct hub_view){path.data + at, size});
        if (why)
            return wrong(path, why, err);
        at += size + 1;
    }
    return HUB_OK;
}

/* ---- files ---- */

static void name_boot(char out[HUB_PART_BOOT + 1])
{
    snprintf(out, HUB_PART_BOOT + 1, "%016" PRIx64, (uint64_t)hub_boot());
}

void hub_draft_part_name(const char *path, char out[HUB_DRAFT_PART])
{
    uint8_t sha256[HUB_SHA256_BYTES] = {0};
    (void)!hub_digest_of(HUB_SHA256, hub_view_of(path), sha256, NULL);
    name_boot(out);
    hub_hex(sha256, (HUB_DRAFT_PART - 1 - HUB_PART_BOOT) / 2, out + HUB_PART_BOOT);
}

void hub_draft_drop_old_parts(const struct hub_draft_folder *draft)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    char boot[HUB_PART_BOOT + 1];
    name_boot(boot);
    if (hub_fs_list(draft->parts, "", MOST_PARTS, &names, NULL))
        return;
    for (size_t i = 0; i < names.count; i++)
        if (!hub_view_starts(hub_view_of(names.items[i].text), boot))
            (void)unlinkat(draft->parts, names.items[i].text, 0);
}

uint64_t hub_draft_came(const struct hub_draft_folder *draft, const char *path)
{
    char name[HUB_DRAFT_PART];
    struct stat st;
    hub_draft_part_name(path, name);
    return fstatat(draft->parts, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

enum hub_status hub_draft_has(const struct hub_draft_folder *draft, const char *path, uint64_t size,
                              const uint8_t sha256[HUB_SHA256_BYTES], bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_file_hasher_dispose) struct hub_file_hasher hasher = {0};
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    HUB_TRY(hub_fs_open_beneath(draft->tree, path, O_RDONLY, HUB_FS_NO_LINKS, &fd, err));
    if (fstat(fd, &st))
        return hub_fail_errno(err, errno, "'%.200s' cannot be read", path);
    *out = (uint64_t)st.st_size == size;
    if (!*out)
        return HUB_OK;
    HUB_TRY(hub_file_hasher_begin(&hasher, HUB_NO_DIGEST, size, err));
    HUB_TRY(hub_file_hasher_read(&hasher, fd, size, NULL, NULL, err));
    HUB_TRY(hub_file_hasher_end(&hasher, &sums, err));
    *out = memcmp(sums.sha256, sha256, HUB_SHA256_BYTES) == 0;
    return HUB_OK;
}

static enum hub_status unlink_at(int directory, const char *path, struct hub_error *err)
{
    return unlinkat(directory, path, 0) && errno != ENOENT && errno != ENOTDIR
               ? hub_fail_errno(err, errno, "'%s' cannot be removed", path)
               : HUB_OK;
}

/* HUB_BUSY while somebody sends it. */
static enum hub_status drop_part(const struct hub_draft_folder *draft, const char *path,
                                 struct hub_error *err)
{
    char name[HUB_DRAFT_PART];
    hub_draft_part_name(path, name);
    HUB_CLEANUP(hub_closep) const int fd = openat(draft->parts, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_UPLOAD_OFFSET, "'%.200s' is being sent", path);
    return unlink_at(draft->parts, name, err);
}

static void remove_empty(const struct hub_draft_folder *draft, const char *path)
{
    HUB_CLEANUP(hub_freep) char *folder = strdup(path);
    for (char *slash; folder && (slash = strrchr(folder, '/'));) {
        *slash = '\0';
        if (unlinkat(draft->tree, folder, AT_REMOVEDIR))
            return;
    }
}

enum hub_status hub_draft_drop(const struct hub_draft_folder *draft, const char *path, struct hub_error *err)
{
    HUB_TRY(drop_part(draft, path, err));
    HUB_TRY(unlink_at(draft->tree, path, err));
    remove_empty(draft, path);
    return HUB_OK;
}
