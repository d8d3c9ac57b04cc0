/* Percent-encoding: see uri.h. */
#include "storage/text/uri.h"

static bool unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static enum hub_status encode(struct hub_view text, bool keep_slash, struct hub_buf *out,
                              struct hub_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    if (text.size > SIZE_MAX / 3)
        return hub_fail(err, HUB_TOO_BIG, "too much to encode");
    HUB_TRY(hub_buf_reserve(out, text.size * 3, err));
    char *to = out->data + out->size;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (unreserved(c) || (keep_slash && c == '/')) {
            *to++ = c;
        } else {
            *to++ = '%';
            *to++ = digits[c >> 4 & 15];
            *to++ = digits[c & 15];
        }
    }
    *to = '\0';
    out->size = (size_t)(to - out->data);
    return HUB_OK;
}

enum hub_status hub_uri_encode_segment(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    return encode(text, false, out, err);
}

enum hub_status hub_uri_encode_path(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    return encode(text, true, out, err);
}
