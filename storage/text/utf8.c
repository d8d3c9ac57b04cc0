/* UTF-8 checking and decoding: see utf8.h. */
#include "storage/text/utf8.h"

size_t hub_utf8_decode(struct hub_view text, uint32_t *out)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (!text.size)
        return 0;
    const uint8_t *s = (const uint8_t *)text.data;
    if (s[0] < 0x80) {
        *out = s[0];
        return 1;
    }
    const size_t n = s[0] >= 0xC2 && s[0] < 0xE0   ? 2
                     : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                     : s[0] >= 0xF0 && s[0] < 0xF5 ? 4
                                                   : 0;
    if (!n || n > text.size)
        return 0;
    uint32_t code = s[0] & (0xFFU >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3FU);
    }
    if (code < smallest[n] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return 0;
    *out = code;
    return n;
}

uint32_t hub_utf8_next(struct hub_view *text)
{
    uint32_t code = 0xFFFD;
    const size_t n = hub_utf8_decode(*text, &code), taken = n ? n : 1;
    text->data += taken;
    text->size -= taken;
    return code;
}

/* Eight ASCII bytes at a time: most of what is checked is ASCII. */
static size_t ascii_run(struct hub_view text)
{
    size_t n = 0;
    uint64_t word;
    while (text.size - n >= sizeof(word)) {
        memcpy(&word, text.data + n, sizeof(word));
        if (word & 0x8080808080808080U)
            break;
        n += sizeof(word);
    }
    return n;
}

bool hub_utf8_valid(struct hub_view text)
{
    while (text.size) {
        uint32_t code;
        size_t n = ascii_run(text);
        if (!n)
            n = hub_utf8_decode(text, &code);
        if (!n)
            return false;
        text.data += n;
        text.size -= n;
    }
    return true;
}

bool hub_utf8_hides(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool hub_utf8_printable(struct hub_view text)
{
    while (text.size) {
        uint32_t code = (unsigned char)text.data[0];
        const size_t n = code < 0x80 ? 1 : hub_utf8_decode(text, &code);
        if (!n || hub_utf8_hides(code))
            return false;
        text.data += n;
        text.size -= n;
    }
    return true;
}

void hub_utf8_clean(char *text, size_t size)
{
    while (size) {
        uint32_t code = (unsigned char)text[0];
        const size_t n = code < 0x80 ? 1 : hub_utf8_decode((struct hub_view){text, size}, &code);
        if (!n || hub_utf8_hides(code))
            memset(text, '?', n ? n : 1);
        text += n ? n : 1;
        size -= n ? n : 1;
    }
}
