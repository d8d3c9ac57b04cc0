/* The sharded cache: see lru.h. A shard is a small chained hash table and a list from newest to oldest,
 * behind one mutex held for a few instructions. Freeing happens outside the locks. */
#include "storage/base/lru.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { SHARDS = 8, SLOTS = 1024 };

struct lru_shard {
    pthread_mutex_t lock;
    uint64_t entries, hits, misses;
    struct hub_lru_item *newest, *oldest;
    struct hub_lru_item *slots[SLOTS];
};

struct hub_lru {
    size_t budget;
    atomic_size_t bytes;
    const char *name;
    struct hub_lru_room *room; /* or NULL */
    struct lru_shard shards[SHARDS];
};

static uint64_t hash_of(const struct hub_lru_key *key)
{
    uint64_t h =
        key->a * 0x9E3779B97F4A7C15U ^ key->b * 0xC2B2AE3D27D4EB4FU ^ key->kind * 0x165667B19E3779F9U;
    h ^= h >> 29;
    h *= 0xBF58476D1CE4E5B9U;
    return h ^ (h >> 32);
}

static bool same_key(const struct hub_lru_key *a, const struct hub_lru_key *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b;
}

enum hub_status hub_lru_new(size_t budget_bytes, struct hub_lru **out, struct hub_error *err)
{
    struct hub_lru *lru = calloc(1, sizeof *lru);
    HUB_TRY(hub_allocated(lru, err));
    lru->budget = budget_bytes;
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&lru->shards[i].lock, NULL);
    *out = lru;
    return HUB_OK;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void list_remove(struct lru_shard *s, struct hub_lru_item *item)
{
    *(item->newer ? &item->newer->older : &s->newest) = item->older;
    *(item->older ? &item->older->newer : &s->oldest) = item->newer;
    item->newer = item->older = NULL;
}

static void list_push(struct lru_shard *s, struct hub_lru_item *item)
{
    item->older = s->newest;
    item->newer = NULL;
    *(s->newest ? &s->newest->newer : &s->oldest) = item;
    s->newest = item;
}

static struct hub_lru_item **slot_of(struct lru_shard *s, const struct hub_lru_key *key)
{
    struct hub_lru_item **at = &s->slots[(hash_of(key) / SHARDS) % SLOTS];
    while (*at && !same_key(&(*at)->key, key))
        at = &(*at)->chain;
    return at;
}

/* Take an item out of its shard; the cache's reference becomes the caller's. The lock is held. */
static void unlink_item(struct hub_lru *lru, struct lru_shard *s, struct hub_lru_item *item)
{
    *slot_of(s, &item->key) = item->chain;
    item->chain = NULL;
    list_remove(s, item);
    s->entries--;
    atomic_fetch_sub(&lru->bytes, item->bytes);
}

void hub_lru_put(struct hub_lru_item *item)
{
    if (item && atomic_fetch_sub(&item->refs, 1) == 1)
        item->free(item);
}

static void leave_room(struct hub_lru *lru)
{
    for (unsigned i = 0; lru->room && i < HUB_LRU_ROOM_CACHES; i++) {
        struct hub_lru *own = lru;
        (void)atomic_compare_exchange_strong(&lru->room->caches[i], &own, NULL);
    }
}

void hub_lru_free(struct hub_lru *lru)
{
    if (!lru)
        return;
    leave_room(lru);
    for (unsigned i = 0; i < SHARDS; i++) {
        struct lru_shard *s = &lru->shards[i];
        while (s->newest) {
            struct hub_lru_item *item = s->newest;
            unlink_item(lru, s, item);
            hub_lru_put(item);
        }
        pthread_mutex_destroy(&s->lock);
    }
    free(lru);
}

struct hub_lru_item *hub_lru_get(struct hub_lru *lru, const struct hub_lru_key *key)
{
    struct lru_shard *s = &lru->shards[hash_of(key) % SHARDS];
    const int64_t used_ns = now_ns();
    pthread_mutex_lock(&s->lock);
    struct hub_lru_item *item = *slot_of(s, key);
    (*(item ? &s->hits : &s->misses))++;
    if (item) {
        atomic_fetch_add(&item->refs, 1);
        item->used_ns = used_ns;
        if (s->newest != item) {
            list_remove(s, item);
            list_push(s, item);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return item;
}

/* Where the item is that was not used for longest. */
struct oldest {
    struct hub_lru *lru; /* NULL: there is none */
    struct lru_shard *shard;
    int64_t used_ns;
};

/* The oldest of a cache, besides `keep`, where it is older than what was found so far. */
static void find_oldest(struct hub_lru *lru, const struct hub_lru_item *keep, struct oldest *found)
{
    for (unsigned i = 0; i < SHARDS; i++) {
        struct lru_shard *s = &lru->shards[i];
        pthread_mutex_lock(&s->lock);
        if (s->oldest && s->oldest != keep && (!found->lru || s->oldest->used_ns < found->used_ns))
            *found = (struct oldest){lru, s, s->oldest->used_ns};
        pthread_mutex_unlock(&s->lock);
    }
}

/* Of whichever of these caches, some of which may be NULL. False: there is none. */
static bool drop_oldest(struct hub_lru *_Atomic *caches, unsigned count, const struct hub_lru_item *keep)
{
    struct oldest found = {0};
    for (unsigned i = 0; i < count; i++) {
        struct hub_lru *lru = atomic_load(&caches[i]);
        if (lru)
            find_oldest(lru, keep, &found);
    }
    if (!found.lru)
        return false;
    struct lru_shard *s = found.shard;
    pthread_mutex_lock(&s->lock);
    struct hub_lru_item *item = s->oldest != keep ? s->oldest : NULL;
    if (item)
        unlink_item(found.lru, s, item);
    pthread_mutex_unlock(&s->lock);
    hub_lru_put(item);
    return true;
}

/* Drop what was not used for longest until so many bytes are left. `keep` stays; it is the newest of its
 * shard. */
static void evict(struct hub_lru *lru, size_t most, const struct hub_lru_item *keep)
{
    struct hub_lru *_Atomic own = lru;
    while (atomic_load(&lru->bytes) > most && drop_oldest(&own, 1, keep))
        ;
}

/* ---- the room ---- */

void hub_lru_enter(struct hub_lru *lru, struct hub_lru_room *room, const char *name)
{
    bool entered = !room;
    lru->name = name;
    lru->room = room;
    for (unsigned i = 0; !entered && i < HUB_LRU_ROOM_CACHES; i++) {
        struct hub_lru *none = NULL;
        entered = atomic_compare_exchange_strong(&room->caches[i], &none, lru);
    }
    assert(entered);
}

static size_t bytes_of(const struct hub_lru_room *room)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < HUB_LRU_ROOM_CACHES; i++) {
        const struct hub_lru *lru = atomic_load(&room->caches[i]);
        bytes += lru ? atomic_load(&lru->bytes) : 0;
    }
    return bytes;
}

/* Is there room for so many bytes besides? The limit may change at any time. */
static bool has_room(const struct hub_lru_room *room, size_t bytes)
{
    const size_t limit = atomic_load(&room->limit);
    return bytes_of(room) <= limit - HUB_MIN(limit, bytes);
}

static void fit(struct hub_lru_room *room, size_t more)
{
    while (room && !has_room(room, more) && drop_oldest(room->caches, HUB_LRU_ROOM_CACHES, NULL))
        ;
}

void hub_lru_room_fit(struct hub_lru_room *room)
{
    fit(room, 0);
}

bool hub_lru_gauges(const struct hub_lru_room *room, unsigned i, struct hub_lru_gauges *out)
{
    struct hub_lru *lru = i < HUB_LRU_ROOM_CACHES ? atomic_load(&room->caches[i]) : NULL;
    if (!lru)
        return false;
    *out = (struct hub_lru_gauges){.name = lru->name, .bytes = atomic_load(&lru->bytes)};
    for (unsigned k = 0; k < SHARDS; k++) {
        struct lru_shard *s = &lru->shards[k];
        pthread_mutex_lock(&s->lock);
        out->entries += s->entries;
        out->hits += s->hits;
        out->misses += s->misses;
        pthread_mutex_unlock(&s->lock);
    }
    return true;
}

/* ---- adding ---- */

/* With a reference for the cache, which has no other of its key. The lock is held. */
static void link_item(struct hub_lru *lru, struct lru_shard *s, struct hub_lru_item **at,
                      struct hub_lru_item *item)
{
    atomic_fetch_add(&item->refs, 1);
    item->used_ns = now_ns();
    item->chain = *at;
    *at = item;
    list_push(s, item);
    s->entries++;
    atomic_fetch_add(&lru->bytes, item->bytes);
}

struct hub_lru_item *hub_lru_add(struct hub_lru *lru, struct hub_lru_item *item)
{
    struct lru_shard *s = &lru->shards[hash_of(&item->key) % SHARDS];
    atomic_store(&item->refs, 1);
    pthread_mutex_lock(&s->lock);
    struct hub_lru_item **at = slot_of(s, &item->key), *known = *at;
    if (known)
        atomic_fetch_add(&known->refs, 1);
    else
        link_item(lru, s, at, item);
    pthread_mutex_unlock(&s->lock);
    if (known) {
        item->free(item);
        return known;
    }
    evict(lru, lru->budget, item);
    hub_lru_room_fit(lru->room);
    return item;
}

void hub_lru_make_room(struct hub_lru *lru, size_t bytes)
{
    evict(lru, bytes < lru->budget ? lru->budget - bytes : 0, NULL);
    fit(lru->room, bytes);
}

void hub_lru_replace(struct hub_lru *lru, struct hub_lru_item *item)
{
    struct lru_shard *s = &lru->shards[hash_of(&item->key) % SHARDS];
    if (item->bytes > lru->budget)
        return;
    pthread_mutex_lock(&s->lock);
    struct hub_lru_item *old = *slot_of(s, &item->key);
    if (old)
        unlink_item(lru, s, old);
    link_item(lru, s, slot_of(s, &item->key), item);
    pthread_mutex_unlock(&s->lock);
    hub_lru_put(old);
    evict(lru, lru->budget, item);
    hub_lru_room_fit(lru->room);
}

void hub_lru_drop(struct hub_lru *lru, const struct hub_lru_key *key)
{
    struct lru_shard *s = &lru->shards[hash_of(key) % SHARDS];
    pthread_mutex_lock(&s->lock);
    struct hub_lru_item *item = *slot_of(s, key);
    if (item)
        unlink_item(lru, s, item);
    pthread_mutex_unlock(&s->lock);
    hub_lru_put(item);
}

static struct hub_lru_item *take_where(struct hub_lru *lru, struct lru_shard *s,
                                       bool (*match)(const struct hub_lru_item *item, const void *user),
                                       const void *user)
{
    struct hub_lru_item *taken = NULL, *next;
    pthread_mutex_lock(&s->lock);
    for (struct hub_lru_item *item = s->newest; item; item = next) {
        next = item->older;
        if (!match(item, user))
            continue;
        unlink_item(lru, s, item);
        item->chain = taken;
        taken = item;
    }
    pthread_mutex_unlock(&s->lock);
    return taken;
}

void hub_lru_drop_where(struct hub_lru *lru, bool (*match)(const struct hub_lru_item *item, const void *user),
                        const void *user)
{
    for (unsigned i = 0; i < SHARDS; i++)
        for (struct hub_lru_item *item = take_where(lru, &lru->shards[i], match, user), *next; item;
             item = next) {
            next = item->chain;
            item->chain = NULL;
            hub_lru_put(item);
        }
}

static bool is_of_kind(const struct hub_lru_item *item, const void *kind)
{
    return item->key.kind == *(const uint64_t *)kind;
}

void hub_lru_drop_kind(struct hub_lru *lru, uint64_t kind)
{
    hub_lru_drop_where(lru, is_of_kind, &kind);
}
