/**
 * Streams that are packed as a whole: read from the front, block by block, into memory or into the side data
 * of the job. Deflate (RFC 1951), gzip of one or more members (RFC 1952), Zstandard of one or more frames
 * (RFC 8878) with windows up to 64 MiB. What grows over HUB_UNPACK_RATIO times its size is refused.
 */
#ifndef HUB_FORMATS_UNPACK_H
#define HUB_FORMATS_UNPACK_H

#include "storage/formats/source.h"

enum { HUB_UNPACK_RATIO = 1100 }; /* deflate reaches 1,032 */

enum hub_packing { HUB_PACKED_NOT, HUB_PACKED_DEFLATE, HUB_PACKED_GZIP, HUB_PACKED_ZSTD };

struct hub_packed {
    struct hub_byte_source *source;
    uint64_t offset, size; /* of the packed bytes */
    enum hub_packing packing;
};

/** GZIP or ZSTD by the first 4 bytes, else NOT. */
enum hub_packing hub_packing_of(const uint8_t *head, size_t size);

/** The first bytes, up to the limit of `head`; fewer at the end. HUB_CORRUPT: those before the damage;
 * HUB_TOO_BIG: none, for the window. */
HUB_MUST_USE enum hub_status hub_unpack_head(const struct hub_packed *packed, struct hub_buf *head,
                                             struct hub_error *err);

struct hub_inflated {
    uint64_t offset, size; /* in HUB_SIDE_FILE */
    uint32_t crc;          /* CRC-32 of all */
};

/** All of it as side data; `head` gets its first bytes, up to its limit. HUB_TOO_BIG: there is no room, it
 * grows too much, or its window is too large. HUB_CORRUPT: what was unpacked before the damage is of no
 * use. */
HUB_MUST_USE enum hub_status hub_unpack(const struct hub_packed *packed, struct hub_files *files,
                                        struct hub_buf *head, struct hub_inflated *out,
                                        struct hub_error *err);

/* ---- a stream that is read once, from the front on ---- */

struct hub_unpack_stream;
/** Of packed bytes, whose source must outlive it. */
HUB_MUST_USE enum hub_status hub_unpack_stream_new(const struct hub_packed *packed,
                                                   struct hub_unpack_stream **out, struct hub_error *err);
/** What hub_tar_begin wants: bytes from `offset` on, which never goes back; what is passed over is unpacked
 * and dropped. HUB_CORRUPT; HUB_TOO_BIG: it grows too much, or its window is too large. */
HUB_MUST_USE enum hub_status hub_unpack_stream_read(void *stream, uint64_t offset, void *out, size_t size,
                                                    size_t *got, struct hub_error *err);
void hub_unpack_stream_free(struct hub_unpack_stream *stream);
void hub_unpack_stream_freep(struct hub_unpack_stream **stream);

#endif
