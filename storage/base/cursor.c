/* A bounded reader: see cursor.h. */
#include "storage/base/cursor.h"

const uint8_t *hub_cursor_bytes(struct hub_cursor *c, size_t size)
{
    if (c->failed || size > hub_cursor_left(c)) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *at = c->at;
    c->at += size;
    return at;
}

uint64_t hub_cursor_uint(struct hub_cursor *c, unsigned width)
{
    const uint8_t *p = width <= 8 ? hub_cursor_bytes(c, width) : NULL;
    uint64_t value = 0;
    if (!p)
        c->failed = true;
    for (unsigned i = 0; p && i < width; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

uint8_t hub_cursor_u8(struct hub_cursor *c)
{
    return (uint8_t)hub_cursor_uint(c, 1);
}

uint16_t hub_cursor_u16(struct hub_cursor *c)
{
    return (uint16_t)hub_cursor_uint(c, 2);
}

uint32_t hub_cursor_u32(struct hub_cursor *c)
{
    return (uint32_t)hub_cursor_uint(c, 4);
}

uint64_t hub_cursor_u64(struct hub_cursor *c)
{
    return hub_cursor_uint(c, 8);
}

struct hub_view hub_cursor_text(struct hub_cursor *c, size_t limit)
{
    const uint32_t size = hub_cursor_u32(c);
    if (size > limit)
        c->failed = true;
    const uint8_t *data = hub_cursor_bytes(c, size);
    return data ? (struct hub_view){(const char *)data, size} : (struct hub_view){"", 0};
}

bool hub_cursor_skip(struct hub_cursor *c, size_t size)
{
    return hub_cursor_bytes(c, size) != NULL;
}
