/* The table in force, and the thread that renews it: see live_access.h. */
#include "storage/truth/live_access.h"

#include "storage/base/thread.h"
#include "storage/text/time.h"
#include "storage/truth/audit.h"
#include "storage/truth/sessions.h"
#include "storage/truth/tokens.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LOOK_MS = 250, USES_MS = 30000, PRUNE_MS = 3600000, USES_AT_ONCE = 256 };

struct hub_live_access {
    struct hub_live_access_options options;
    struct hub_thread thread;
    bool has_thread;

    struct hub_access_table *_Atomic table;
    atomic_uint taking; /* readers between the pointer and their reference */
    atomic_uint_fast64_t generation;

    pthread_mutex_t refresh_lock; /* one compiles at a time; also of what follows */
    struct hub_declared_access declared;
    uint64_t version;
    int64_t stored_ms, pruned_ms; /* when uses were stored, and the audit was pruned (hub_time_mono_ms) */
    int64_t stored_until_ms;      /* uses up to this Unix time are stored */
};

struct hub_access_table *hub_live_access_get(struct hub_live_access *live)
{
    atomic_fetch_add(&live->taking, 1);
    struct hub_access_table *table = hub_access_get(atomic_load(&live->table));
    atomic_fetch_sub(&live->taking, 1);
    return table;
}

enum hub_status hub_live_access_declared(struct hub_live_access *live, struct hub_declared_access *out,
                                         struct hub_error *err)
{
    pthread_mutex_lock(&live->refresh_lock);
    const enum hub_status st = hub_declared_access_copy(&live->declared, out, err);
    pthread_mutex_unlock(&live->refresh_lock);
    return st;
}

uint64_t hub_live_access_generation(const struct hub_live_access *live)
{
    return atomic_load(&live->generation);
}

/* ---- uses ---- */

/* What fails is stored the next time, with what came since. */
static bool store_batch(struct hub_live_access *live, const struct hub_token_use *uses, uint32_t count)
{
    return count == 0 || hub_tokens_used(live->options.truth, uses, count, NULL) == HUB_OK;
}

static void store_uses(struct hub_live_access *live)
{
    struct hub_token_use uses[USES_AT_ONCE];
    uint32_t token_count, count = 0;
    struct hub_access_table *table = hub_live_access_get(live);
    const struct hub_token *tokens = hub_access_tokens_of(table, &token_count);
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    bool stored = true;
    for (uint32_t i = 0; i < token_count; i++) {
        const int64_t used_ms = hub_access_used(table, &tokens[i]);
        if (tokens[i].from_file || used_ms <= HUB_MAX(tokens[i].used_ms, live->stored_until_ms))
            continue;
        uses[count++] = (struct hub_token_use){tokens[i].id, used_ms};
        if (count == USES_AT_ONCE) {
            stored = store_batch(live, uses, count) && stored;
            count = 0;
        }
    }
    stored = store_batch(live, uses, count) && stored;
    hub_access_put(table);
    live->stored_ms = hub_time_mono_ms();
    if (stored)
        live->stored_until_ms = now_ms - 1; /* one of this very millisecond may still come */
}

/* ---- the table ---- */

static enum hub_status load(struct hub_live_access *live, const struct hub_declared_access *declared,
                            struct hub_error *err)
{
    struct hub_access_table *table = NULL;
    uint64_t version = 0;
    HUB_TRY(hub_truth_access_version(live->options.truth, &version, err)); /* before: it may be older */
    HUB_TRY(hub_truth_access_load(live->options.truth, declared, &table, err));
    struct hub_access_table *before = atomic_exchange(&live->table, table);
    atomic_fetch_add(&live->generation, 1);
    while (atomic_load(&live->taking)) /* whoever read the old pointer has its reference by then */
        sched_yield();
    hub_access_put(before);
    live->version = version;
    return HUB_OK;
}

enum hub_status hub_live_access_refresh(struct hub_live_access *live, struct hub_error *err)
{
    pthread_mutex_lock(&live->refresh_lock);
    store_uses(live);
    const enum hub_status st = load(live, &live->declared, err);
    pthread_mutex_unlock(&live->refresh_lock);
    return st;
}

enum hub_status hub_live_access_redeclare(struct hub_live_access *live, struct hub_declared_access *declared,
                                          struct hub_error *err)
{
    pthread_mutex_lock(&live->refresh_lock);
    store_uses(live);
    const enum hub_status st = load(live, declared, err);
    if (!st) {
        hub_declared_access_dispose(&live->declared);
        live->declared = *declared;
        *declared = (struct hub_declared_access){0};
    }
    pthread_mutex_unlock(&live->refresh_lock);
    return st;
}

static void look(struct hub_live_access *live)
{
    uint64_t version = 0;
    const int64_t now_ms = hub_time_mono_ms();
    pthread_mutex_lock(&live->refresh_lock);
    const bool changed =
        !hub_truth_access_version(live->options.truth, &version, NULL) && version != live->version;
    if (changed || now_ms - live->stored_ms >= USES_MS)
        store_uses(live);
    if (changed)
        (void)!load(live, &live->declared, NULL);
    pthread_mutex_unlock(&live->refresh_lock);
    if (live->options.audit_keep_ms && now_ms - live->pruned_ms >= PRUNE_MS) {
        (void)!hub_audit_prune(live->options.truth, live->options.audit_keep_ms, NULL);
        live->pruned_ms = now_ms;
    }
}

/* ---- the thread ---- */

static void *watch(void *user)
{
    struct hub_live_access *live = user;
    while (!atomic_load(&live->thread.stop)) {
        look(live);
        pthread_mutex_lock(&live->thread.lock);
        if (!atomic_load(&live->thread.stop))
            hub_thread_wait(&live->thread, LOOK_MS);
        pthread_mutex_unlock(&live->thread.lock);
    }
    return NULL;
}

enum hub_status hub_live_access_start(const struct hub_live_access_options *options,
                                      struct hub_live_access **out, struct hub_error *err)
{
    struct hub_live_access *live = calloc(1, sizeof *live);
    HUB_TRY(hub_allocated(live, err));
    live->options = *options;
    if (options->declared) {
        live->declared = *options->declared;
        *options->declared = (struct hub_declared_access){0};
    }
    live->stored_ms = hub_time_mono_ms();
    live->pruned_ms = live->stored_ms - PRUNE_MS;
    pthread_mutex_init(&live->refresh_lock, NULL);
    enum hub_status st = hub_truth_make_link_key(options->truth, err);
    if (!st)
        st = load(live, &live->declared, err);
    if (!st)
        st = hub_thread_start(&live->thread, watch, live, "changes of access", err);
    live->has_thread = !st;
    if (st)
        hub_live_access_stop(live);
    else
        *out = live;
    return st;
}

void hub_live_access_stop(struct hub_live_access *live)
{
    if (!live)
        return;
    if (live->has_thread) {
        hub_thread_stop(&live->thread);
        hub_thread_dispose(&live->thread);
        store_uses(live);
    }
    hub_access_put(atomic_load(&live->table));
    hub_declared_access_dispose(&live->declared);
    pthread_mutex_destroy(&live->refresh_lock);
    free(live);
}
