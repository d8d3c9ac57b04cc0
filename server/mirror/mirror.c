/* Threads that take jobs: see mirror.h. */
#include "server/mirror/mirror.h"

#include "server/mirror/cache.h"
#include "server/mirror/listed.h"
#include "server/mirror/pull_job.h"
#include "server/mirror/work.h"
#include "storage/truth/damage.h"

#include <stdio.h>
#include <stdlib.h>

enum { POLL_MS = 1000 };

static void sleep_until_poked(struct hub_mirrors *m, unsigned *pokes)
{
    pthread_mutex_lock(&m->workers.lock);
    if (m->pokes == *pokes && !m->workers.stop)
        hub_thread_wait(&m->workers, POLL_MS);
    *pokes = m->pokes;
    pthread_mutex_unlock(&m->workers.lock);
}

static void refresh_damage(struct hub_mirrors *m)
{
    hub_damage_refresh(m->options.truth);
}

static void make_due(struct hub_mirrors *m)
{
    (void)!hub_rules_due(m->options.truth, NULL);
}

/* What the threads of a lane do besides. One thread of transfers and one of pulls is left to rules without a
 * running job: so a rule copies four datasets at a time, each by up to four connections. */
static const struct {
    unsigned threads;
    void (*before)(struct hub_mirrors *mirrors);
    void (*idle)(struct hub_mirrors *mirrors);
} lanes[HUB_LANES] = {[HUB_LANE_LISTS] = {2, make_due, NULL},
                      [HUB_LANE_MIRRORS] = {5, NULL, NULL},
                      [HUB_LANE_PULLS] = {3, NULL, hub_cache_maintain},
                      [HUB_LANE_CHECKS] = {1, refresh_damage, NULL},
                      [HUB_LANE_ADOPTIONS] = {1, NULL, NULL}};

static void *thread(void *arg)
{
    struct hub_mirror_thread *own = arg;
    struct hub_mirrors *m = own->mirrors;
    unsigned pokes = 0;
    while (!m->workers.stop) {
        struct hub_job_row job;
        if (lanes[own->lane].before)
            lanes[own->lane].before(m);
        if (hub_job_take(m->options.truth, &own->jobs, HUB_MIRROR_LEASE_S, &job, NULL)) {
            if (lanes[own->lane].idle)
                lanes[own->lane].idle(m);
            sleep_until_poked(m, &pokes); /* nothing to do, or hub.db cannot be written now */
            continue;
        }
        hub_mirror_run(own, &job);
        hub_job_dispose(&job);
    }
    return NULL;
}

static enum hub_status start_threads(struct hub_mirrors *m, enum hub_mirror_lane lane, struct hub_error *err)
{
    char *kinds = m->lanes[lane];
    for (const struct hub_job_kind_row *row = hub_job_kinds; row->name; row++) {
        const size_t at = strlen(kinds);
        if (row->lane == lane)
            snprintf(kinds + at, sizeof m->lanes[lane] - at, "%s%s", at ? " " : "", row->name);
    }
    for (unsigned i = 0; i < lanes[lane].threads && m->workers.count < HUB_COUNT(m->threads); i++) {
        struct hub_mirror_thread *own = &m->threads[m->workers.count];
        *own = (struct hub_mirror_thread){
            .mirrors = m, .lane = lane, .jobs = {.kinds = kinds, .threads = lanes[lane].threads}};
        HUB_TRY(hub_thread_add(&m->workers, thread, own, "mirrors", err));
    }
    return HUB_OK;
}

static enum hub_status start_workers(struct hub_mirrors *m, struct hub_error *err)
{
    unsigned upstreams = 0;
    HUB_TRY(hub_pulls_start(m, &m->pulls, err));
    HUB_TRY(hub_listed_load(m, &upstreams, err));
    HUB_TRY(start_threads(m, HUB_LANE_LISTS, err));
    HUB_TRY(start_threads(m, HUB_LANE_MIRRORS, err));
    return upstreams ? start_threads(m, HUB_LANE_PULLS, err) : HUB_OK;
}

enum hub_status hub_mirrors_start(const struct hub_mirrors_options *options, struct hub_mirrors **out,
                                  struct hub_error *err)
{
    struct hub_mirrors *m;
    HUB_TRY(hub_new(&m, 1, sizeof *m, err));
    m->options = *options;
    hub_thread_init(&m->workers);
    pthread_mutex_init(&m->cache_lock, NULL);
    (void)!hub_jobs_tidy(options->truth, NULL);
    enum hub_status st = start_threads(m, HUB_LANE_CHECKS, err);
    if (!st)
        st = start_threads(m, HUB_LANE_ADOPTIONS, err);
    if (!st && !options->checks_only)
        st = start_workers(m, err);
    if (st)
        hub_mirrors_stop(m);
    else
        *out = m;
    return st;
}

void hub_mirrors_wake(struct hub_mirrors *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->workers.lock);
    m->pokes++;
    pthread_cond_broadcast(&m->workers.wake);
    pthread_mutex_unlock(&m->workers.lock);
}

void hub_mirrors_missed(struct hub_mirrors *m)
{
    if (m)
        atomic_store_explicit(&m->missed, true, memory_order_relaxed);
}

void hub_mirrors_gauges(struct hub_mirrors *m, struct hub_mirror_gauges *out)
{
    *out = (struct hub_mirror_gauges){0};
    if (m)
        *out = (struct hub_mirror_gauges){.cache_bytes = atomic_load(&m->cache_bytes),
                                          .cache_max = m->options.cache_max,
                                          .evictions = atomic_load(&m->evictions)};
}

void hub_mirrors_stop(struct hub_mirrors *m)
{
    if (!m)
        return;
    hub_thread_stop(&m->workers);
    if (m->pulls)
        hub_cache_flush(m);
    hub_pulls_stop(m->pulls);
    hub_mirror_rates_free(m);
    hub_thread_dispose(&m->workers);
    pthread_mutex_destroy(&m->cache_lock);
    free(m);
}
