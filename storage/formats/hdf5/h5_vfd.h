/** A virtual file driver for libhdf5 over a descriptor that is open already: pread only; it opens, locks and
 * writes nothing. */
#ifndef HUB_FORMATS_H5_VFD_H
#define HUB_FORMATS_H5_VFD_H

#include <hdf5.h>
#include <stdint.h>

/** A file handle of the library, or negative. The descriptor stays the caller's. `trouble`: where the errno
 * of a read that fails is put, ESTALE for a file that became shorter; it outlives the handle. */
hid_t h5_vfd_open(int fd, uint64_t size, int *trouble);

#endif
