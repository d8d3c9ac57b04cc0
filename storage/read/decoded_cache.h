/**
 * Decoded Parquet pages and chunks kept between reads, for all threads, in the cache of the layout: a slice
 * takes a small part of one, and decoding all of it costs many times the slice; rows that are read block
 * by block take each of them several times. They are those of one opened layout, so that they last as long as
 * the state of the files it describes. Internal to storage/read.
 */
#ifndef HUB_READ_DECODED_CACHE_H
#define HUB_READ_DECODED_CACHE_H

#include "storage/base/lru.h"
#include "storage/read/read.h"

enum hub_decoded_kind { HUB_DECODED_PAGE, HUB_DECODED_CHUNK };

struct hub_decoded {
    struct hub_lru_item item; /* first */
    bool full;                /* of a page: its levels say at once that no value is null */
    uint8_t data[];           /* decoded */
};

/** The page or chunk of this number, which the plan's reader holds or which is kept, with a reference for
 * the caller, or NULL. */
struct hub_decoded *hub_decoded_get(const struct hub_plan *plan, enum hub_decoded_kind kind, uint64_t number);
/** Memory for one of `size` bytes to be kept or held, the caller's until hub_decoded_add; NULL: it is too
 * large, or nothing is kept, and no reader goes on in it; or there is no memory. */
struct hub_decoded *hub_decoded_new(const struct hub_plan *plan, enum hub_decoded_kind kind, uint64_t number,
                                    uint64_t size);
/** Keep one that has been decoded; returns the one to use, another thread's where that was faster. */
struct hub_decoded *hub_decoded_add(const struct hub_plan *plan, struct hub_decoded *decoded);
/** The plan's reader, if there is one, goes on in this one with the next block: it holds a reference of its
 * own. */
void hub_decoded_hold(const struct hub_plan *plan, struct hub_decoded *decoded);
/** Give up a reference, or the memory of one that was not added. Of NULL: nothing. */
void hub_decoded_put(struct hub_decoded *decoded);
/** Before a read: what the one before left is there to be taken, and goes after it. */
void hub_held_turn(struct hub_held *held);

#endif
