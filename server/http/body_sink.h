/**
 * The body of a request that is taken as it comes, block by block, and never lies in memory as a whole. A
 * route with `open_body` has its body opened on a worker once its right is checked and before the body
 * comes (and before the client that expects it gets its 100 Continue); then each block is taken on a
 * worker, while the connection rests; then the handler is called, with the sink in `request->sink`. What a
 * client sends faster than the sink takes waits at the client.
 */
#ifndef HUB_HTTP_BODY_SINK_H
#define HUB_HTTP_BODY_SINK_H

#include "storage/base/buf.h"

struct hub_request;

enum { HUB_BODY_BLOCK = 1024 * 1024 };
#define HUB_BODY_SIZE_UNKNOWN UINT64_MAX

/** Embedded in its owner's. One thread at a time calls. */
struct hub_body_sink {
    /** The next bytes, up to HUB_BODY_BLOCK and a little more. What fails is the answer, at once. */
    enum hub_status (*take)(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err);
    /** The request has ended, whether or not all of its body came. */
    void (*free)(struct hub_body_sink *sink);
};

/** @param size  bytes of the body, or HUB_BODY_SIZE_UNKNOWN */
typedef enum hub_status hub_body_opener(struct hub_request *request, uint64_t size,
                                        struct hub_body_sink **out, struct hub_error *err);

#endif
