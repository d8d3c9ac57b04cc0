/* Packed numbers and texts: see pack.h. */
#include "storage/base/pack.h"

enum hub_status hub_pack_uint(struct hub_buf *buf, uint64_t value, struct hub_error *err)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return hub_buf_add(buf, bytes, n, err);
}

enum hub_status hub_pack_int(struct hub_buf *buf, int64_t value, struct hub_error *err)
{
    const uint64_t twice = (uint64_t)value << 1;
    return hub_pack_uint(buf, value < 0 ? ~twice : twice, err);
}

enum hub_status hub_pack_text(struct hub_buf *buf, const char *text, struct hub_error *err)
{
    const size_t size = strlen(text);
    HUB_TRY(hub_pack_uint(buf, size, err));
    return hub_buf_add(buf, text, size, err);
}

enum hub_status hub_pack_option(struct hub_buf *buf, const char *text, struct hub_error *err)
{
    HUB_TRY(hub_pack_uint(buf, text != NULL, err));
    return text ? hub_pack_text(buf, text, err) : HUB_OK;
}

uint64_t hub_unpack_uint(struct hub_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->failed || c->at == c->end)
            break;
        const uint8_t byte = *c->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->failed = true;
    return 0;
}

uint32_t hub_unpack_u32(struct hub_cursor *c)
{
    const uint64_t value = hub_unpack_uint(c);
    if (value > UINT32_MAX)
        c->failed = true;
    return (uint32_t)value;
}

int64_t hub_unpack_int(struct hub_cursor *c)
{
    const uint64_t twice = hub_unpack_uint(c);
    return (int64_t)(twice & 1 ? ~(twice >> 1) : twice >> 1);
}

struct hub_view hub_unpack_view(struct hub_cursor *c)
{
    const uint64_t size = hub_unpack_uint(c);
    const uint8_t *data = hub_cursor_bytes(c, size);
    return data ? (struct hub_view){(const char *)data, size} : (struct hub_view){"", 0};
}

const char *hub_unpack_text(struct hub_cursor *c, char **arena)
{
    const struct hub_view view = hub_unpack_view(c);
    if (c->failed)
        return "";
    char *text = *arena; /* the length took a byte at least, so the terminator has its room */
    if (view.size)
        memcpy(text, view.data, view.size);
    text[view.size] = '\0';
    *arena += view.size + 1;
    return text;
}

const char *hub_unpack_option(struct hub_cursor *c, char **arena)
{
    return hub_unpack_uint(c) ? hub_unpack_text(c, arena) : NULL;
}

uint32_t hub_unpack_count(struct hub_cursor *c)
{
    const uint64_t count = hub_unpack_uint(c);
    if (count > hub_cursor_left(c) || count > UINT32_MAX) {
        c->failed = true;
        return 0;
    }
    return (uint32_t)count;
}
