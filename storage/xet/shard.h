/**
 * A shard of the Xet protocol: which runs of chunks of which xorbs are the files of an upload. A header, then
 * records of 48 bytes: of each file one that states its number of terms, its terms, as many records of
 * verification (not needed), and one with its SHA-256; behind the last file a record whose hash is all ones.
 * Then the xorbs with their chunks (not needed, but counted), ended in the same way; then a footer, or none.
 * https://huggingface.co/docs/xet/shard
 */
#ifndef HUB_XET_SHARD_H
#define HUB_XET_SHARD_H

#include "storage/xet/hash.h"

enum {
    HUB_SHARD_RECORD = 48,
    HUB_SHARD_BYTES = 64 * 1024 * 1024,
    HUB_SHARD_FILES = 128 * 1024,
    HUB_SHARD_TERMS = 512 * 1024, /* of all files */
};

/** Chunks `first` to `end` - 1 of a xorb, which are `bytes` bytes of the file. */
struct hub_shard_term {
    uint8_t xorb[HUB_XET_HASH];
    uint32_t bytes, first, end;
};

struct hub_shard_file {
    uint8_t sha256[HUB_SHA256_BYTES]; /* in the usual order of its bytes */
    uint64_t size;                    /* of its terms together */
    uint32_t first_term, term_count;
};

struct hub_shard {
    struct hub_shard_file *files;
    struct hub_shard_term *terms;
    uint32_t file_count, term_count;
};
void hub_shard_dispose(struct hub_shard *shard);

/** What the next record of a shard is. */
enum hub_shard_part {
    HUB_SHARD_HEADER,
    HUB_SHARD_FILE,
    HUB_SHARD_TERM,
    HUB_SHARD_VERIFICATION,
    HUB_SHARD_METADATA,
    HUB_SHARD_XORB,
    HUB_SHARD_CHUNK,
    HUB_SHARD_END, /* a footer, or nothing */
};

/** A shard whose bytes come block by block. Zeroed: none came. */
struct hub_shard_scan {
    struct hub_shard shard;
    uint32_t file_capacity, term_capacity;
    enum hub_shard_part part;
    uint32_t left;          /* records of this part that are still to come */
    uint32_t verifications; /* of the file that is read */
    uint8_t record[HUB_SHARD_RECORD];
    uint32_t record_bytes; /* that came */
    uint64_t size;         /* of all that came */
};

/** Take more bytes. HUB_CORRUPT: no shard is written so; HUB_UNSUPPORTED: a file without a SHA-256;
 * HUB_TOO_BIG: over the bounds above. */
HUB_MUST_USE enum hub_status hub_shard_scan_add(struct hub_shard_scan *scan, struct hub_view bytes,
                                                struct hub_error *err);
/** All bytes came: what they describe. HUB_CORRUPT: it ends too early. */
HUB_MUST_USE enum hub_status hub_shard_scan_end(struct hub_shard_scan *scan, struct hub_shard *out,
                                                struct hub_error *err);
void hub_shard_scan_dispose(struct hub_shard_scan *scan);

#endif
