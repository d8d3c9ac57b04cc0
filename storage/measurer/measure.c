/* Measuring: one thread of the lowest priority reads the rows of parts and keeps what their numbers come
 * to. Rewards come first, as soon as a part is in the catalogue; then what somebody asked for; then, where
 * it measures while the hub is idle, all the rest. Between blocks it waits as long as a request waits, and
 * goes slowly while requests come at all. What it has of a part is kept when the whole part was read and no
 * file of it changed meanwhile. */
#include "storage/measurer/measure_state.h"

#include "storage/base/order.h"
#include "storage/text/time.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { QUIET_MS = 300, RETRY_MS = 30000 };

/* It is a job meanwhile. */
static void measure_dataset(struct hub_measurer *m, const struct hub_summary *summary,
                            enum hub_measured how_far, const struct hub_measure_wanted *wanted)
{
    pthread_mutex_lock(&m->thread.lock);
    m->current = (struct hub_measure_wanted){0};
    if (wanted)
        m->current = *wanted;
    snprintf(m->current.id, sizeof m->current.id, "%s", summary->id);
    m->started_ms = hub_time_now_ns() / 1000000;
    m->done = m->of = 0;
    m->yielded = false;
    pthread_mutex_unlock(&m->thread.lock);
    const enum hub_status st = wanted && wanted->bins  ? hub_measure_histograms(m, summary, wanted, NULL)
                               : wanted && wanted->row ? hub_measure_rows(m, summary, wanted, NULL)
                                                       : hub_measure_dataset(m, summary, how_far, NULL);
    if (st && !m->yielded)
        m->retry_ms = hub_time_mono_ms() + RETRY_MS;
    hub_measure_turn_give_memory(&m->turn);
    pthread_mutex_lock(&m->thread.lock);
    m->current.id[0] = '\0';
    pthread_mutex_unlock(&m->thread.lock);
}

bool hub_measure_yields(struct hub_measurer *m)
{
    pthread_mutex_lock(&m->thread.lock);
    m->yielded = m->preempted && m->wanted_count;
    pthread_mutex_unlock(&m->thread.lock);
    return m->yielded;
}

/* ---- the thread ---- */

/* What made room is next behind what it made room for. */
static void want_again(struct hub_measurer *m, const struct hub_measure_wanted *wanted)
{
    pthread_mutex_lock(&m->thread.lock);
    if (m->wanted_count && m->wanted_count < HUB_MEASURE_WANTED) {
        m->wanted[m->wanted_count] = m->wanted[m->wanted_count - 1];
        m->wanted[m->wanted_count++ - 1] = *wanted;
    }
    pthread_mutex_unlock(&m->thread.lock);
}

/* What is wanted from here on goes before what is measured next, whether or not that has begun. */
static bool take_wanted(struct hub_measurer *m, struct hub_measure_wanted *out)
{
    pthread_mutex_lock(&m->thread.lock);
    const bool any = m->wanted_count > 0;
    m->preempted = false;
    if (any)
        *out = m->wanted[--m->wanted_count];
    pthread_mutex_unlock(&m->thread.lock);
    return any;
}

static void measure_wanted(struct hub_measurer *m)
{
    struct hub_measure_wanted wanted;
    while (!m->turn.stop && take_wanted(m, &wanted)) {
        m->yielded = false;
        HUB_CLEANUP(hub_snapshot_putp)
        const struct hub_snapshot *snapshot = hub_catalog_snapshot(m->turn.options.catalog);
        const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(wanted.id));
        if (summary && summary->status == HUB_DATASET_READY)
            measure_dataset(m, summary, HUB_MEASURED_ALL, &wanted);
        if (m->yielded)
            want_again(m, &wanted);
    }
}

static void measure_due(struct hub_measurer *m, const struct hub_snapshot *snapshot,
                        enum hub_measured how_far)
{
    HUB_CLEANUP(hub_freep) int64_t *rows = NULL;
    uint32_t count = 0;
    if (hub_measures_due(m->turn.options.catalog, how_far, &rows, &count, NULL))
        return;
    for (uint32_t i = 0; i < snapshot->count && count && !m->turn.stop; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (summary->status != HUB_DATASET_READY ||
            !bsearch(&summary->row, rows, count, sizeof *rows, hub_by_i64))
            continue;
        do {
            measure_wanted(m);
            measure_dataset(m, summary, how_far, NULL);
        } while (m->yielded && !m->turn.stop);
    }
}

static bool is_time(struct hub_measurer *m, const struct hub_snapshot *snapshot)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (snapshot->generation != m->generation || (m->retry_ms && now_ms >= m->retry_ms)) {
        m->generation = snapshot->generation;
        m->since_ms = now_ms;
        m->through = false;
        m->retry_ms = 0;
    }
    return !m->through && now_ms - m->since_ms >= QUIET_MS;
}

/* Rewards of all first. A catalogue that changes meanwhile is gone over again. */
static void go_over(struct hub_measurer *m)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(m->turn.options.catalog);
    if (!is_time(m, snapshot))
        return;
    m->through = true;
    measure_due(m, snapshot, HUB_MEASURED_REWARDS);
    if (m->turn.options.idle)
        measure_due(m, snapshot, HUB_MEASURED_ALL);
}

static void be_idle(void)
{
    enum { WHO_PROCESS = 1, CLASS_IDLE = 3, CLASS_SHIFT = 13 };
    (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    (void)syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE << CLASS_SHIFT);
}

static void *run(void *arg)
{
    struct hub_measurer *m = arg;
    be_idle();
    while (!m->turn.stop) {
        measure_wanted(m);
        go_over(m);
        pthread_mutex_lock(&m->thread.lock);
        if (!m->wanted_count && !m->turn.stop)
            hub_thread_wait(&m->thread, QUIET_MS);
        pthread_mutex_unlock(&m->thread.lock);
    }
    return NULL;
}

enum hub_status hub_measurer_start(const struct hub_measurer_options *options, struct hub_measurer **out,
                                   struct hub_error *err)
{
    struct hub_measurer *m = calloc(1, sizeof *m);
    HUB_TRY(hub_allocated(m, err));
    m->turn.options = *options;
    m->generation = UINT64_MAX;
    const enum hub_status st = hub_thread_start(&m->thread, run, m, "measuring", err);
    if (st)
        free(m);
    else
        *out = m;
    return st;
}

void hub_measurer_stop(struct hub_measurer *m)
{
    if (!m)
        return;
    m->turn.stop = true;
    hub_thread_stop(&m->thread);
    hub_measure_wake(m, NULL);
}

void hub_measurer_free(struct hub_measurer *m)
{
    if (!m)
        return;
    hub_thread_dispose(&m->thread);
    free(m);
}

static bool same(const struct hub_measure_wanted *a, const struct hub_measure_wanted *b)
{
    return a->bins == b->bins && a->row == b->row && a->end.last == b->end.last &&
           a->end.of_row == b->end.of_row && a->end.component == b->end.component &&
           strcmp(a->id, b->id) == 0 && strcmp(a->field, b->field) == 0;
}

static void want(struct hub_measurer *m, const struct hub_measure_wanted *wanted)
{
    pthread_mutex_lock(&m->thread.lock);
    unsigned kept = 0;
    for (unsigned i = 0; i < m->wanted_count; i++)
        if (!same(&m->wanted[i], wanted))
            m->wanted[kept++] = m->wanted[i];
    if (kept == HUB_MEASURE_WANTED) /* the oldest makes room */
        memmove(m->wanted, m->wanted + 1, --kept * sizeof *m->wanted);
    if (!same(&m->current, wanted))
        m->wanted[kept++] = *wanted;
    m->preempted |= strcmp(m->current.id, wanted->id) != 0;
    m->wanted_count = kept;
    pthread_cond_signal(&m->thread.wake);
    pthread_mutex_unlock(&m->thread.lock);
}

void hub_measurer_want(struct hub_measurer *m, const char *id)
{
    struct hub_measure_wanted wanted = {0};
    if (m && snprintf(wanted.id, sizeof wanted.id, "%s", id) < (int)sizeof wanted.id)
        want(m, &wanted);
}

static void want_of_field(struct hub_measurer *m, struct hub_measure_wanted *wanted, const char *id,
                          const char *field)
{
    if (m && snprintf(wanted->id, sizeof wanted->id, "%s", id) < (int)sizeof wanted->id &&
        snprintf(wanted->field, sizeof wanted->field, "%s", field) < (int)sizeof wanted->field)
        want(m, wanted);
}

void hub_measurer_want_histogram(struct hub_measurer *m, const char *id, const char *field, unsigned bins)
{
    want_of_field(m, &(struct hub_measure_wanted){.bins = bins}, id, field);
}

void hub_measurer_want_row(struct hub_measurer *m, const char *id, const char *field,
                           const struct hub_row_end *end)
{
    want_of_field(m, &(struct hub_measure_wanted){.row = true, .end = *end}, id, field);
}

static const char *kind_of(const struct hub_measure_wanted *wanted)
{
    return wanted->bins ? "statistics" : "measure";
}

void hub_measurer_jobs(struct hub_measurer *m, hub_scan_job_each each, void *user)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->thread.lock);
    if (m->current.id[0])
        each(user, &(struct hub_scan_job){.target = m->current.id,
                                          .kind = kind_of(&m->current),
                                          .running = true,
                                          .done = m->done,
                                          .of = m->of,
                                          .started_ms = m->started_ms});
    for (unsigned i = m->wanted_count; i-- > 0;)
        each(user, &(struct hub_scan_job){.target = m->wanted[i].id, .kind = kind_of(&m->wanted[i])});
    pthread_mutex_unlock(&m->thread.lock);
}
