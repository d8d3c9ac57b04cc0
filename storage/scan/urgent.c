/* Datasets that requests wait for. A request is counted at once where the scanner's lock is free; else it is
 * put down and counted by whoever takes the lock next. The more requests asked for a dataset, the sooner it
 * is inspected: so one client that asks for one again and again is not behind another that asks for all of
 * them. */
#include "storage/scan/state.h"

#include <stdlib.h>

enum { MAX_PUT_DOWN = 65536 };

/* Twice as many requests are one step further to the front. */
static enum hub_scan_queue queue_of(uint32_t requests)
{
    unsigned step = 0;
    while (requests > 1 && step < HUB_QUEUE_NORMAL - 1) {
        requests /= 2;
        step++;
    }
    return (enum hub_scan_queue)(HUB_QUEUE_NORMAL - 1 - step);
}

enum hub_scan_queue hub_urgent_queue(const struct hub_tracked_dataset *tracked)
{
    return tracked->requests && !tracked->slow ? queue_of(tracked->requests) : HUB_QUEUE_NORMAL;
}

struct hub_work *hub_urgent_work(const struct hub_scanner *s, const struct hub_tracked_dataset *next)
{
    struct hub_work *found = NULL;
    for (struct hub_work *w = s->works; w; w = w->next)
        if (!found || hub_urgent_queue(w->tracked) < hub_urgent_queue(found->tracked))
            found = w;
    return found && next && next->queue < hub_urgent_queue(found->tracked) ? NULL : found;
}

/* The lock is held. */
static void apply(struct hub_scanner *s, const char *id, uint32_t requests, bool reinspect)
{
    struct hub_tracked_dataset *tracked = hub_tracked_find(s, id);
    if (!tracked)
        return;
    if (tracked->state == HUB_TRACKED_IDLE) {
        if (reinspect)
            tracked->published = 0;
        /* its files are not what was indexed; requests alone must not keep us looking */
        hub_looks_add(s, tracked->root, tracked->path, tracked->single_files,
                      HUB_MAX(s->rest_until_ms, (int64_t)1));
        hub_scan_wake(s);
        return;
    }
    tracked->requests += HUB_MIN(requests, UINT32_MAX - tracked->requests);
    const enum hub_scan_queue queue = hub_urgent_queue(tracked);
    if (tracked->state == HUB_TRACKED_QUEUED && !tracked->slow && queue < tracked->queue) {
        hub_tracked_unqueue(s, tracked);
        hub_tracked_push(s, tracked, queue);
    }
}

static struct hub_urgent *find(const struct hub_scanner *s, uint64_t hash, const char *id)
{
    for (uint32_t i = 0; i < s->urgent_count; i++)
        if (s->urgent[i].hash == hash && strcmp(s->urgent[i].id, id) == 0)
            return &s->urgent[i];
    return NULL;
}

/* The urgent lock is held. Without memory the request is lost: the client's next one counts. */
static struct hub_urgent *add(struct hub_scanner *s, uint64_t hash, const char *id)
{
    if (s->urgent_count == MAX_PUT_DOWN ||
        hub_grow(&s->urgent, s->urgent_count, &s->urgent_capacity, sizeof *s->urgent, NULL))
        return NULL;
    struct hub_urgent *urgent = &s->urgent[s->urgent_count];
    *urgent = (struct hub_urgent){.hash = hash, .id = strdup(id)};
    s->urgent_count += urgent->id != NULL;
    return urgent->id ? urgent : NULL;
}

static void put_down(struct hub_scanner *s, const char *id, bool reinspect)
{
    const uint64_t hash = hub_hash(HUB_HASH_START, id, strlen(id));
    pthread_mutex_lock(&s->urgent_lock);
    struct hub_urgent *urgent = find(s, hash, id);
    const bool added = !urgent && (urgent = add(s, hash, id));
    if (urgent) {
        urgent->requests += urgent->requests < UINT32_MAX;
        urgent->reinspect = urgent->reinspect || reinspect;
    }
    pthread_mutex_unlock(&s->urgent_lock);
    if (added)
        hub_scan_wake(s);
}

void hub_urgent_put(struct hub_scanner *s, const char *id, bool reinspect)
{
    if (pthread_mutex_trylock(&s->workers.lock)) {
        put_down(s, id, reinspect);
        return;
    }
    hub_urgent_take(s);
    apply(s, id, 1, reinspect);
    pthread_mutex_unlock(&s->workers.lock);
}

void hub_urgent_take(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->urgent_lock);
    struct hub_urgent *urgent = s->urgent;
    const uint32_t count = s->urgent_count;
    s->urgent = NULL;
    s->urgent_count = s->urgent_capacity = 0;
    pthread_mutex_unlock(&s->urgent_lock);
    for (uint32_t i = 0; i < count; i++) {
        apply(s, urgent[i].id, urgent[i].requests, urgent[i].reinspect);
        free(urgent[i].id);
    }
    free(urgent);
}
