/**
 * Files: opening beneath a directory, reading and writing whole files, listing, stamps. All paths of foreign origin go through
 * hub_fs_open_beneath. Functions are safe from any thread.
 */
#ifndef HUB_BASE_FS_H
#define HUB_BASE_FS_H

#include "storage/base/buf.h"

#include <sys/stat.h>

/** A file's identity and state. Opaque above the file layer: compared, never interpreted. */
struct hub_stamp {
    uint64_t device, inode, size, mtime_ns, ctime_ns;
};

bool hub_stamp_equal(const struct hub_stamp *a, const struct hub_stamp *b);
struct hub_stamp hub_stamp_of(const struct stat *st);

#endif
