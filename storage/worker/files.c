/*
 * What drivers need of their files besides a descriptor: lookup by path, bounded reads, side data. Works over
 * any implementation of struct hub_files: the inspector's child, a test's folder.
 */
#include "storage/text/time.h"
#include "storage/worker/format.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* Order of path bytes, as the hub sorts a dataset's files. */
static int compare(struct hub_view a, struct hub_view b)
{
    const size_t n = HUB_MIN(a.size, b.size);
    const int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

uint32_t hub_files_find(const struct hub_files *files, const char *path)
{
    const struct hub_view wanted = hub_view_of(path);
    uint32_t low = 0, high = files->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (files->entries[middle].path.size == 0)
            break; /* an entry of a listing that was claimed: it says nothing about the order around it */
        const int order = compare(files->entries[middle].path, wanted);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t i = low; i < high; i++)
        if (hub_view_equal(files->entries[i].path, wanted))
            return i;
    return HUB_NONE;
}

const struct hub_format_mark *hub_files_mark(const struct hub_files *listing,
                                             const struct hub_format_mark *marks, const char *without)
{
    struct hub_marks_seen seen = {0};
    for (uint32_t i = 0; i < listing->count; i++)
        if (!without || !hub_view_is(listing->entries[i].path, without))
            hub_marks_see(marks, listing->entries[i].path, listing->entries[i].directory, &seen);
    return hub_marks_best(marks, &seen);
}

bool hub_files_have_names(const struct hub_files *listing, const struct hub_format_mark *marks)
{
    for (uint32_t i = 0; i < listing->count; i++)
        for (const struct hub_format_mark *mark = marks; mark->name; mark++)
            if (hub_mark_fits(mark->name, listing->entries[i].path, listing->entries[i].directory))
                return true;
    return false;
}

/* Up to `size` bytes; fewer only at the end of the file. */
static enum hub_status read_at(int fd, uint64_t offset, void *out, size_t size, size_t *got,
                               struct hub_error *err)
{
    const ssize_t n = hub_fs_pread(fd, out, size, offset);
    if (n < 0)
        return hub_fail_errno(err, errno, "reading at byte %llu", (unsigned long long)offset);
    *got = (size_t)n;
    return HUB_OK;
}

enum hub_status hub_files_read(struct hub_files *files, uint32_t number, uint64_t offset, void *out,
                               size_t size, size_t *got, struct hub_error *err)
{
    if (offset > INT64_MAX - size)
        return hub_fail(err, HUB_OUT_OF_RANGE, "byte %llu is out of bounds", (unsigned long long)offset);
    int fd;
    if (number == HUB_SIDE_FILE) {
        HUB_TRY(files->side(files, &fd, err));
        return read_at(fd, offset, out, size, got, err);
    }
    HUB_TRY(files->open(files, number, &fd, err));
    const enum hub_status st = read_at(fd, offset, out, size, got, err);
    files->close(files, number);
    return st;
}

enum hub_status hub_files_load(struct hub_files *files, uint32_t number, struct hub_buf *buf,
                               struct hub_error *err)
{
    if (number >= files->count)
        return hub_fail(err, HUB_NOT_FOUND, "there is no file %u", number);
    const uint64_t size = files->entries[number].size;
    if (size > buf->limit)
        return hub_fail(err, HUB_TOO_BIG, "%.*s has %llu bytes, more than %zu",
                        (int)files->entries[number].path.size, files->entries[number].path.data,
                        (unsigned long long)size, buf->limit);
    HUB_TRY(hub_buf_reserve(buf, (size_t)size, err));
    size_t got;
    HUB_TRY(hub_files_read(files, number, 0, buf->data + buf->size, (size_t)size, &got, err));
    if (got != size)
        return hub_fail(err, HUB_CHANGED, "%.*s became shorter while it was read",
                        (int)files->entries[number].path.size, files->entries[number].path.data);
    buf->size += got;
    buf->data[buf->size] = '\0';
    return HUB_OK;
}

static enum hub_status write_at(int fd, uint64_t offset, const void *data, size_t size, struct hub_error *err)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pwrite(fd, (const char *)data + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EFBIG)
            return hub_fail(err, HUB_TOO_BIG, "side-file budget");
        if (n < 0)
            return hub_fail_errno(err, errno, "writing side data");
        done += (size_t)n;
    }
    return HUB_OK;
}

enum hub_status hub_files_side_add(struct hub_files *files, const void *data, size_t size, uint64_t *offset,
                                   struct hub_error *err)
{
    const uint64_t at = (files->side_size + 7) & ~(uint64_t)7;
    if (at > files->side_budget || size > files->side_budget - at)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    int fd;
    HUB_TRY(files->side(files, &fd, err));
    HUB_TRY(write_at(fd, at, data, size, err));
    files->side_size = at + size;
    *offset = at;
    return HUB_OK;
}

bool hub_files_may_check(const struct hub_files *files)
{
    const int64_t cpu_ms = (int64_t)clock() / (CLOCKS_PER_SEC / 1000);
    return (files->check_until_ms == 0 || hub_time_mono_ms() < files->check_until_ms) &&
           (files->check_cpu_ms == 0 || cpu_ms < files->check_cpu_ms);
}
