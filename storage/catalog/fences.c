/* See fences.h. What ended is kept by the hash of its place, so that memory is bounded: two places of one
 * slot share their fence, and a draft that is refused for the other one is published after the next look. */
#include "storage/catalog/internal.h"

static uint64_t place_of(uint32_t root, const char *path)
{
    const uint64_t h = hub_hash(hub_hash(HUB_HASH_START, &root, sizeof root), path, strlen(path));
    return h ^ h >> 29;
}

uint64_t hub_catalog_look(struct hub_catalog *catalog)
{
    return atomic_fetch_add(&catalog->looks, 1) + 1;
}

void hub_fence_raise(struct hub_catalog *catalog, uint32_t root, const char *path, struct hub_fence *fence)
{
    pthread_mutex_lock(&catalog->write_lock);
    *fence = (struct hub_fence){catalog->fences, &catalog->fences, place_of(root, path)};
    if (fence->next)
        fence->next->link = &fence->next;
    catalog->fences = fence;
    pthread_mutex_unlock(&catalog->write_lock);
}

void hub_fence_lift(struct hub_catalog *catalog, struct hub_fence *fence, bool changed)
{
    pthread_mutex_lock(&catalog->write_lock);
    *fence->link = fence->next;
    if (fence->next)
        fence->next->link = fence->link;
    if (changed)
        catalog->changed[fence->place % HUB_COUNT(catalog->changed)] = hub_catalog_look(catalog);
    pthread_mutex_unlock(&catalog->write_lock);
}

bool hub_fence_passes(const struct hub_catalog *catalog, uint32_t root, const char *path, uint64_t seen)
{
    const uint64_t place = place_of(root, path);
    for (const struct hub_fence *f = catalog->fences; f; f = f->next)
        if (f->place == place)
            return false;
    return seen >= catalog->changed[place % HUB_COUNT(catalog->changed)];
}
