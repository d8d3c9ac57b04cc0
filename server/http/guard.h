/**
 * What libmicrohttpd lets through and nobody should act on: requests whose framing two parsers could read
 * differently, and header fields that are not what RFC 9110 calls one. Looked at before any body is read; a
 * refusal closes the connection.
 */
#ifndef HUB_HTTP_GUARD_H
#define HUB_HTTP_GUARD_H

#include "server/http/http.h"

struct hub_guard_request {
    const char *method, *version; /* as sent: "GET", "HTTP/1.1" */
    const char *target;           /* raw; only its first byte is looked at: request.c reads the rest */
    const struct hub_param *headers;
    unsigned header_count;
    bool folded; /* a header field went on in a second line */
    bool hidden; /* bytes came that are in none of these, as behind a NUL */
};

/** What the guard learned on the way. */
struct hub_guard_facts {
    enum hub_method method; /* 0: a token we do not know */
    bool has_body;
    bool chunked;
    bool announced;          /* the body's length was, by Content-Length or chunked */
    uint64_t content_length; /* 0 when absent */
    const char *host;        /* NULL: HTTP/1.0 without one */
};

HUB_MUST_USE enum hub_status hub_guard(const struct hub_guard_request *request, struct hub_guard_facts *facts,
                                       struct hub_error *err);

#endif
