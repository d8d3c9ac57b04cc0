/* Files by their digests: see objects.h. */
#include "storage/backup/objects.h"

#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FOLDER "objects"

enum { BLOCK = 1024 * 1024, MOST_NAMES = 10 * 1000 * 1000 };

/* "ab/cdef..." */
static void name_of(const uint8_t sha256[HUB_SHA256_BYTES], char out[2 * HUB_SHA256_BYTES + 2])
{
    hub_hex(sha256, 1, out);
    out[2] = '/';
    hub_hex(sha256 + 1, HUB_SHA256_BYTES - 1, out + 3);
}

enum hub_status hub_backup_objects_open(int folder, bool make, struct hub_backup_objects *out,
                                        struct hub_error *err)
{
    if (make && mkdirat(folder, FOLDER, 0700) && errno != EEXIST)
        return hub_fail_errno(err, errno, "making the folder " FOLDER " of the backup");
    out->folder = openat(folder, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return out->folder < 0 ? hub_fail_errno(err, errno, "the folder " FOLDER " of the backup") : HUB_OK;
}

void hub_backup_objects_close(struct hub_backup_objects *objects)
{
    hub_closep(&objects->folder);
    objects->folder = -1;
}

/* Read a file from its begin, and write what was read unless `to` is -1. */
static enum hub_status pass_bytes(struct hub_backup_objects *objects, int from, int to, uint64_t *size,
                                  uint8_t sha256[HUB_DIGEST_MAX], struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    HUB_CLEANUP(hub_freep) char *block = malloc(BLOCK);
    HUB_TRY(hub_allocated(block, err));
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    for (*size = 0;;) {
        const ssize_t n = hub_fs_pread(from, block, BLOCK, *size);
        if (n < 0)
            return hub_fail_errno(err, errno, "reading a file");
        const struct hub_view bytes = {block, (size_t)n};
        HUB_TRY(hub_digest_add(&digest, bytes, err));
        if (to >= 0)
            HUB_TRY(hub_fs_write_fd(to, bytes, err));
        *size += (uint64_t)n;
        if (objects && objects->tick)
            HUB_TRY(objects->tick(objects->user, (uint64_t)n, err));
        if (n < BLOCK)
            return hub_digest_end(&digest, sha256, err);
    }
}

enum hub_status hub_backup_objects_digest(struct hub_backup_objects *objects, int fd,
                                          uint8_t sha256[HUB_DIGEST_MAX], struct hub_error *err)
{
    uint64_t size;
    return pass_bytes(objects, fd, -1, &size, sha256, err);
}

/* A clone has the bytes at once, and is read for its digest alone. */
static enum hub_status copy(struct hub_backup_objects *objects, int from, int to, uint64_t *size,
                            uint8_t sha256[HUB_DIGEST_MAX], struct hub_error *err)
{
    return ioctl(to, FICLONE, from) == 0 ? pass_bytes(objects, to, -1, size, sha256, err)
                                         : pass_bytes(objects, from, to, size, sha256, err);
}

/* ---- putting ---- */

enum hub_status hub_backup_objects_has(struct hub_backup_objects *objects,
                                       const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size, bool *there,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    char name[2 * HUB_SHA256_BYTES + 2];
    uint8_t found[HUB_DIGEST_MAX];
    uint64_t found_size;
    struct stat st;
    name_of(sha256, name);
    *there = fstatat(objects->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
             (uint64_t)st.st_size == size;
    if (!*there || !objects->doubtful)
        return HUB_OK;
    fd = openat(objects->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, FOLDER "/%s", name);
    HUB_TRY(pass_bytes(objects, fd, -1, &found_size, found, err));
    *there = memcmp(found, sha256, HUB_SHA256_BYTES) == 0;
    return HUB_OK;
}

static enum hub_status give_name(struct hub_backup_objects *objects, const char *part,
                                 const uint8_t sha256[HUB_SHA256_BYTES], struct hub_error *err)
{
    char name[2 * HUB_SHA256_BYTES + 2];
    name_of(sha256, name);
    name[2] = '\0';
    if (mkdirat(objects->folder, name, 0700) && errno != EEXIST)
        return hub_fail_errno(err, errno, FOLDER "/%s", name);
    name[2] = '/';
    return renameat(objects->folder, part, objects->folder, name)
               ? hub_fail_errno(err, errno, FOLDER "/%s", name)
               : HUB_OK;
}

static enum hub_status store(struct hub_backup_objects *objects, int fd, uint64_t size, bool known,
                             uint8_t sha256[HUB_SHA256_BYTES], struct hub_error *err)
{
    static const char part[] = "part";
    uint8_t found[HUB_DIGEST_MAX];
    uint64_t found_size;
    (void)unlinkat(objects->folder, part, 0);
    HUB_CLEANUP(hub_closep)
    int to = openat(objects->folder, part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
    if (to < 0)
        return hub_fail_errno(err, errno, FOLDER "/%s", part);
    enum hub_status st = copy(objects, fd, to, &found_size, found, err);
    if (!st && (found_size != size || (known && memcmp(found, sha256, HUB_SHA256_BYTES) != 0)))
        st = hub_fail(err, HUB_CHANGED, "it is not what its record says");
    if (!st)
        st = give_name(objects, part, found, err);
    if (st) {
        (void)unlinkat(objects->folder, part, 0);
        return st;
    }
    memcpy(sha256, found, HUB_SHA256_BYTES);
    objects->files++;
    objects->bytes += size;
    return HUB_OK;
}

enum hub_status hub_backup_objects_put(struct hub_backup_objects *objects, int fd, uint64_t size, bool known,
                                       uint8_t sha256[HUB_SHA256_BYTES], struct hub_error *err)
{
    bool there = false;
    if (known)
        HUB_TRY(hub_backup_objects_has(objects, sha256, size, &there, err));
    if (!there)
        return store(objects, fd, size, known, sha256, err);
    objects->had_files++;
    objects->had_bytes += size;
    return HUB_OK;
}

/* ---- getting ---- */

enum hub_status hub_backup_objects_get(struct hub_backup_objects *objects,
                                       const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size, int to,
                                       struct hub_error *err)
{
    char name[2 * HUB_SHA256_BYTES + 2];
    uint8_t found[HUB_DIGEST_MAX];
    uint64_t found_size;
    name_of(sha256, name);
    HUB_CLEANUP(hub_closep) int fd = openat(objects->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "the backup's " FOLDER "/%s", name);
    HUB_TRY(copy(objects, fd, to, &found_size, found, err));
    return found_size == size && memcmp(found, sha256, HUB_SHA256_BYTES) == 0
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "the backup's " FOLDER "/%s is damaged", name);
}

/* ---- pruning ---- */

static enum hub_status prune_folder(struct hub_backup_objects *objects, const char *folder,
                                    bool (*keeps)(void *user, const uint8_t sha256[HUB_SHA256_BYTES]),
                                    void *user, uint64_t *removed, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    uint8_t sha256[HUB_SHA256_BYTES];
    char path[2 * HUB_SHA256_BYTES + 2];
    HUB_TRY(hub_fs_list(objects->folder, folder, MOST_NAMES, &names, err));
    for (size_t i = 0; i < names.count; i++) {
        const struct hub_view name = hub_view_of(names.items[i].text);
        if (!hub_unhex(hub_view_of(folder), sha256, 1) || !hub_unhex(name, sha256 + 1, sizeof sha256 - 1) ||
            keeps(user, sha256))
            continue;
        name_of(sha256, path);
        if (unlinkat(objects->folder, path, 0) && errno != ENOENT)
            return hub_fail_errno(err, errno, FOLDER "/%s", path);
        ++*removed;
    }
    return HUB_OK;
}

enum hub_status hub_backup_objects_prune(struct hub_backup_objects *objects,
                                         bool (*keeps)(void *user, const uint8_t sha256[HUB_SHA256_BYTES]),
                                         void *user, uint64_t *removed, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    *removed = 0;
    HUB_TRY(hub_fs_list(objects->folder, ".", MOST_NAMES, &names, err));
    for (size_t i = 0; i < names.count; i++)
        if (strlen(names.items[i].text) == 2)
            HUB_TRY(prune_folder(objects, names.items[i].text, keeps, user, removed, err));
    return HUB_OK;
}
