/* Base64: see base64.h. */
#include "storage/base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum hub_status hub_base64_encode(struct hub_view bytes, struct hub_buf *out, struct hub_error *err)
{
    if (bytes.size > SIZE_MAX / 2)
        return hub_fail(err, HUB_TOO_BIG, "too much to encode");
    const size_t groups = (bytes.size + 2) / 3;
    HUB_TRY(hub_buf_reserve(out, groups * 4, err));
    const uint8_t *in = (const uint8_t *)bytes.data;
    char *to = out->data + out->size;
    for (size_t left = bytes.size; left;) {
        const size_t n = HUB_MIN(left, (size_t)3);
        const uint32_t bits =
            (uint32_t)in[0] << 16 | (n > 1 ? (uint32_t)in[1] << 8 : 0) | (n > 2 ? in[2] : 0U);
        to[0] = alphabet[bits >> 18];
        to[1] = alphabet[bits >> 12 & 63];
        to[2] = n > 1 ? alphabet[bits >> 6 & 63] : '=';
        to[3] = n > 2 ? alphabet[bits & 63] : '=';
        to += 4;
        in += n;
        left -= n;
    }
    out->size += groups * 4;
    out->data[out->size] = '\0';
    return HUB_OK;
}

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four; returns the bytes it holds, or 0. */
static size_t decode_group(const char *in, bool last, uint8_t out[3])
{
    const size_t chars = last && in[3] == '=' ? (in[2] == '=' ? 2 : 3) : 4;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        const int digit = i < chars ? digit_of(in[i]) : 0;
        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
    }
    const size_t size = chars - 1;
    if (bits & ((1U << (8 * (3 - size))) - 1))
        return 0; /* bits that encode leaves zero */
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    return size;
}

enum hub_status hub_base64_decode(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    const size_t start = out->size;
    if (text.size % 4)
        return hub_fail(err, HUB_INVALID, "not base64");
    for (size_t i = 0; i < text.size; i += 4) {
        uint8_t bytes[3];
        const size_t n = decode_group(text.data + i, i + 4 == text.size, bytes);
        enum hub_status st = n ? hub_buf_add(out, bytes, n, err) : hub_fail(err, HUB_INVALID, "not base64");
        if (st) {
            out->size = start;
            return st;
        }
    }
    return HUB_OK;
}
