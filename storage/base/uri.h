/**
 * Percent-encoding (RFC 3986) and query strings. A path is split at '/' first and its segments decoded after,
 * so that %2F is a slash inside a segment. Decoded text is UTF-8 without control characters; anything else is
 * HUB_INVALID "bad-request".
 */
#ifndef HUB_BASE_URI_H
#define HUB_BASE_URI_H

#include "storage/base/buf.h"

/** Decode one path segment; '+' stays '+'. Appends. */
HUB_MUST_USE enum hub_status hub_uri_decode_segment(struct hub_view raw, struct hub_buf *out,
                                                    struct hub_error *err);
/** Encode everything but letters, digits and "-._~". Appends. */
HUB_MUST_USE enum hub_status hub_uri_encode_segment(struct hub_view text, struct hub_buf *out,
                                                    struct hub_error *err);
/** The same for a path whose '/' separate: they stay. Appends. */
HUB_MUST_USE enum hub_status hub_uri_encode_path(struct hub_view text, struct hub_buf *out,
                                                 struct hub_error *err);

enum { HUB_QUERY_PAIRS = 128, HUB_QUERY_BYTES = 16 * 1024 };

/** A parsed query string, in the order written. A name without '=' has an empty value. Zeroed is empty. */
struct hub_query {
    struct hub_query_pair {
        struct hub_view name, value; /* each also terminated */
    } * pairs;
    size_t count;
    char *text; /* what the views borrow */
};

/** Parse "a=1&b=x+y" ('+' is a space). HUB_TOO_BIG over the limits. Dispose the result. */
HUB_MUST_USE enum hub_status hub_query_parse(struct hub_view raw, struct hub_query *out,
                                             struct hub_error *err);
void hub_query_dispose(struct hub_query *query);
/** The first value of a name, terminated, or NULL. */
const char *hub_query_get(const struct hub_query *query, const char *name);
/** The next pair with that name from `*at` on (start with 0; advanced past it), or NULL. */
const struct hub_query_pair *hub_query_next(const struct hub_query *query, const char *name, size_t *at);

#endif
