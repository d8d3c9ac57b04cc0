/* The text a JSON string stands for, piece by piece: see json.h. */
#include "storage/text/json.h"

#include "storage/base/hex.h"

enum { PLAIN = 0, ESCAPE, HEX /* and how many digits there are: up to HEX + 3 */ };

static size_t put_code(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* A high surrogate that nothing followed. */
static size_t put_lone(struct hub_json_unescape *u, char *out)
{
    const bool lone = u->high != 0;
    u->high = 0;
    return lone ? put_code(0xFFFD, out) : 0;
}

/* All four digits of \uXXXX are there. */
static size_t end_unicode(struct hub_json_unescape *u, char *out)
{
    const uint32_t code = u->code;
    if (u->high && code >= 0xDC00 && code < 0xE000) {
        const uint32_t both = 0x10000 + ((u->high - 0xD800) << 10) + (code - 0xDC00);
        u->high = 0;
        return put_code(both, out);
    }
    const size_t n = put_lone(u, out);
    if (code >= 0xD800 && code < 0xDC00) {
        u->high = code;
        return n;
    }
    return n + put_code(code >= 0xDC00 && code < 0xE000 ? 0xFFFD : code, out + n);
}

static size_t end_escape(struct hub_json_unescape *u, char c, char *out)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *found = c ? strchr(letters, c) : NULL;
    const size_t n = put_lone(u, out);
    out[n] = found ? meant[found - letters] : c;
    return n + 1;
}

size_t hub_json_unescape(struct hub_json_unescape *u, const char *in, size_t size, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const char c = in[i];
        if (u->state == PLAIN && c != '\\') {
            n += put_lone(u, out + n);
            out[n++] = c;
        } else if (u->state == PLAIN) {
            u->state = ESCAPE;
        } else if (u->state == ESCAPE && c == 'u') {
            u->state = HEX;
            u->code = 0;
        } else if (u->state == ESCAPE) {
            u->state = PLAIN;
            n += end_escape(u, c, out + n);
        } else {
            u->code = u->code << 4 | ((uint32_t)hub_hex_digit(c) & 15);
            u->state = u->state == HEX + 3 ? PLAIN : (uint8_t)(u->state + 1);
            if (u->state == PLAIN)
                n += end_unicode(u, out + n);
        }
    }
    return n;
}

size_t hub_json_unescape_end(struct hub_json_unescape *u, char *out)
{
    return put_lone(u, out);
}
