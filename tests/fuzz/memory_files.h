/** The files of a job, in memory files: what drivers ask for descriptors of. For fuzz targets. */
#ifndef HUB_TESTS_MEMORY_FILES_H
#define HUB_TESTS_MEMORY_FILES_H

#include "storage/worker/format.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_FILES = 8 };

struct memory_files {
    struct hub_files files; /* first: drivers pass it back */
    struct hub_file_entry entries[MEMORY_FILES];
    int fds[MEMORY_FILES], side_fd;
};

static inline enum hub_status memory_open(struct hub_files *files, uint32_t number, int *fd,
                                          struct hub_error *err)
{
    const struct memory_files *m = (const struct memory_files *)files;
    if (number >= files->count)
        return hub_fail(err, HUB_NOT_FOUND, "no file %u", number);
    *fd = m->fds[number];
    return HUB_OK;
}

static inline void memory_close(struct hub_files *files, uint32_t number)
{
    (void)files, (void)number;
}

static inline enum hub_status memory_side(struct hub_files *files, int *fd, struct hub_error *err)
{
    struct memory_files *m = (struct memory_files *)files;
    (void)err;
    if (m->side_fd < 0)
        m->side_fd = memfd_create("side", MFD_CLOEXEC);
    *fd = m->side_fd;
    return HUB_OK;
}

static inline void memory_files_init(struct memory_files *m)
{
    *m = (struct memory_files){.side_fd = -1};
    m->files = (struct hub_files){.entries = m->entries,
                                  .open = memory_open,
                                  .close = memory_close,
                                  .side = memory_side,
                                  .side_budget = 4 * MIB};
}

/** `path` is borrowed. */
static inline void memory_files_add(struct memory_files *m, const char *path, const void *data, size_t size)
{
    const int fd = memfd_create("file", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || m->files.count == MEMORY_FILES)
        abort();
    m->fds[m->files.count] = fd;
    m->entries[m->files.count++] = (struct hub_file_entry){.path = hub_view_of(path), .size = size};
}

static inline void memory_files_dispose(struct memory_files *m)
{
    for (uint32_t i = 0; i < m->files.count; i++)
        close(m->fds[i]);
    if (m->side_fd >= 0)
        close(m->side_fd);
}

#endif
