/**
 * A body that is made as it is sent, stretch by stretch, on workers: of any length, in the memory of one
 * stretch. What fails half way ends the connection short, never cleanly.
 */
#ifndef HUB_HTTP_MADE_H
#define HUB_HTTP_MADE_H

#include "storage/base/buf.h"

#include <sys/types.h>

/** The first member of what makes one. */
struct hub_maker {
    /** Append the next stretch to `out`, which is empty: about HUB_MADE_BLOCK bytes. Nothing appended: the body
     * is complete. May block; each call may be on another thread. */
    enum hub_status (*more)(struct hub_maker *maker, struct hub_buf *out, struct hub_error *err);
    void (*free)(struct hub_maker *maker);
};

#define HUB_MADE_BLOCK (64 * KIB)
/* Sent at once, of a body whose length is known and more than this; its maker reserves the memory. */
#define HUB_MADE_LARGE (1 * MIB)
#define HUB_MADE_LARGE_BLOCK (256 * KIB)
#define HUB_MADE_LIMIT (16 * MIB) /* of one stretch */

/** A body on its way out. */
struct hub_made {
    struct hub_maker *maker; /* borrowed from the response */
    struct hub_buf stretch;
    uint64_t at; /* of the stretch, in the body */
    bool complete, failed;
    char why[256]; /* it failed */

    struct hub_buf next; /* the stretch behind it, as hub_made_next left it */
    bool broke;
    struct hub_error error; /* it broke */
};

/** `first` is taken: what was made of it already, or empty. */
void hub_made_init(struct hub_made *made, struct hub_maker *maker, struct hub_buf *first);
void hub_made_dispose(struct hub_made *made);
/** Bytes from `at` on: how many; 0 when hub_made_more has to be called first, or, with `complete` or `failed`, none
 * will come. */
size_t hub_made_read(struct hub_made *made, uint64_t at, char *out, size_t size);
/** Make the next stretch, beside the present one, which may be read meanwhile; blocking. */
void hub_made_next(struct hub_made *made);
/** It was made: it becomes the present one. */
void hub_made_turn(struct hub_made *made);
/** Both. */
void hub_made_more(struct hub_made *made);

#endif
