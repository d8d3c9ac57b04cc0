/** Names nearest in spelling to one that is not there: "did you mean". */
#ifndef HUB_BASE_NEAREST_H
#define HUB_BASE_NEAREST_H

#include "storage/base/buf.h"

enum { HUB_MAX_NEAREST = 32 };

struct hub_nearest {
    struct hub_view text; /* borrowed */
    uint64_t peq[256];    /* where each byte is in the text */
    unsigned size,
        ceiling; /* edits; what is farther is not near, which a caller may set after the beginning */
    uint32_t count, limit;
    unsigned scores[HUB_MAX_NEAREST];
    const void *items[HUB_MAX_NEAREST]; /* the nearest first */
};

/** Look for up to `limit` items (at most HUB_MAX_NEAREST) that are near to `text`. False: it is empty or too
 * long, and nothing is near to it. */
HUB_MUST_USE bool hub_nearest_begin(struct hub_nearest *nearest, struct hub_view text, uint32_t limit);
/** Add an item of this name, which is borrowed, if it is among the nearest. Returns the item that is not:
 * this one, one that was added before, or NULL. */
const void *hub_nearest_offer(struct hub_nearest *nearest, const char *key, const void *item);

#endif
