/**
 * Hashes of the Xet protocol: 32 bytes that are written as four 64-bit words, each with its last byte first.
 * So the hexadecimal digits of a hash are not those of its bytes in their order; a SHA-256 that lies in a
 * shard is stored this way too.
 */
#ifndef HUB_XET_HASH_H
#define HUB_XET_HASH_H

#include "storage/base/digest.h"

enum { HUB_XET_HASH = 32, HUB_XET_HASH_TEXT = 2 * HUB_XET_HASH };

/** The bytes of each word the other way round; `out` may be `in`. Twice is the same again. */
void hub_xet_turn(const uint8_t in[HUB_XET_HASH], uint8_t out[HUB_XET_HASH]);
/** As paths write it: lower case, terminated. */
void hub_xet_hash_write(const uint8_t hash[HUB_XET_HASH], char out[HUB_XET_HASH_TEXT + 1]);
/** The inverse; lower case alone, so that a hash has one name. */
bool hub_xet_hash_read(struct hub_view text, uint8_t out[HUB_XET_HASH]);

#endif
