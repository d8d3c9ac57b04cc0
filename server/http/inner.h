/**
 * A request within a request: a handler is called for another address, in this process and on this thread,
 * and answers what a client would get, by the same functions and with the same checks.
 */
#ifndef HUB_HTTP_INNER_H
#define HUB_HTTP_INNER_H

#include "server/http/http.h"

/** Zeroed at first, disposed of in any case; it stays where it is in between. */
struct hub_inner {
    struct hub_request request;
    struct hub_response response;
    struct hub_buf stream; /* of a body that is made as it is sent: all of it */
};

/**
 * GET `target` ("/api/v1/datasets/ID?limit=3") for a request that may block. What it waits for (HUB_AGAIN:
 * memory or a thread for long work) the outer request waits for, and calls it again from its start; what
 * would have to be fetched first is HUB_BUSY. The route has to be for all.
 */
HUB_MUST_USE enum hub_status hub_inner_get(struct hub_inner *inner, struct hub_request *outer,
                                           const struct hub_route *routes, const char *target,
                                           struct hub_error *err);
/** The body, wherever it lies, until the inner request is disposed. HUB_TOO_BIG: more than `limit` bytes. */
HUB_MUST_USE enum hub_status hub_inner_body(struct hub_inner *inner, size_t limit, struct hub_view *out,
                                            struct hub_error *err);
void hub_inner_dispose(struct hub_inner *inner);

#endif
