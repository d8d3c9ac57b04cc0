/* Decoded pages and chunks kept between reads: see kept.h. */
#include "storage/read/kept.h"

#include <pthread.h>
#include <stdlib.h>

#define KEPT_BYTES (32 * MIB)
#define MOST_BYTES (8 * MIB) /* larger ones are decoded each time */

static struct hub_lru *cache; /* NULL: there was no memory for it */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lru(void)
{
    if (hub_lru_new(KEPT_BYTES, &cache, NULL))
        cache = NULL;
}

static struct hub_lru *lru(void)
{
    pthread_once(&once, make_lru);
    return cache;
}

static struct hub_lru_key key_of(const struct hub_layout *layout, enum hub_kept_kind kind, uint64_t number)
{
    return (struct hub_lru_key){layout->serial, number, kind};
}

static void free_kept(struct hub_lru_item *item)
{
    free(item);
}

struct hub_kept *hub_kept_get(const struct hub_layout *layout, enum hub_kept_kind kind, uint64_t number)
{
    const struct hub_lru_key key = key_of(layout, kind, number);
    return layout->serial && lru() ? (struct hub_kept *)hub_lru_get(lru(), &key) : NULL;
}

struct hub_kept *hub_kept_new(const struct hub_layout *layout, enum hub_kept_kind kind, uint64_t number,
                              uint64_t size)
{
    const size_t bytes = sizeof(struct hub_kept) + size;
    if (!layout->serial || !lru() || size > MOST_BYTES)
        return NULL;
    struct hub_kept *new = malloc(bytes);
    if (!new)
        return NULL;
    *new =
        (struct hub_kept){.item = {.key = key_of(layout, kind, number), .bytes = bytes, .free = free_kept}};
    atomic_init(&new->item.refs, 1);
    return new;
}

struct hub_kept *hub_kept_add(struct hub_kept *kept)
{
    return (struct hub_kept *)hub_lru_add(lru(), &kept->item);
}

void hub_kept_put(struct hub_kept *kept)
{
    if (kept)
        hub_lru_put(&kept->item);
}
