/** A set of directories, by device and inode, or of other things by two numbers. */
#ifndef HUB_DISCOVER_PLACES_H
#define HUB_DISCOVER_PLACES_H

#include "storage/base/error.h"

struct hub_place_slot {
    uint64_t device, inode;
    bool used;
};

struct hub_places {
    struct hub_place_slot *slots; /* open addressing */
    size_t count, capacity;
};

/** `added` is false when it is there already. */
HUB_MUST_USE enum hub_status hub_places_add(struct hub_places *set, uint64_t device, uint64_t inode,
                                            bool *added, struct hub_error *err);
bool hub_places_has(const struct hub_places *set, uint64_t device, uint64_t inode);
void hub_places_dispose(struct hub_places *set);

#endif
