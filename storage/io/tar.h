/**
 * Tar archives (POSIX.1-2001 pax interchange format). What is written of the same members is the same, byte
 * for byte: regular files of mode 0644 that belong to nobody; a pax header only where ustar cannot hold the
 * name (over 100 bytes, or not ASCII), the size (8 GiB and more) or the time (a fraction of a second, or
 * before 1970).
 */
#ifndef HUB_IO_TAR_H
#define HUB_IO_TAR_H

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

/* ---- reading: bounded; ustar, GNU (long names, base-256 numbers), pax (path, size, mtime) and the older
 * v7 headers, by checksum. Names are labels: whoever makes files of them checks them. ---- */

#define HUB_TAR_MAX_NAME 4096

/** Bytes of the archive from `offset` on; `got` is less than `size` only at its end. Offsets never go
 * back. */
typedef enum hub_status hub_tar_read(void *user, uint64_t offset, void *out, size_t size, size_t *got,
                                     struct hub_error *err);

struct hub_tar {
    hub_tar_read *read;
    void *user;
    uint64_t size;       /* of the archive; UINT64_MAX: not known */
    uint64_t at;         /* of the next header */
    struct hub_buf name; /* of the current member */
    bool beginning;      /* the source is but the beginning: its last member may reach beyond it */
    bool unterminated;   /* the file ended without end blocks */
    bool trailing;       /* bytes follow the end blocks: another archive, or garbage */
};

struct hub_tar_member {
    struct hub_view name; /* valid until the next call; not necessarily UTF-8 */
    uint64_t offset, size;
    bool regular; /* a file; else a directory, link or device, without bytes */
    char type;    /* as the header has it: '1' is a hard link, '2' a symbolic one, '5' a directory */
    bool spelled; /* the name: HUB_TAR_SPELLED */
    int64_t mtime_ns;
};

void hub_tar_begin(struct hub_tar *tar, hub_tar_read *read, void *user, uint64_t size);
void hub_tar_dispose(struct hub_tar *tar);

/**
 * The next member. `end` is set instead when there is none.
 * @return HUB_OK; HUB_CORRUPT (bad checksum, cut short); HUB_UNSUPPORTED (sparse); HUB_TOO_BIG (a name or pax
 * header)
 */
HUB_MUST_USE enum hub_status hub_tar_next(struct hub_tar *tar, struct hub_tar_member *out, bool *end,
                                          struct hub_error *err);

/** The 512 bytes are a tar header: its checksum is right. */
bool hub_tar_is_header(const uint8_t block[512]);

#endif
