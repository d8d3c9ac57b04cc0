/* One file that comes: see draft.h. */
#include "storage/drafts/draft.h"

#include "storage/drafts/part.h"
#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_BYTES = 64 * 1024 * 1024 }; /* between two looks at the free space */

/* Has the open part its name yet? Meanwhile it may have gone into the tree, or been dropped. */
static bool is_named(const struct hub_draft_folder *draft, const char *name, int fd)
{
    struct stat ours, named;
    return fstat(fd, &ours) == 0 && fstatat(draft->parts, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static enum hub_status is_elsewhere(uint64_t there, uint64_t offset, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_INVALID, HUB_PROBLEM_UPLOAD_OFFSET,
        "%llu bytes of the file are there: the next ones begin with that one, and not with %llu",
        (unsigned long long)there, (unsigned long long)offset);
}

/* Only the first byte of a file makes it. */
static enum hub_status open_part(const struct hub_draft_folder *draft, const char *name, uint64_t offset,
                                 int *fd, struct hub_error *err)
{
    const int how = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (offset ? 0 : O_CREAT);
    *fd = openat(draft->parts, name, how, 0644);
    if (*fd < 0)
        return offset && errno == ENOENT ? is_elsewhere(0, offset, err)
                                         : hub_fail_errno(err, errno, "the file cannot be stored");
    const bool held = flock(*fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return !held && is_named(draft, name, *fd)
               ? HUB_OK
               : hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_UPLOAD_OFFSET,
                             "another request sends this file: ask where it ends, and go on from there");
}

/* The first byte of a whole file may come again: what came before is then of another try. */
static enum hub_status go_on(struct hub_upload *upload, uint64_t offset, enum hub_file_digest kind,
                             struct hub_error *err)
{
    struct stat st;
    if (fstat(upload->fd, &st))
        return hub_fail_errno(err, errno, "the file cannot be read");
    if (offset == 0 && st.st_size && ftruncate(upload->fd, 0))
        return hub_fail_errno(err, errno, "the file cannot be begun again");
    if (offset && (uint64_t)st.st_size != offset)
        return is_elsewhere((uint64_t)st.st_size, offset, err);
    HUB_TRY(hub_file_hasher_begin(&upload->hasher, kind, upload->size, err));
    HUB_TRY(hub_file_hasher_read(&upload->hasher, upload->fd, offset, NULL, NULL, err));
    return lseek(upload->fd, (off_t)offset, SEEK_SET) < 0
               ? hub_fail_errno(err, errno, "the file cannot be written")
               : HUB_OK;
}

enum hub_status hub_upload_begin(const struct hub_draft_folder *draft, const struct hub_upload_order *order,
                                 struct hub_upload *out, struct hub_error *err)
{
    char name[HUB_DRAFT_PART];
    *out =
        (struct hub_upload){.draft = draft, .fd = -1, .size = order->size, .spare_bytes = order->spare_bytes};
    if (order->offset > order->size)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_UPLOAD_OFFSET, "the file ends before that byte");
    HUB_TRY(hub_draft_room(draft, order->size - order->offset, order->spare_bytes, err));
    hub_draft_part_name(order->path, name);
    enum hub_status st = hub_dup(&out->path, order->path, err);
    if (!st)
        st = open_part(draft, name, order->offset, &out->fd, err);
    if (!st)
        st = go_on(out, order->offset, order->md5 ? HUB_BY_MD5 : HUB_BY_CRC32C, err);
    if (st)
        hub_upload_dispose(out);
    return st;
}

enum hub_status hub_upload_add(struct hub_upload *upload, struct hub_view bytes, struct hub_error *err)
{
    if (bytes.size > upload->size - upload->hasher.at)
        return hub_fail(err, HUB_TOO_BIG, "more bytes came than the %llu that the file has",
                        (unsigned long long)upload->size);
    if (upload->hasher.at / LOOK_BYTES !=
        (upload->hasher.at + bytes.size) / LOOK_BYTES) /* others write, too */
        HUB_TRY(hub_draft_room(upload->draft, upload->size - upload->hasher.at, upload->spare_bytes, err));
    HUB_TRY(hub_fs_write_fd(upload->fd, bytes, err));
    return hub_file_hasher_add(&upload->hasher, bytes, err);
}

static enum hub_status put_into_tree(const struct hub_upload *upload, struct hub_error *err)
{
    char name[HUB_DRAFT_PART];
    const char *slash = strrchr(upload->path, '/');
    hub_draft_part_name(upload->path, name);
    if (!is_named(upload->draft, name, upload->fd))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_UPLOAD_OFFSET, "'%.200s' was dropped while it came",
                           upload->path);
    if (slash) {
        HUB_CLEANUP(hub_freep) char *above = strndup(upload->path, (size_t)(slash - upload->path));
        HUB_TRY(hub_allocated(above, err));
        HUB_TRY(hub_fs_make_dirs(upload->draft->tree, above, 0777, err));
    }
    HUB_TRY(hub_fs_own(upload->fd, upload->path, err));
    return renameat(upload->draft->parts, name, upload->draft->tree, upload->path)
               ? hub_fail_errno(err, errno, "'%.200s' cannot be put in its place", upload->path)
               : HUB_OK;
}

/* The name of a digest that is another than the one that was stated; NULL: none is. */
static const char *which_differs(const struct hub_sums *sums, const struct hub_stated_digests *stated)
{
    if (stated->has_sha256 && memcmp(stated->sha256, sums->sha256, sizeof stated->sha256) != 0)
        return "SHA-256";
    if (stated->has_md5 && memcmp(stated->md5, sums->other, sizeof stated->md5) != 0)
        return "MD5";
    if (stated->has_crc32c && memcmp(stated->crc32c, sums->crc32c, sizeof stated->crc32c) != 0)
        return "CRC-32C";
    return NULL;
}

enum hub_status hub_upload_end(struct hub_upload *upload, const struct hub_stated_digests *stated,
                               struct hub_error *err)
{
    if (!hub_upload_is_whole(upload))
        return HUB_OK;
    HUB_TRY(hub_file_hasher_end(&upload->hasher, &upload->sums, err));
    const char *differs = stated ? which_differs(&upload->sums, stated) : NULL;
    if (!differs)
        return put_into_tree(upload, err);
    char name[HUB_DRAFT_PART];
    hub_draft_part_name(upload->path, name);
    (void)unlinkat(upload->draft->parts, name, 0);
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH,
                       "the %s of '%.200s' is another than the one that was stated: it was not kept", differs,
                       upload->path);
}

void hub_upload_dispose(struct hub_upload *upload)
{
    hub_file_hasher_dispose(&upload->hasher);
    hub_sums_dispose(&upload->sums);
    hub_closep(&upload->fd);
    free(upload->path);
    *upload = HUB_UPLOAD_INIT;
}
