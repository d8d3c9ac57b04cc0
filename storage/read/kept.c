/* Decoded pages kept between reads: see kept.h. */
#include "storage/read/kept.h"

#include <pthread.h>
#include <stdlib.h>

#define KEPT_BYTES (32 * MIB)
#define PAGE_BYTES (2 * MIB) /* larger ones are decoded each time */

static struct hub_lru *kept; /* NULL: there was no memory for it */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lru(void)
{
    if (hub_lru_new(KEPT_BYTES, &kept, NULL))
        kept = NULL;
}

static struct hub_lru *lru(void)
{
    pthread_once(&once, make_lru);
    return kept;
}

static struct hub_lru_key key_of(const struct hub_layout *layout, const struct hub_page *page)
{
    return (struct hub_lru_key){layout->serial, (uint64_t)(page - layout->pages), 0};
}

static void free_page(struct hub_lru_item *item)
{
    free(item);
}

struct hub_kept_page *hub_kept_get(const struct hub_layout *layout, const struct hub_page *page)
{
    const struct hub_lru_key key = key_of(layout, page);
    return layout->serial && lru() ? (struct hub_kept_page *)hub_lru_get(lru(), &key) : NULL;
}

struct hub_kept_page *hub_kept_new(const struct hub_layout *layout, const struct hub_page *page)
{
    const size_t size = sizeof(struct hub_kept_page) + page->decoded;
    if (!layout->serial || !lru() || page->decoded > PAGE_BYTES)
        return NULL;
    struct hub_kept_page *new = malloc(size);
    if (!new)
        return NULL;
    *new = (struct hub_kept_page){.item = {.key = key_of(layout, page), .bytes = size, .free = free_page}};
    atomic_init(&new->item.refs, 1);
    return new;
}

struct hub_kept_page *hub_kept_add(struct hub_kept_page *page)
{
    return (struct hub_kept_page *)hub_lru_add(lru(), &page->item);
}

void hub_kept_put(struct hub_kept_page *page)
{
    if (page)
        hub_lru_put(&page->item);
}
