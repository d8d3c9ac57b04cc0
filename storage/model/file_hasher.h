/** Digests of a file in one pass over its bytes, in their order: SHA-256, CRC-32C, and the kind that its
 * remote states where that is another. */
#ifndef HUB_MODEL_FILE_HASHER_H
#define HUB_MODEL_FILE_HASHER_H

#include "storage/model/file_facts.h"

enum { HUB_SUM_PIECE = 1024 * 1024 };

/** Zeroed, or disposed of. */
struct hub_sums {
    uint8_t *pieces; /* CRC-32C of each HUB_SUM_PIECE bytes, big-endian; NULL: of one piece, or not known */
    size_t pieces_size;
    bool known, has_sha256;
    uint8_t kind; /* enum hub_file_digest, of `other` */
    uint8_t sha256[HUB_SHA256_BYTES], other[HUB_SHA1_BYTES];
    uint8_t crc32c[4]; /* big-endian; also where `other` is another kind */
};

void hub_sums_dispose(struct hub_sums *sums);

/** Make the sums of a file, which is not empty, of the CRC-32C of its pieces alone, put in any order: begin,
 * put each, again if its bytes come again, and end. They have no SHA-256 then. */
HUB_MUST_USE enum hub_status hub_sums_begin(struct hub_sums *sums, uint64_t size, struct hub_error *err);
void hub_sums_put(struct hub_sums *sums, uint64_t piece, uint32_t crc32c);
void hub_sums_end(struct hub_sums *sums, uint64_t size);

/** Whether they agree with the digest of a file that counts. */
bool hub_sums_agree(const struct hub_sums *sums, const struct hub_file_facts *file);

/** One file's. Zeroed or disposed ones may be disposed again; begin and then add, end. */
struct hub_file_hasher {
    uint64_t at; /* all bytes before it are in */
    struct hub_digest sha256, other;
    enum hub_file_digest kind;
    uint32_t crc32c, piece; /* of the pieces before, and of the one under way */
    struct hub_buf pieces;
};

/** @param size  of the file: git's digest begins with it */
HUB_MUST_USE enum hub_status hub_file_hasher_begin(struct hub_file_hasher *hasher, enum hub_file_digest kind,
                                                   uint64_t size, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_file_hasher_add(struct hub_file_hasher *hasher, struct hub_view bytes,
                                                 struct hub_error *err);
/** Write the sums, in place of what is there, and dispose. */
HUB_MUST_USE enum hub_status hub_file_hasher_end(struct hub_file_hasher *hasher, struct hub_sums *out,
                                                 struct hub_error *err);
void hub_file_hasher_dispose(struct hub_file_hasher *hasher);

typedef enum hub_status (*hub_tick_fn)(void *user, struct hub_error *err);

/** Add what an open file holds up to `end`; `tick`, unless it is NULL, is asked between steps. */
HUB_MUST_USE enum hub_status hub_file_hasher_read(struct hub_file_hasher *hasher, int fd, uint64_t end,
                                                  hub_tick_fn tick, void *user, struct hub_error *err);

/** All sums of an open file, of the size and by the digests of `file`. */
HUB_MUST_USE enum hub_status hub_sums_of(int fd, const struct hub_file_facts *file, hub_tick_fn tick,
                                         void *user, struct hub_sums *out, struct hub_error *err);

#endif
