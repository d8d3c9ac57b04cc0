/* Xorbs in a folder: see folder.h. */
#include "storage/xet/folder.h"

#include "storage/io/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <errno.h>

/* The end of the file, behind the table. */
struct trailer {
    char mark[8];
    uint32_t count, size; /* of the chunks, and their bytes with the headers */
};
#define MARK "mh-xorb\1"

static void close_now(int *fd)
{
    hub_closep(fd);
    *fd = -1;
}

/* ---- writing ---- */

enum hub_status hub_xorb_upload_begin(int folder, const uint8_t hash[HUB_XET_HASH],
                                      struct hub_xorb_upload *out, struct hub_error *err)
{
    uint64_t number;
    *out = HUB_XORB_UPLOAD_INIT;
    out->folder = folder;
    hub_xet_hash_write(hash, out->hash);
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return hub_fail_errno(err, errno, "no random number can be had");
    (void)snprintf(out->part, sizeof out->part, "part-%016llx", (unsigned long long)number);
    out->fd = openat(folder, out->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return out->fd < 0 ? hub_fail_errno(err, errno, "the xorb cannot be stored") : HUB_OK;
}

enum hub_status hub_xorb_upload_add(struct hub_xorb_upload *upload, struct hub_view bytes,
                                    struct hub_error *err)
{
    const bool complete = upload->scan.complete;
    HUB_TRY(hub_xorb_scan_add(&upload->scan, bytes, err));
    return complete ? HUB_OK : hub_fs_write_fd(upload->fd, bytes, err);
}

static enum hub_status write_table(struct hub_xorb_upload *upload, uint64_t *size, struct hub_error *err)
{
    const struct hub_xorb_scan *scan = &upload->scan;
    struct trailer trailer = {.count = scan->count, .size = hub_xorb_scan_size(scan)};
    const size_t table = scan->count * sizeof *scan->chunks;
    memcpy(trailer.mark, MARK, sizeof trailer.mark);
    if (ftruncate(upload->fd, trailer.size) || lseek(upload->fd, trailer.size, SEEK_SET) < 0)
        return hub_fail_errno(err, errno, "the xorb cannot be stored");
    HUB_TRY(hub_fs_write_fd(upload->fd, (struct hub_view){(const char *)scan->chunks, table}, err));
    *size = trailer.size + table + sizeof trailer;
    return hub_fs_write_fd(upload->fd, (struct hub_view){(const char *)&trailer, sizeof trailer}, err);
}

enum hub_status hub_xorb_upload_end(struct hub_xorb_upload *upload, uint64_t *size, struct hub_error *err)
{
    HUB_TRY(hub_xorb_scan_end(&upload->scan, err));
    HUB_TRY(write_table(upload, size, err));
    if (renameat(upload->folder, upload->part, upload->folder, upload->hash))
        return hub_fail_errno(err, errno, "the xorb cannot be put in its place");
    close_now(&upload->fd);
    return HUB_OK;
}

void hub_xorb_upload_dispose(struct hub_xorb_upload *upload)
{
    if (upload->fd >= 0)
        (void)unlinkat(upload->folder, upload->part, 0);
    close_now(&upload->fd);
    hub_xorb_scan_dispose(&upload->scan);
}

/* ---- reading ---- */

void hub_xorbs_init(struct hub_xorbs *xorbs, int folder)
{
    *xorbs = (struct hub_xorbs){.folder = folder};
    for (unsigned i = 0; i < HUB_XORBS_OPEN; i++)
        xorbs->files[i].fd = -1;
}

void hub_xorbs_dispose(struct hub_xorbs *xorbs)
{
    for (unsigned i = 0; i < HUB_XORBS_OPEN && xorbs->uses; i++)
        close_now(&xorbs->files[i].fd);
}

static enum hub_status is_damaged(const char *hash, struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "the xorb %s is damaged: run the push again", hash);
}

static enum hub_status open_file(const struct hub_xorbs *xorbs, const uint8_t hash[HUB_XET_HASH],
                                 struct hub_xorb_file *out, struct hub_error *err)
{
    char name[HUB_XET_HASH_TEXT + 1];
    struct trailer trailer;
    struct stat st;
    hub_xet_hash_write(hash, name);
    out->fd = openat(xorbs->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (out->fd < 0 && errno == ENOENT)
        return hub_fail(err, HUB_NOT_FOUND, "the xorb %s is not here any more: run the push again", name);
    if (out->fd < 0 || fstat(out->fd, &st))
        return hub_fail_errno(err, errno, "the xorb %s cannot be read", name);
    const uint64_t size = (uint64_t)st.st_size;
    if (size < sizeof trailer ||
        hub_fs_pread(out->fd, &trailer, sizeof trailer, size - sizeof trailer) != sizeof trailer ||
        memcmp(trailer.mark, MARK, sizeof trailer.mark) != 0 ||
        size != trailer.size + (uint64_t)trailer.count * sizeof(struct hub_xorb_chunk) + sizeof trailer)
        return is_damaged(name, err);
    memcpy(out->hash, hash, HUB_XET_HASH);
    out->count = trailer.count;
    out->size = trailer.size;
    return HUB_OK;
}

/* The place of the file, or of the one that was used longest ago. */
static struct hub_xorb_file *find_place(struct hub_xorbs *xorbs, const uint8_t hash[HUB_XET_HASH])
{
    struct hub_xorb_file *oldest = xorbs->files;
    for (unsigned i = 0; i < HUB_XORBS_OPEN; i++) {
        struct hub_xorb_file *file = &xorbs->files[i];
        if (file->fd >= 0 && memcmp(file->hash, hash, HUB_XET_HASH) == 0)
            return file;
        if (file->used < oldest->used)
            oldest = file;
    }
    close_now(&oldest->fd);
    return oldest;
}

enum hub_status hub_xorbs_find(struct hub_xorbs *xorbs, const uint8_t hash[HUB_XET_HASH],
                               const struct hub_xorb_file **out, struct hub_error *err)
{
    struct hub_xorb_file *file = find_place(xorbs, hash);
    const enum hub_status st = file->fd < 0 ? open_file(xorbs, hash, file, err) : HUB_OK;
    if (st)
        close_now(&file->fd);
    file->used = ++xorbs->uses;
    *out = file;
    return st;
}

enum hub_status hub_xorb_file_chunks(const struct hub_xorb_file *file, uint32_t first, uint32_t count,
                                     struct hub_xorb_chunk *out, struct hub_error *err)
{
    char name[HUB_XET_HASH_TEXT + 1];
    const uint32_t before = first > 0; /* the row that says where the first one begins */
    const size_t bytes = (count + before) * sizeof *out;
    hub_xet_hash_write(file->hash, name);
    if (first > file->count || count > file->count - first)
        return hub_fail(err, HUB_INVALID, "the shard names chunks up to %u of the xorb %s, which has %u",
                        first + count, name, file->count);
    out[0] = (struct hub_xorb_chunk){0, 0};
    const uint64_t at = file->size + (uint64_t)(first - before) * sizeof *out;
    return hub_fs_pread(file->fd, out + 1 - before, bytes, at) == (ssize_t)bytes ? HUB_OK
                                                                                 : is_damaged(name, err);
}
