/* A file store of one folder, for measuring and testing the HTTP floor without storage/read. */
#include "storage/read/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

struct hub_file {
    atomic_uint count;
    int fd;
    struct hub_stamp stamp;
};
struct hub_store {
    struct hub_file *file;
    char root[4096];
};

enum hub_status hub_store_open(const struct hub_store_options *options, struct hub_store **out,
                               struct hub_error *err)
{
    (void)err;
    *out = calloc(1, sizeof **out);
    snprintf((*out)->root, sizeof(*out)->root, "%s", options->roots[0]);
    return HUB_OK;
}

void hub_file_put(struct hub_file *file)
{
    if (atomic_fetch_sub(&file->count, 1) != 1)
        return;
    close(file->fd);
    free(file);
}

void hub_store_close(struct hub_store *store)
{
    if (store->file)
        hub_file_put(store->file);
    free(store);
}

enum hub_status hub_file_get(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                             struct hub_error *err)
{
    char path[8192];
    struct stat st;
    if (!store->file) {
        snprintf(path, sizeof path, "%s/%s", store->root, ref->path);
        struct hub_file *file = calloc(1, sizeof *file);
        atomic_init(&file->count, 1);
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (file->fd < 0 || fstat(file->fd, &st)) {
            free(file);
            return hub_fail_errno(err, errno, "%s", path);
        }
        file->stamp = hub_stamp_of(&st);
        store->file = file;
    }
    atomic_fetch_add(&store->file->count, 1);
    *out = store->file;
    return HUB_OK;
}

const struct hub_stamp *hub_file_stamp(const struct hub_file *file)
{
    return &file->stamp;
}

enum hub_status hub_file_unchanged(const struct hub_file *file, struct hub_error *err)
{
    struct stat st;
    if (fstat(file->fd, &st))
        return hub_fail_errno(err, errno, "fstat");
    struct hub_stamp now = hub_stamp_of(&st);
    return hub_stamp_equal(&now, &file->stamp) ? HUB_OK : hub_fail(err, HUB_CHANGED, "it changed");
}

enum hub_status hub_read_bytes(struct hub_file *file, uint64_t offset, void *out, size_t size, unsigned flags,
                               struct hub_error *err)
{
    (void)err;
    struct iovec at = {out, size};
    while (at.iov_len > 0) {
        ssize_t n = preadv2(file->fd, &at, 1, (off_t)offset, flags & HUB_READ_NOWAIT ? RWF_NOWAIT : 0);
        if (n < 0 && errno == EAGAIN)
            return HUB_AGAIN;
        if (n < 0)
            return HUB_IO;
        if (n == 0)
            return HUB_CORRUPT;
        at.iov_base = (char *)at.iov_base + n;
        at.iov_len -= (size_t)n;
        offset += (uint64_t)n;
        if (at.iov_len > 0 && flags & HUB_READ_NOWAIT && n == 0)
            return HUB_AGAIN;
    }
    return HUB_OK;
}
