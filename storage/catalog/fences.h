/**
 * Changes that the hub itself makes in the roots: a dataset is deleted, renamed, or replaced. Each look at
 * the roots has a number, and what it saw of a place is published only where no change of that place was
 * under way, or ended, since. So no look or inspection that ends late lists what the hub took away, or an
 * earlier state of what it put there.
 */
#ifndef HUB_CATALOG_FENCES_H
#define HUB_CATALOG_FENCES_H

#include <stdbool.h>
#include <stdint.h>

struct hub_catalog;

/** A change under way: the caller's, and in a list until it is over. */
struct hub_fence {
    struct hub_fence *next, **link;
    uint64_t place;
};

/** A look begins: its number, which is what drafts of what it finds say in `seen`. Never 0. */
uint64_t hub_catalog_look(struct hub_catalog *catalog);
/** A change of what lies at this path begins. Waits for a publication under way, as the next does. */
void hub_fence_raise(struct hub_catalog *catalog, uint32_t root, const char *path, struct hub_fence *fence);
/** It is over; `changed`: what was there before is not there any more. */
void hub_fence_lift(struct hub_catalog *catalog, struct hub_fence *fence, bool changed);
/** Whether what a look saw at a path may be published. write_lock held. */
bool hub_fence_passes(const struct hub_catalog *catalog, uint32_t root, const char *path, uint64_t seen);

#endif
