/* Paths as text: see spell.h. */
#include "storage/base/spell.h"

#include "storage/base/hex.h"
#include "storage/base/id.h"
#include "storage/base/utf8.h"

static enum hub_status put_hex(struct hub_view bytes, struct hub_buf *out, struct hub_error *err)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.size; i++) {
        const uint8_t byte = (uint8_t)bytes.data[i];
        HUB_TRY(hub_buf_add(out, (const char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4, err));
    }
    return HUB_OK;
}

/* How many bytes at its beginning are those that mean themselves everywhere. */
static size_t plain_ascii(struct hub_view text)
{
    size_t n = 0;
    while (n < text.size && text.data[n] >= 0x20 && text.data[n] < 0x7F && text.data[n] != '\\')
        n++;
    return n;
}

static enum hub_status spell_segment(struct hub_view segment, bool in_id, struct hub_buf *out,
                                     struct hub_error *err)
{
    bool hidden = in_id && hub_id_segment_reserved(segment);
    while (segment.size) {
        uint32_t code = 0;
        const size_t run = hidden ? 0 : plain_ascii(segment),
                     size = run ? run : hub_utf8_decode(segment, &code);
        const struct hub_view here = {segment.data, size ? size : 1};
        const bool plain = run || (size && !hub_utf8_hides(code) && code != '\\' && !hidden);
        HUB_TRY(plain ? hub_buf_add_view(out, here, err) : put_hex(here, out, err));
        segment.data += here.size;
        segment.size -= here.size;
        hidden = false;
    }
    return HUB_OK;
}

static enum hub_status spell(struct hub_view path, bool in_id, struct hub_buf *out, struct hub_error *err)
{
    while (path.size) {
        const char *slash = memchr(path.data, '/', path.size);
        const size_t size = slash ? (size_t)(slash - path.data) : path.size;
        HUB_TRY(spell_segment((struct hub_view){path.data, size}, in_id, out, err));
        if (slash)
            HUB_TRY(hub_buf_add(out, "/", 1, err));
        path.data += size + (slash != NULL);
        path.size -= size + (slash != NULL);
    }
    return HUB_OK;
}

enum hub_status hub_spell_path(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    return spell(path, false, out, err);
}

enum hub_status hub_spell_id(struct hub_view path, struct hub_buf *out, struct hub_error *err)
{
    return spell(path, true, out, err);
}

enum hub_status hub_unspell(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    for (size_t i = 0; i < text.size;) {
        const char *escape = memchr(text.data + i, '\\', text.size - i);
        const size_t run = escape ? (size_t)(escape - text.data) - i : text.size - i;
        HUB_TRY(hub_buf_add(out, text.data + i, run, err));
        i += run;
        if (!escape)
            break;
        const bool whole = text.size - i >= 4 && text.data[i + 1] == 'x';
        const int high = whole ? hub_hex_digit(text.data[i + 2]) : -1;
        const int low = whole ? hub_hex_digit(text.data[i + 3]) : -1;
        const char byte = (char)(high < 0 || low < 0 ? 0 : high << 4 | low);
        if (!byte || byte == '/')
            return hub_fail(err, HUB_INVALID,
                            "a backslash begins an escape \\xhh, a byte in hexadecimal; the backslash "
                            "itself is \\x5c");
        HUB_TRY(hub_buf_add(out, &byte, 1, err));
        i += 4;
    }
    return HUB_OK;
}
