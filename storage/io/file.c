/* Shared open files: see file.h. Reads give all of the bytes or a reason, never a part and never a
 * mapping. */
#include "storage/io/fetch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

void hub_file_put(struct hub_file *file)
{
    if (!file || atomic_fetch_sub_explicit(&file->item.refs, 1, memory_order_acq_rel) != 1)
        return;
    if (file->source && file->source->release) {
        file->source->release(file);
        return;
    }
    close(file->fd);
    free(file);
}

enum hub_status hub_file_stamp_of(int fd, bool sealed, const char *path, struct hub_stamp *out,
                                  struct hub_error *err)
{
    struct stat st;
    if (sealed)
        return hub_fs_sealed_stamp(fd, out, err);
    if (fstat(fd, &st) != 0)
        return hub_fail_errno(err, errno, "'%s'", path);
    *out = hub_stamp_of(&st);
    return HUB_OK;
}

const struct hub_stamp *hub_file_stamp(const struct hub_file *file)
{
    return &file->stamp;
}

enum hub_status hub_file_changed(const char *path, struct hub_error *err)
{
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING,
                       "'%s' has changed since it was indexed", path);
}

enum hub_status hub_file_unchanged(const struct hub_file *file, struct hub_error *err)
{
    struct hub_stamp now;
    if (file->source && file->source->comes)
        return HUB_OK;
    HUB_TRY(hub_file_stamp_of(file->fd, file->sealed, file->path, &now, err));
    return hub_stamp_equal(&now, &file->stamp) ? HUB_OK : hub_file_changed(file->path, err);
}

static ssize_t read_some(struct hub_file *file, uint64_t offset, void *out, size_t size, bool nowait)
{
    if (nowait && !atomic_load_explicit(&file->blocking, memory_order_relaxed)) {
        const struct iovec to = {out, size};
        const ssize_t got = preadv2(file->fd, &to, 1, (off_t)offset, RWF_NOWAIT);
        if (got >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS))
            return got;
        atomic_store_explicit(&file->blocking, true, memory_order_relaxed);
    }
    return pread(file->fd, out, size, (off_t)offset);
}

static enum hub_status ended_early(const struct hub_file *file, uint64_t offset, struct hub_error *err)
{
    HUB_TRY(hub_file_unchanged(file, err));
    return hub_fail(err, HUB_CORRUPT, "'%s' ends before byte %" PRIu64, file->path, offset);
}

enum hub_status hub_read_bytes(struct hub_file *file, uint64_t offset, void *out, size_t size, unsigned flags,
                               struct hub_error *err)
{
    const bool nowait = flags & HUB_READ_NOWAIT;
    uint8_t *to = out;
    if (size > INT64_MAX || offset > INT64_MAX - size)
        return hub_fail(err, HUB_OUT_OF_RANGE, "no byte %" PRIu64 " in '%s'", offset, file->path);
    while (size > 0) {
        const ssize_t got = read_some(file, offset, to, size, nowait);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return hub_fail(err, HUB_AGAIN, "'%s' is not in memory", file->path);
        if (got < 0)
            return hub_fail_errno(err, errno, "'%s' cannot be read", file->path);
        if ((size_t)got < size && nowait && !atomic_load_explicit(&file->blocking, memory_order_relaxed))
            return hub_fail(err, HUB_AGAIN, "'%s' is not in memory", file->path);
        if (got == 0)
            return ended_early(file, offset, err);
        to += got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return HUB_OK;
}
