/* See h5_vfd.h. The library's own drivers call open, flock and stat, which the sandbox does not allow. */
#include "storage/formats/hdf5/h5_vfd.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct vfd_source {
    int fd;
    uint64_t size;
    int *trouble;
};

struct vfd_file {
    H5FD_t base; /* the library's part: must come first */
    struct vfd_source source;
    haddr_t eoa;
};

static H5FD_t *vfd_open(const char *name, unsigned flags, hid_t fapl, haddr_t max)
{
    (void)name;
    (void)max;
    const struct vfd_source *source = H5Pget_driver_info(fapl);
    if (!source || flags & H5F_ACC_RDWR)
        return NULL;
    struct vfd_file *file = calloc(1, sizeof *file);
    if (file)
        file->source = *source;
    return (H5FD_t *)file;
}

static herr_t vfd_close(H5FD_t *file)
{
    free(file);
    return 0;
}

static int vfd_compare(const H5FD_t *a, const H5FD_t *b)
{
    const struct vfd_file *x = (const struct vfd_file *)a, *y = (const struct vfd_file *)b;
    return (x->source.fd > y->source.fd) - (x->source.fd < y->source.fd);
}

static herr_t vfd_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_METADATA;
    return 0;
}

static haddr_t vfd_get_eoa(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct vfd_file *)file)->eoa;
}

static herr_t vfd_set_eoa(H5FD_t *file, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct vfd_file *)file)->eoa = address;
    return 0;
}

static haddr_t vfd_get_eof(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const struct vfd_file *)file)->source.size;
}

/* Bytes past the end of the file read as zeros, as the library's own drivers do. The library makes all
 * failures its own, so those of the machine are put down. */
static herr_t vfd_read(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size, void *out)
{
    (void)type;
    (void)dxpl;
    const struct vfd_file *file = (const struct vfd_file *)base;
    if (address == HADDR_UNDEF || address > INT64_MAX - size)
        return -1;
    const ssize_t n = hub_fs_pread(file->source.fd, out, size, address);
    if (n < 0 || ((size_t)n < size && address + (size_t)n < file->source.size)) {
        *file->source.trouble = n < 0 ? errno : ESTALE;
        return -1;
    }
    memset((char *)out + n, 0, size - (size_t)n);
    return 0;
}

static herr_t vfd_write(H5FD_t *file, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t size,
                        const void *data)
{
    (void)file;
    (void)type;
    (void)dxpl;
    (void)address;
    (void)size;
    (void)data;
    return -1;
}

static const H5FD_class_t vfd_class = {
    .name = "minari-hub",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(struct vfd_source),
    .open = vfd_open,
    .close = vfd_close,
    .cmp = vfd_compare,
    .query = vfd_query,
    .get_eoa = vfd_get_eoa,
    .set_eoa = vfd_set_eoa,
    .get_eof = vfd_get_eof,
    .read = vfd_read,
    .write = vfd_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t h5_vfd_open(int fd, uint64_t size, int *trouble)
{
    const struct vfd_source source = {fd, size, trouble};
    /* No messages on stderr, and no filter plugin loaded because a file names it. */
    if (H5open() < 0 || H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0 || H5PLset_loading_state(0) < 0)
        return -1;
    const hid_t driver = H5FDregister(&vfd_class), fapl = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = -1;
    if (driver >= 0 && fapl >= 0 && H5Pset_driver(fapl, driver, &source) >= 0)
        file = H5Fopen("/minari-hub", H5F_ACC_RDONLY, fapl); /* a relative name makes it ask where it is */
    if (fapl >= 0)
        H5Pclose(fapl);
    if (driver >= 0)
        H5FDunregister(driver);
    return file;
}
