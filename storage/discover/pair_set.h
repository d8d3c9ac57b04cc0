/** A set of directories, by device and inode, or of other things by two numbers. */
#ifndef HUB_DISCOVER_PAIR_SET_H
#define HUB_DISCOVER_PAIR_SET_H

#include "storage/base/error.h"

struct hub_pair_slot {
    uint64_t device, inode;
    bool used;
};

struct hub_pair_set {
    struct hub_pair_slot *slots; /* open addressing */
    size_t count, capacity;
};

/** `added` is false when it is there already. */
HUB_MUST_USE enum hub_status hub_pair_set_add(struct hub_pair_set *set, uint64_t device, uint64_t inode,
                                              bool *added, struct hub_error *err);
bool hub_pair_set_has(const struct hub_pair_set *set, uint64_t device, uint64_t inode);
void hub_pair_set_dispose(struct hub_pair_set *set);

#endif
