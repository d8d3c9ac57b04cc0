/* Changes of a dataset that the hub itself makes: see struct hub_hold. */
#include "storage/scan/state.h"

#include "storage/text/time.h"

#include <string.h>

void hub_scanner_hold(struct hub_scanner *s, uint32_t root, const char *id, const char *path,
                      struct hub_hold *hold)
{
    *hold = (struct hub_hold){.root = root, .id = id, .path = path};
    hub_fence_raise(s->catalog, root, path, &hold->fence);
}

/* The one that lies at the place; another one may have its id. The lock is held. */
static struct hub_tracked_dataset *find(const struct hub_scanner *s, const struct hub_hold *hold)
{
    struct hub_tracked_dataset *tracked = hub_tracked_find(s, hold->id);
    return tracked && tracked->root == hold->root && strcmp(tracked->path, hold->path) == 0 ? tracked : NULL;
}

void hub_scanner_withdraw(struct hub_scanner *s, const struct hub_hold *hold)
{
    pthread_mutex_lock(&s->workers.lock);
    struct hub_tracked_dataset *tracked = find(s, hold);
    const bool other = !tracked && hub_tracked_find(s, hold->id);
    if (tracked)
        tracked->shown = tracked->ready = false;
    pthread_mutex_unlock(&s->workers.lock);
    if (other || hub_catalog_remove(s->catalog, hold->root, hold->id, NULL))
        return;
    hub_scan_remember(s, hold->root, hold->id, 0);
    (void)!hub_catalog_flush(s->catalog, NULL);
}

void hub_scanner_release(struct hub_scanner *s, struct hub_hold *hold, bool changed)
{
    hub_fence_lift(s->catalog, &hold->fence, changed);
    pthread_mutex_lock(&s->workers.lock);
    struct hub_tracked_dataset *tracked = find(s, hold);
    if (tracked && changed) {
        tracked->published = 0;
        tracked->changes++;
    }
    if (tracked && tracked->state == HUB_TRACKED_WAITING)
        tracked->due_ms = hub_time_mono_ms(); /* perhaps for what could not be published meanwhile */
    pthread_mutex_unlock(&s->workers.lock);
    hub_scanner_look(s, hold->root, hold->path);
}
