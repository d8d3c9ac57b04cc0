/**
 * A bounded indexer of zip archives (APPNOTE.TXT 4.3, with zip64): where each member's bytes lie, as numpy's
 * savez and Python's zipfile write them. Members that are encrypted or compressed by another method than
 * deflate are listed and cannot be read. Names are labels: nothing here or above uses one as a path.
 */
#ifndef HUB_FORMATS_ZIP_H
#define HUB_FORMATS_ZIP_H

#include "storage/formats/source.h"

struct hub_zip_member {
    struct hub_view name; /* in the zip's text; not necessarily UTF-8 */
    uint64_t header;      /* of the local header, which hub_zip_find reads */
    uint64_t stored, size;
    uint32_t crc;
    uint16_t method, flags;
};

struct hub_zip {
    struct hub_byte_source *source;
    struct hub_buf text; /* the central directory */
    struct hub_zip_member *members;
    uint32_t count;
};

/** Does the file begin as an archive does that has members, or none? */
bool hub_zip_is(const uint8_t *head, size_t size);

/** List the members, in the order of the directory. `zip` is zero before, and disposed of in any case.
 * HUB_CORRUPT, HUB_UNSUPPORTED (more than one disk), HUB_TOO_BIG (a directory over 64 MiB). */
HUB_MUST_USE enum hub_status hub_zip_read(struct hub_zip *zip, struct hub_byte_source *source,
                                          struct hub_error *err);

/** Where a member's stored bytes begin. HUB_UNSUPPORTED, HUB_CORRUPT: it cannot be read, or the header in
 * front of the bytes has another name than the directory. */
HUB_MUST_USE enum hub_status hub_zip_find(struct hub_zip *zip, const struct hub_zip_member *member,
                                          uint64_t *offset, struct hub_error *err);

/** Compare the CRC-32 of a stored member whose bytes begin at `offset`: all of them are read, this once.
 * HUB_CORRUPT: it differs. HUB_TIMEOUT: not compared, for the job has no time left for it. */
HUB_MUST_USE enum hub_status hub_zip_check(struct hub_byte_source *source,
                                           const struct hub_zip_member *member, uint64_t offset,
                                           struct hub_error *err);

/** Unpack a deflated member into the side data of the job, where it begins at `offset`; `head` gets its first
 * bytes, up to its limit. Its length and CRC-32 are checked. HUB_TOO_BIG: there is no room for it. */
HUB_MUST_USE enum hub_status hub_zip_unpack(struct hub_zip *zip, const struct hub_zip_member *member,
                                            struct hub_files *files, uint64_t *offset, struct hub_buf *head,
                                            struct hub_error *err);

void hub_zip_dispose(struct hub_zip *zip);

enum { HUB_ZIP_STORED = 0, HUB_ZIP_DEFLATED = 8 };

#endif
