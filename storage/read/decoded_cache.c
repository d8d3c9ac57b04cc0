/* Decoded pages and chunks kept between reads: see decoded_cache.h. */
#include "storage/read/decoded_cache.h"

#include <stdlib.h>

#define MOST_BYTES (8 * MIB) /* larger ones are decoded each time */

static struct hub_lru_key key_of(const struct hub_layout *layout, enum hub_decoded_kind kind, uint64_t number)
{
    return (struct hub_lru_key){layout->serial, number, kind};
}

static void free_decoded(struct hub_lru_item *item)
{
    free(item);
}

static struct hub_decoded *ref(struct hub_decoded *decoded)
{
    atomic_fetch_add(&decoded->item.refs, 1);
    return decoded;
}

static struct hub_decoded *find_held(const struct hub_held *held, const struct hub_lru_key *key)
{
    for (unsigned i = 0; held && i < HUB_HELD; i++) {
        struct hub_decoded *decoded = held->before[i];
        if (decoded && !memcmp(&decoded->item.key, key, sizeof *key))
            return ref(decoded);
    }
    return NULL;
}

struct hub_decoded *hub_decoded_get(const struct hub_plan *plan, enum hub_decoded_kind kind, uint64_t number)
{
    const struct hub_lru_key key = key_of(plan->layout, kind, number);
    struct hub_lru *cache = plan->layout->serial ? plan->layout->decoded : NULL;
    struct hub_decoded *held = plan->layout->serial ? find_held(plan->held, &key) : NULL;
    return held || !cache ? held : (struct hub_decoded *)hub_lru_get(cache, &key);
}

static bool is_cacheable(const struct hub_plan *plan, uint64_t size)
{
    return plan->layout->decoded && size <= MOST_BYTES;
}

struct hub_decoded *hub_decoded_new(const struct hub_plan *plan, enum hub_decoded_kind kind, uint64_t number,
                                    uint64_t size)
{
    const size_t bytes = sizeof(struct hub_decoded) + size;
    if (!plan->layout->serial || (!is_cacheable(plan, size) && !plan->held))
        return NULL;
    struct hub_decoded *new = malloc(bytes);
    if (!new)
        return NULL;
    *new = (struct hub_decoded){
        .item = {.key = key_of(plan->layout, kind, number), .bytes = bytes, .free = free_decoded}};
    atomic_init(&new->item.refs, 1);
    return new;
}

struct hub_decoded *hub_decoded_add(const struct hub_plan *plan, struct hub_decoded *decoded)
{
    return is_cacheable(plan, decoded->item.bytes - sizeof *decoded)
               ? (struct hub_decoded *)hub_lru_add(plan->layout->decoded, &decoded->item)
               : decoded;
}

void hub_decoded_put(struct hub_decoded *decoded)
{
    if (decoded)
        hub_lru_put(&decoded->item);
}

/* ---- held ---- */

void hub_decoded_hold(const struct hub_plan *plan, struct hub_decoded *decoded)
{
    const unsigned at = plan->held && decoded ? atomic_fetch_add(&plan->held->count, 1) : HUB_HELD;
    if (at < HUB_HELD)
        plan->held->now[at] = ref(decoded);
}

static void release(struct hub_decoded **decoded)
{
    for (unsigned i = 0; i < HUB_HELD; i++) {
        hub_decoded_put(decoded[i]);
        decoded[i] = NULL;
    }
}

void hub_held_turn(struct hub_held *held)
{
    release(held->before);
    memcpy(held->before, held->now, sizeof held->before);
    memset(held->now, 0, sizeof held->now);
    atomic_store(&held->count, 0);
}

uint64_t hub_held_bytes(const struct hub_held *held)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < HUB_HELD; i++)
        bytes += held->now[i] ? held->now[i]->item.bytes : 0;
    return bytes;
}

void hub_held_dispose(struct hub_held *held)
{
    release(held->before);
    release(held->now);
}
