/* Parts whose measuring failed, in memory: see measure_failures.h. There are none, or a few. */
#include "storage/catalog/measure_failures.h"

#include "storage/catalog/internal.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAUSE_MS = 1000, MAX_SHIFT = 9 /* at most some nine minutes */ };

struct hub_measure_failures {
    pthread_mutex_t lock;
    struct failure {
        int64_t part, again_ms;
        enum hub_measured how_far; /* the least that failed */
        unsigned tries;
        char id[1024], why[256];
    } * items;
    uint32_t count, capacity;
};

enum hub_status hub_measure_failures_new(struct hub_measure_failures **out, struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    pthread_mutex_init(&(*out)->lock, NULL);
    return HUB_OK;
}

void hub_measure_failures_free(struct hub_measure_failures *failures)
{
    if (!failures)
        return;
    pthread_mutex_destroy(&failures->lock);
    free(failures->items);
    free(failures);
}

/* NULL: this part did not fail; the lock is held. */
static struct failure *find(const struct hub_measure_failures *f, int64_t part)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (f->items[i].part == part)
            return &f->items[i];
    return NULL;
}

static void drop(struct hub_measure_failures *f, struct failure *failure)
{
    *failure = f->items[--f->count];
}

int64_t hub_measures_fail(struct hub_catalog *catalog, const char *id, int64_t part,
                          enum hub_measured how_far, const char *why)
{
    struct hub_measure_failures *f = catalog->measure_failures;
    unsigned tries = 0;
    pthread_mutex_lock(&f->lock);
    struct failure *failure = find(f, part);
    if (!failure && !hub_grow(&f->items, f->count, &f->capacity, sizeof *f->items, NULL)) {
        failure = &f->items[f->count++];
        *failure = (struct failure){.part = part, .how_far = how_far};
    }
    if (failure) {
        tries = failure->tries++;
        failure->how_far = HUB_MIN(failure->how_far, how_far);
        snprintf(failure->id, sizeof failure->id, "%s", id);
        snprintf(failure->why, sizeof failure->why, "%s", why);
    }
    const int64_t pause_ms = (int64_t)PAUSE_MS << HUB_MIN(tries, (unsigned)MAX_SHIFT);
    if (failure)
        failure->again_ms = hub_time_mono_ms() + pause_ms;
    pthread_mutex_unlock(&f->lock);
    atomic_fetch_add(&catalog->measures_stored, 1);
    return pause_ms;
}

void hub_measures_succeed(struct hub_catalog *catalog, int64_t part, enum hub_measured how_far)
{
    struct hub_measure_failures *f = catalog->measure_failures;
    pthread_mutex_lock(&f->lock);
    struct failure *failure = find(f, part);
    if (failure && failure->how_far <= how_far)
        drop(f, failure);
    pthread_mutex_unlock(&f->lock);
}

enum hub_measured hub_measures_failed(const struct hub_catalog *catalog, int64_t part)
{
    struct hub_measure_failures *f = catalog->measure_failures;
    pthread_mutex_lock(&f->lock);
    const struct failure *failure = find(f, part);
    const enum hub_measured how_far = failure ? failure->how_far : HUB_MEASURED_NOTHING;
    pthread_mutex_unlock(&f->lock);
    return how_far;
}

bool hub_measures_rests(const struct hub_catalog *catalog, int64_t part, enum hub_measured how_far)
{
    struct hub_measure_failures *f = catalog->measure_failures;
    pthread_mutex_lock(&f->lock);
    const struct failure *failure = find(f, part);
    const bool rests = failure && failure->how_far <= how_far && hub_time_mono_ms() < failure->again_ms;
    pthread_mutex_unlock(&f->lock);
    return rests;
}

static bool is_there(struct hub_db *db, int64_t part)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found = true;
    return hub_db_query(db, "SELECT 1 FROM parts WHERE row = ?", part, &stmt, NULL) ||
           hub_stmt_step(stmt, &found, NULL) || found;
}

uint32_t hub_measure_failures_each(struct hub_catalog *catalog, hub_measure_failure_each each, void *user)
{
    struct hub_measure_failures *f = catalog->measure_failures;
    struct hub_db *db;
    pthread_mutex_lock(&f->lock);
    if (f->count && !hub_catalog_reader(catalog, &db, NULL))
        for (uint32_t i = f->count; i-- > 0;)
            if (!is_there(db, f->items[i].part))
                drop(f, &f->items[i]);
    for (uint32_t i = 0; i < f->count; i++)
        each(user, f->items[i].id, f->items[i].why);
    const uint32_t count = f->count;
    pthread_mutex_unlock(&f->lock);
    return count;
}
