/**
 * Tar archives (POSIX.1-2001 pax interchange format). What is written of the same members is the same, byte for byte:
 * regular files of mode 0644 that belong to nobody; a pax header only where ustar cannot hold the name (over 100
 * bytes, or not ASCII), the size (8 GiB and more) or the time (a fraction of a second, or before 1970).
 */
#ifndef HUB_BASE_TAR_H
#define HUB_BASE_TAR_H

#include "storage/base/buf.h"

#define HUB_TAR_BLOCK 512

/** The comment of a member whose name stands for bytes that it does not have: see spell.h. */
#define HUB_TAR_SPELLED "minari-hub spelled"

/** A member that is written: a file. */
struct hub_tar_file {
    const char *name; /* UTF-8 */
    uint64_t size;
    int64_t mtime_ns;
    bool spelled; /* the name: HUB_TAR_SPELLED */
};

/** Append the zeros that follow so many bytes, to the end of their last block. */
HUB_MUST_USE enum hub_status hub_tar_pad(uint64_t size, struct hub_buf *out, struct hub_error *err);
/** Append what ends an archive: two blocks of zeros. */
HUB_MUST_USE enum hub_status hub_tar_end(struct hub_buf *out, struct hub_error *err);

/** Append what stands before the bytes of a member: whole blocks. */
HUB_MUST_USE enum hub_status hub_tar_header(const struct hub_tar_file *file, struct hub_buf *out,
                                            struct hub_error *err);

#endif
