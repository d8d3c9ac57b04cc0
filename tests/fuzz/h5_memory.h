/** The bytes of a fuzz case as the one file of a dataset, behind a descriptor of memory. */
#ifndef HUB_FUZZ_H5_MEMORY_H
#define HUB_FUZZ_H5_MEMORY_H

#include "storage/formats/hdf5/h5_parse.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory {
    struct hub_files files;
    struct hub_file_entry entry;
    int fd;
};

static inline enum hub_status memory_open(struct hub_files *files, uint32_t number, int *fd,
                                          struct hub_error *err)
{
    if (number != 0)
        return hub_fail(err, HUB_NOT_FOUND, "no file %u", number);
    *fd = ((struct memory *)files)->fd;
    return HUB_OK;
}

static inline void memory_close(struct hub_files *files, uint32_t number)
{
    (void)files, (void)number;
}

static inline enum hub_status memory_side(struct hub_files *files, int *fd, struct hub_error *err)
{
    (void)files, (void)fd;
    return hub_fail(err, HUB_TOO_BIG, "no side data here");
}

/* One descriptor serves all cases of a run. */
static inline struct memory *memory_of(const uint8_t *data, size_t size)
{
    static struct memory m = {.fd = -1};
    if (m.fd < 0)
        m.fd = memfd_create("case", MFD_CLOEXEC);
    if (ftruncate(m.fd, 0) || (size && pwrite(m.fd, data, size, 0) != (ssize_t)size))
        abort();
    m.entry = (struct hub_file_entry){.path = HUB_VIEW("case.hdf5"), .size = size};
    m.files = (struct hub_files){
        .entries = &m.entry, .count = 1, .open = memory_open, .close = memory_close, .side = memory_side};
    return &m;
}

/* A file without a superblock, for parsers of single structures. */
static inline struct hub_h5 *bare_of(const uint8_t *data, size_t size)
{
    struct memory *m = memory_of(data, size);
    struct hub_h5 *file = calloc(1, sizeof *file);
    *file = (struct hub_h5){.files = &m->files,
                            .fd = m->fd,
                            .size = size,
                            .offset_size = 8,
                            .length_size = 8,
                            .unverified = true};
    file->pages = malloc((size_t)H5_PAGES * H5_PAGE);
    file->page_tags = calloc(H5_PAGES, sizeof *file->page_tags);
    file->heaps = calloc(H5_HEAPS, sizeof *file->heaps);
    return file;
}

#endif
