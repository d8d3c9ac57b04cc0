/**
 * A cache of counted objects by a 192-bit key, sharded, with one budget in bytes. What is in use stays alive
 * when it is dropped from the cache; it then no longer counts against the budget. Several caches may share a
 * room: together they hold no more than its limit. Safe from any thread.
 */
#ifndef HUB_BASE_LRU_H
#define HUB_BASE_LRU_H

#include "storage/base/error.h"

#include <stdatomic.h>

struct hub_lru;

struct hub_lru_key {
    uint64_t kind, a, b;
};

/** First member of every cached object. */
struct hub_lru_item {
    struct hub_lru_key key;
    size_t bytes;
    void (*free)(struct hub_lru_item *item); /* when the last reference goes */
    atomic_uint refs;
    struct hub_lru_item *chain, *newer, *older; /* the cache's own */
    int64_t used_ns;
};

HUB_MUST_USE enum hub_status hub_lru_new(size_t budget_bytes, struct hub_lru **out, struct hub_error *err);
/** References that are still held stay valid. */
void hub_lru_free(struct hub_lru *lru);

/** The memory that caches of one program share. Zeroed at first; borrowed by the caches that enter it. */
enum { HUB_LRU_ROOM_CACHES = 8 };
struct hub_lru_room {
    atomic_size_t limit; /* bytes of all of them together */
    struct hub_lru *_Atomic caches[HUB_LRU_ROOM_CACHES];
};
/** Before the cache has objects. Nothing happens where `room` is NULL.
 *
 * @param name  a literal, for hub_lru_gauges */
void hub_lru_enter(struct hub_lru *lru, struct hub_lru_room *room, const char *name);
/** Drop what was not used for longest, of whichever cache, until the limit is kept. `room` may be NULL. */
void hub_lru_room_fit(struct hub_lru_room *room);

struct hub_lru_gauges {
    const char *name;
    uint64_t bytes, entries, hits, misses; /* the last two since it was made */
};
/** Of the cache that entered the room as number `i`. False: there is none. */
bool hub_lru_gauges(const struct hub_lru_room *room, unsigned i, struct hub_lru_gauges *out);

/** The object of this key with one more reference, or NULL. */
struct hub_lru_item *hub_lru_get(struct hub_lru *lru, const struct hub_lru_key *key);
/** Hand over a new object (key, bytes, free set). Returns it with one reference for the caller; when another
 * thread was faster, its object, and the new one is freed. The newest object is kept even when it alone is
 * over the budget. */
struct hub_lru_item *hub_lru_add(struct hub_lru *lru, struct hub_lru_item *item);
/** Drop what was not used for longest until there is room for so many bytes, or nothing is left. */
void hub_lru_make_room(struct hub_lru *lru, size_t bytes);
/** Put an object of the caller's (key, bytes, free, and `refs` 1 for him) in place of the one of its key.
 * What alone is over the budget is not kept. */
void hub_lru_replace(struct hub_lru *lru, struct hub_lru_item *item);
/** Of NULL: nothing. */
void hub_lru_put(struct hub_lru_item *item);
/** Forget the object of this key. */
void hub_lru_drop(struct hub_lru *lru, const struct hub_lru_key *key);
/** Forget all objects that match / of a kind. */
void hub_lru_drop_where(struct hub_lru *lru, bool (*match)(const struct hub_lru_item *item, const void *user),
                        const void *user);
void hub_lru_drop_kind(struct hub_lru *lru, uint64_t kind);

#endif
