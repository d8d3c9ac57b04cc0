/* Plain reads of an open file: all of the bytes or a reason, never a part and never a mapping. */
#include "storage/read/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/uio.h>
#include <unistd.h>

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
