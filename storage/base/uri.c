/* Percent-encoding and query strings: see uri.h. */
#include "storage/base/uri.h"

#include "storage/base/hex.h"

#include "storage/base/utf8.h"

#include <stdlib.h>

/* Decode into `out`, which has room for raw.size bytes. Returns the bytes written, or SIZE_MAX for a bad
 * escape. */
static size_t decode(struct hub_view raw, bool plus_is_space, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < raw.size; i++) {
        char c = raw.data[i];
        if (c == '%') {
            const int high = raw.size - i > 2 ? hub_hex_digit(raw.data[i + 1]) : -1;
            const int low = high >= 0 ? hub_hex_digit(raw.data[i + 2]) : -1;
            if (low < 0)
                return SIZE_MAX;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        out[n++] = c;
    }
    return n;
}

static enum hub_status check(struct hub_view decoded, struct hub_error *err)
{
    if (decoded.size == SIZE_MAX)
        return hub_fail_as(err, HUB_INVALID, "bad-request",
                           "'%%' must be followed by two hexadecimal digits");
    if (!hub_utf8_printable(decoded))
        return hub_fail_as(err, HUB_INVALID, "bad-request",
                           "text in a URL must be UTF-8 without control characters");
    return HUB_OK;
}

enum hub_status hub_uri_decode_segment(struct hub_view raw, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_reserve(out, raw.size, err));
    const size_t n = decode(raw, false, out->data + out->size);
    const enum hub_status st = check((struct hub_view){out->data + out->size, n}, err);
    out->size += st ? 0 : n;
    out->data[out->size] = '\0';
    return st;
}

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

void hub_query_dispose(struct hub_query *query)
{
    free(query->pairs);
    free(query->text);
    *query = (struct hub_query){0};
}

/* Decode one name or value behind what is in query->text already, and terminate it. */
static enum hub_status take(struct hub_view raw, char **at, struct hub_view *out, struct hub_error *err)
{
    *out = (struct hub_view){*at, decode(raw, true, *at)};
    HUB_TRY(check(*out, err));
    (*at)[out->size] = '\0';
    *at += out->size + 1;
    return HUB_OK;
}

static enum hub_status take_pair(struct hub_view raw, char **at, struct hub_query *query,
                                 struct hub_error *err)
{
    const char *equals = memchr(raw.data, '=', raw.size);
    const size_t n = equals ? (size_t)(equals - raw.data) : raw.size;
    const struct hub_view value =
        equals ? (struct hub_view){equals + 1, raw.size - n - 1} : (struct hub_view){"", 0};
    if (query->count == HUB_QUERY_PAIRS)
        return hub_fail_as(err, HUB_TOO_BIG, "bad-request", "more than %d query parameters", HUB_QUERY_PAIRS);
    struct hub_query_pair *pair = &query->pairs[query->count++];
    HUB_TRY(take((struct hub_view){raw.data, n}, at, &pair->name, err));
    return take(value, at, &pair->value, err);
}

enum hub_status hub_query_parse(struct hub_view raw, struct hub_query *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_query_dispose) struct hub_query query = {0};
    if (raw.size > HUB_QUERY_BYTES)
        return hub_fail_as(err, HUB_TOO_BIG, "bad-request", "a query of more than %d bytes", HUB_QUERY_BYTES);
    size_t pairs = 1;
    for (size_t i = 0; i < raw.size; i++)
        pairs += raw.data[i] == '&';
    pairs = HUB_MIN(pairs, (size_t)HUB_QUERY_PAIRS);
    query.pairs = calloc(pairs, sizeof(*query.pairs));
    query.text = malloc(raw.size + 2 * pairs +
                        1); /* decoded text is no longer, and each name and value is terminated */
    if (!query.pairs || !query.text)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the query");
    char *at = query.text;
    for (size_t from = 0; from < raw.size;) {
        const char *end = memchr(raw.data + from, '&', raw.size - from);
        const size_t to = end ? (size_t)(end - raw.data) : raw.size;
        if (to > from)
            HUB_TRY(take_pair((struct hub_view){raw.data + from, to - from}, &at, &query, err));
        from = to + 1;
    }
    *out = query;
    query = (struct hub_query){0};
    return HUB_OK;
}

const struct hub_query_pair *hub_query_next(const struct hub_query *query, const char *name, size_t *at)
{
    while (*at < query->count) {
        const struct hub_query_pair *pair = &query->pairs[(*at)++];
        if (hub_view_is(pair->name, name))
            return pair;
    }
    return NULL;
}

const char *hub_query_get(const struct hub_query *query, const char *name)
{
    size_t at = 0;
    const struct hub_query_pair *pair = hub_query_next(query, name, &at);
    return pair ? pair->value.data : NULL;
}
