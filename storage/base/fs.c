/* File helpers: see fs.h. */
#include "storage/base/fs.h"

bool hub_stamp_equal(const struct hub_stamp *a, const struct hub_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000U + (uint64_t)t->tv_nsec;
}

struct hub_stamp hub_stamp_of(const struct stat *st)
{
    return (struct hub_stamp){.device = (uint64_t)st->st_dev,
                              .inode = (uint64_t)st->st_ino,
                              .size = (uint64_t)st->st_size,
                              .mtime_ns = nanoseconds(&st->st_mtim),
                              .ctime_ns = nanoseconds(&st->st_ctim)};
}
