/* A set of pairs of numbers: see pair_set.h. */
#include "storage/discover/pair_set.h"

#include <stdlib.h>

static struct hub_pair_slot *slot_of(const struct hub_pair_set *set, uint64_t device, uint64_t inode)
{
    uint64_t h = (inode ^ device * 0x9E3779B97F4A7C15U) * 0xFF51AFD7ED558CCDU;
    size_t slot = (h ^ h >> 32) & (set->capacity - 1);
    while (set->slots[slot].used && (set->slots[slot].device != device || set->slots[slot].inode != inode))
        slot = (slot + 1) & (set->capacity - 1);
    return &set->slots[slot];
}

static enum hub_status grow(struct hub_pair_set *set, struct hub_error *err)
{
    if (set->count * 2 < set->capacity)
        return HUB_OK;
    struct hub_pair_set larger = {.count = set->count, .capacity = set->capacity ? set->capacity * 2 : 64};
    HUB_TRY(hub_new(&larger.slots, larger.capacity, sizeof *larger.slots, err));
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].used)
            *slot_of(&larger, set->slots[i].device, set->slots[i].inode) = set->slots[i];
    free(set->slots);
    *set = larger;
    return HUB_OK;
}

enum hub_status hub_pair_set_add(struct hub_pair_set *set, uint64_t device, uint64_t inode, bool *added,
                                 struct hub_error *err)
{
    HUB_TRY(grow(set, err));
    struct hub_pair_slot *slot = slot_of(set, device, inode);
    *added = !slot->used;
    if (!slot->used)
        *slot = (struct hub_pair_slot){device, inode, true};
    set->count += *added;
    return HUB_OK;
}

bool hub_pair_set_has(const struct hub_pair_set *set, uint64_t device, uint64_t inode)
{
    return set->capacity && slot_of(set, device, inode)->used;
}

void hub_pair_set_dispose(struct hub_pair_set *set)
{
    free(set->slots);
    *set = (struct hub_pair_set){0};
}
