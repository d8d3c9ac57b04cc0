/**
 * A bounded reader over foreign bytes. Every get checks what is left; after the first failure all further
 * gets fail too and return zero, so that a parser may read a whole structure and test `failed` once.
 * Little-endian unless named be.
 */
#ifndef HUB_BASE_CURSOR_H
#define HUB_BASE_CURSOR_H

#include "storage/base/buf.h"

struct hub_cursor {
    const uint8_t *at, *end;
    bool failed;
};

static inline struct hub_cursor hub_cursor_of(const void *data, size_t size)
{
    return (struct hub_cursor){data, (const uint8_t *)data + size, false};
}

static inline size_t hub_cursor_left(const struct hub_cursor *c)
{
    return (size_t)(c->end - c->at);
}

/** `size` bytes in place, or NULL. */
const uint8_t *hub_cursor_bytes(struct hub_cursor *c, size_t size);
uint8_t hub_cursor_u8(struct hub_cursor *c);
uint16_t hub_cursor_u16(struct hub_cursor *c);
uint32_t hub_cursor_u32(struct hub_cursor *c);
uint64_t hub_cursor_u64(struct hub_cursor *c);
static inline uint32_t hub_cursor_be32(struct hub_cursor *c)
{
    return __builtin_bswap32(hub_cursor_u32(c));
}

static inline uint64_t hub_cursor_be64(struct hub_cursor *c)
{
    return __builtin_bswap64(hub_cursor_u64(c));
}

/** An unsigned integer of 1 to 8 bytes (HDF5 offsets and lengths). */
uint64_t hub_cursor_uint(struct hub_cursor *c, unsigned width);
/** Text behind a 32-bit length; a longer one than `limit` fails. Not checked for UTF-8. */
struct hub_view hub_cursor_text(struct hub_cursor *c, size_t limit);
bool hub_cursor_skip(struct hub_cursor *c, size_t size);

#endif
