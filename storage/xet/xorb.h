/**
 * A xorb of the Xet protocol: chunks one after another, each behind a header of 8 bytes: version (0), bytes
 * that are stored (24 bits, little-endian), scheme, bytes of the chunk (24 bits). A footer that begins with
 * "XETBLOB" may follow; it says nothing that the chunks do not. https://huggingface.co/docs/xet/xorb
 *
 * The hash that a client gives a xorb is a name here and no more: what counts are the bytes of the files that
 * are made of it, by their SHA-256. So nothing here computes BLAKE3.
 */
#ifndef HUB_XET_XORB_H
#define HUB_XET_XORB_H

#include "storage/base/buf.h"

enum {
    HUB_XORB_CHUNKS = 8192,                      /* of one xorb */
    HUB_XORB_CHUNK_BYTES = 128 * 1024,           /* of one chunk, decoded */
    HUB_XORB_CHUNK_STORED = 256 * 1024,          /* as it is stored, without its header */
    HUB_XORB_HEADER = 8,                         /* bytes before each chunk */
    HUB_XORB_RAW_BYTES = 64 * 1024 * 1024,       /* of all chunks, decoded */
    HUB_XORB_BODY_BYTES = 65 * 1024 * 1024,      /* of a xorb with its headers and its footer */
    HUB_XORB_SCRATCH = HUB_XORB_CHUNK_BYTES + 64 /* what decoding a chunk needs */
};

/** Where a chunk ends: in the xorb, and in the decoded bytes of all chunks. */
struct hub_xorb_chunk {
    uint32_t end, raw_end;
};

/** A xorb whose bytes come block by block. Zeroed: none came. */
struct hub_xorb_scan {
    struct hub_xorb_chunk *chunks;
    uint32_t count, capacity;
    uint8_t header[HUB_XORB_HEADER];
    uint32_t header_bytes; /* of the next chunk, that came */
    uint32_t missing;      /* bytes of the chunk that are still to come */
    bool complete;         /* its footer came: what follows does not count */
};

/** Take more bytes. HUB_CORRUPT: no chunk is written so; HUB_TOO_BIG: over the bounds above. */
HUB_MUST_USE enum hub_status hub_xorb_scan_add(struct hub_xorb_scan *scan, struct hub_view bytes,
                                               struct hub_error *err);
/** All bytes came. HUB_CORRUPT: not all of the last chunk, or no chunk at all. */
HUB_MUST_USE enum hub_status hub_xorb_scan_end(const struct hub_xorb_scan *scan, struct hub_error *err);
void hub_xorb_scan_dispose(struct hub_xorb_scan *scan);

/** Bytes of the chunks and their headers that are complete. */
static inline uint32_t hub_xorb_scan_size(const struct hub_xorb_scan *scan)
{
    return scan->count ? scan->chunks[scan->count - 1].end : 0;
}

/**
 * Decode a chunk.
 *
 * @param chunk    with its header
 * @param out      exactly `size` bytes, else HUB_CORRUPT
 * @param scratch  HUB_XORB_SCRATCH bytes
 */
HUB_MUST_USE enum hub_status hub_xorb_chunk_decode(struct hub_view chunk, uint8_t *out, size_t size,
                                                   uint8_t *scratch, struct hub_error *err);

#endif
