/**
 * A body that is made as it is sent, block by block, on workers: of any length, in the memory of one
 * block. What fails half way ends the connection short, never cleanly.
 */
#ifndef HUB_HTTP_BODY_STREAM_H
#define HUB_HTTP_BODY_STREAM_H

#include "storage/base/buf.h"

#include <sys/types.h>

/** The first member of what makes one. */
struct hub_body_producer {
    /** Append the next block to `out`, which is empty: about HUB_BODY_STREAM_BLOCK bytes. Nothing appended:
     * the body
     * is complete. May block; each call may be on another thread. */
    enum hub_status (*more)(struct hub_body_producer *producer, struct hub_buf *out, struct hub_error *err);
    void (*free)(struct hub_body_producer *maker);
};

#define HUB_BODY_STREAM_BLOCK (64 * KIB)
/* Sent at once, of a body whose length is known and more than this; its maker reserves the memory. */
#define HUB_BODY_STREAM_LARGE (1 * MIB)
#define HUB_BODY_STREAM_LARGE_BLOCK (256 * KIB)
#define HUB_BODY_STREAM_LIMIT (16 * MIB) /* of one block */

/** A body on its way out. */
struct hub_body_stream {
    struct hub_body_producer *maker; /* borrowed from the response */
    struct hub_buf chunk;
    uint64_t at; /* of the block, in the body */
    bool complete, failed;
    char why[256]; /* it failed */

    struct hub_buf next; /* the block behind it, as hub_body_stream_next left it */
    bool broke;
    struct hub_error error; /* it broke */
};

/** `first` is taken: what was made of it already, or empty. */
void hub_body_stream_init(struct hub_body_stream *stream, struct hub_body_producer *producer,
                          struct hub_buf *first);
void hub_body_stream_dispose(struct hub_body_stream *stream);
/** Bytes from `at` on: how many; 0 when hub_body_stream_more has to be called first, or, with `complete` or
 * `failed`, none
 * will come. */
size_t hub_body_stream_read(struct hub_body_stream *stream, uint64_t at, char *out, size_t size);
/** Make the next block, beside the present one, which may be read meanwhile; blocking. */
void hub_body_stream_next(struct hub_body_stream *stream);
/** It was made: it becomes the present one. */
void hub_body_stream_turn(struct hub_body_stream *stream);
/** Both. */
void hub_body_stream_more(struct hub_body_stream *stream);

#endif
