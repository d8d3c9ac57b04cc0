/** Digests: streaming MD5, SHA-1 and SHA-256 (OpenSSL), and CRC-32C. */
#ifndef HUB_BASE_DIGEST_H
#define HUB_BASE_DIGEST_H

#include "storage/base/buf.h"

enum hub_digest_kind { HUB_MD5, HUB_SHA1, HUB_SHA256 };

enum { HUB_MD5_BYTES = 16, HUB_SHA1_BYTES = 20, HUB_SHA256_BYTES = 32, HUB_DIGEST_MAX = 32 };

/** A digest being computed. Zeroed or disposed ones may be disposed again; begin and then add, end. */
struct hub_digest {
    void *context; /* EVP_MD_CTX */
    size_t size;   /* bytes of the result */
};

/** Do now what OpenSSL does at a process's first digest, without its configuration file: for a process that
 * may not open files later. */
void hub_digest_prepare(void);

HUB_MUST_USE enum hub_status hub_digest_begin(struct hub_digest *digest, enum hub_digest_kind kind,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_digest_add(struct hub_digest *digest, struct hub_view bytes,
                                            struct hub_error *err);
/** Write `digest->size` bytes and dispose. */
HUB_MUST_USE enum hub_status hub_digest_end(struct hub_digest *digest, uint8_t out[HUB_DIGEST_MAX],
                                            struct hub_error *err);
void hub_digest_dispose(struct hub_digest *digest);

/** All at once. */
HUB_MUST_USE enum hub_status hub_digest_of(enum hub_digest_kind kind, struct hub_view bytes,
                                           uint8_t out[HUB_DIGEST_MAX], struct hub_error *err);

/** Lower hex, terminated: `out` has 2 * size + 1 chars. */
void hub_hex(const void *bytes, size_t size, char *out);
/** The inverse for exactly `size` bytes; accepts upper case. */
bool hub_unhex(struct hub_view text, void *out, size_t size);

/** CRC-32C (Castagnoli): start with 0, feed the result back in. */
uint32_t hub_crc32c(uint32_t crc, const void *data, size_t size);
/** Of bytes that follow each other, from the CRC-32C of the first and of the second ones. */
uint32_t hub_crc32c_join(uint32_t first, uint32_t second, uint64_t second_size);
/** The same without special instructions, for tests. */
uint32_t hub_crc32c_portable(uint32_t crc, const void *data, size_t size);

#endif
