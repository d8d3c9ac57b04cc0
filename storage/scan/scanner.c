/* The scanner's own thread: sweeps when it is time, when asked, and when something happened; shows what was
 * published. */
#include "storage/scan/state.h"

#include "storage/text/time.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SHOW_MS = 200, MAX_JOBS = 64, RETRY_MS = 10000, TURN_MS = 10000 };

void hub_scan_notify(const struct hub_scanner *s, enum hub_scan_event_kind kind, const char *id,
                     const char *detail)
{
    if (s->notify)
        s->notify(s->user, &(struct hub_scan_event){kind, id, detail});
}

void hub_scan_wake(struct hub_scanner *s)
{
    const uint64_t one = 1;
    if (write(s->wake_fd, &one, sizeof one) < 0)
        return; /* it is full: it will wake */
}

/* ---- requests ---- */

void hub_scanner_prioritize(struct hub_scanner *s, const char *id)
{
    hub_urgent_put(s, id, false);
}

void hub_scanner_reinspect(struct hub_scanner *s, const char *id)
{
    hub_urgent_put(s, id, true);
}

static void on_damage(void *user, const char *id)
{
    hub_urgent_put(user, id, true);
}

/* ---- the thread ---- */

/* Milliseconds until there is something to do; -1: nothing is due. */
static int wait_ms(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->workers.lock);
    const int64_t now_ms = hub_time_mono_ms();
    const int64_t due_ms = s->sweep_wanted ? 0 : HUB_MIN(s->sweep_at_ms, hub_looks_due_ms(s));
    int64_t ms = due_ms == INT64_MAX ? -1 : HUB_MAX(due_ms - now_ms, (int64_t)0);
    if (s->running || hub_tracked_next(s))
        ms = ms < 0 ? SHOW_MS : HUB_MIN(ms, (int64_t)SHOW_MS);
    pthread_mutex_unlock(&s->workers.lock);
    return (int)HUB_MIN(ms, (int64_t)3600000);
}

static void drain_wake(struct hub_scanner *s)
{
    uint64_t count;
    if (read(s->wake_fd, &count, sizeof count) < 0)
        return;
}

static void take_urgent(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->workers.lock);
    hub_urgent_take(s);
    pthread_mutex_unlock(&s->workers.lock);
}

static bool time_to_sweep(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->workers.lock);
    const bool due = s->sweep_wanted || hub_time_mono_ms() >= s->sweep_at_ms;
    pthread_mutex_unlock(&s->workers.lock);
    return due;
}

static bool is_idle(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->workers.lock);
    const bool idle = hub_scan_is_idle(s);
    pthread_mutex_unlock(&s->workers.lock);
    return idle;
}

static void *run(void *arg)
{
    struct hub_scanner *s = arg;
    struct pollfd fds[2] = {{.fd = s->wake_fd, .events = POLLIN},
                            {.fd = s->watch ? hub_inotify_fd(s->watch) : -1, .events = POLLIN}};
    while (!s->workers.stop) {
        if (time_to_sweep(s))
            hub_scan_sweep(s);
        else
            hub_looks_run(s);
        if (poll(fds, 2, wait_ms(s)) > 0) {
            if (fds[0].revents)
                drain_wake(s);
            hub_looks_take_events(s);
        }
        take_urgent(s);
        (void)!hub_catalog_flush(s->catalog, NULL);
        if (hub_catalog_has_older(s->catalog) && is_idle(s))
            hub_catalog_complete(s->catalog);
    }
    return NULL;
}

/* ---- starting and stopping ---- */

static enum hub_status start_threads(struct hub_scanner *s, struct hub_error *err)
{
    HUB_TRY(hub_thread_add(&s->workers, hub_scan_worker, s, "inspections", err));
    while (s->workers.count < s->jobs &&
           !hub_thread_add(&s->workers, hub_scan_worker, s, "inspections", NULL))
        continue; /* fewer are slower */
    return hub_thread_add(&s->workers, run, s, "the scanner", err);
}

static enum hub_status start(struct hub_scanner *s, const struct hub_scanner_options *options,
                             struct hub_error *err)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned jobs = options->jobs ? options->jobs : (unsigned)HUB_MAX(cores, 1L);
    s->catalog = options->catalog;
    s->truth = options->truth;
    s->store = options->store;
    s->inspector = options->inspector;
    s->notify = options->notify;
    s->user = options->user;
    s->settle_ms = options->settle_ms;
    s->retry_ms = options->retry_ms ? options->retry_ms : RETRY_MS;
    s->turn_ms = options->turn_ms ? options->turn_ms : TURN_MS;
    s->sweep_s = options->sweep_s;
    s->jobs = HUB_MIN(jobs, (unsigned)MAX_JOBS);
    s->state = strdup(options->state);
    s->drivers = strdup(options->drivers ? options->drivers : HUB_VERSION);
    s->sweep_wanted = true;
    HUB_TRY(hub_allocated(s->state && s->drivers, err));
    s->born_ns = (uint64_t)hub_time_now_ns();
    s->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (s->wake_fd < 0)
        return hub_fail_errno(err, errno, "eventfd");
    s->walk = (struct hub_walk){
        .roots = options->roots, .max_directories = HUB_MAX_DIRECTORIES, .stop = &s->workers.stop};
    if (options->watch && hub_inotify_new(&s->watch, NULL))
        s->watch = NULL; /* sweeps find everything too, only later */
    hub_catalog_on_damage(s->catalog, on_damage, s);
    return start_threads(s, err);
}

enum hub_status hub_scanner_start(const struct hub_scanner_options *options, struct hub_scanner **out,
                                  struct hub_error *err)
{
    struct hub_scanner *s = calloc(1, sizeof *s);
    HUB_TRY(hub_allocated(s, err));
    s->wake_fd = -1;
    s->sweep_at_ms = s->due_ms = INT64_MAX;
    hub_thread_init(&s->workers);
    pthread_mutex_init(&s->urgent_lock, NULL);
    pthread_mutex_init(&s->locks.lock, NULL);
    hub_cond_init(&s->idle_wake);
    const enum hub_status st = start(s, options, err);
    if (st) {
        hub_scanner_stop(s);
        return st;
    }
    *out = s;
    return HUB_OK;
}

void hub_scanner_stop(struct hub_scanner *s)
{
    if (!s)
        return;
    if (s->catalog)
        hub_catalog_on_damage(s->catalog, NULL, NULL);
    s->workers.stop = true; /* children at work are killed */
    hub_scan_wake(s);
    hub_thread_stop(&s->workers);
    hub_urgent_take(s);
    hub_tracked_free_all(s);
    hub_inotify_free(s->watch);
    for (uint32_t i = 0; i < s->clash_count; i++)
        free(s->clashes[i]);
    hub_looks_cover(s, NULL);
    hub_links_dispose(&s->links);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    hub_thread_dispose(&s->workers);
    pthread_cond_destroy(&s->idle_wake);
    pthread_mutex_destroy(&s->urgent_lock);
    hub_locks_recent_dispose(&s->locks);
    free(s->state);
    free(s->drivers);
    free(s);
}

/* ---- asking ---- */

static void count_states(const struct hub_scanner *s, struct hub_scan_progress *out)
{
    for (size_t i = 0; i < s->slot_count; i++) {
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain) {
            out->to_inspect += tracked->state == HUB_TRACKED_QUEUED;
            out->postponed += tracked->state == HUB_TRACKED_WAITING && tracked->troubles;
            out->given_up += tracked->given_up;
        }
    }
}

/* What is answered from now on, also while others hold the lock; it is held. */
static void keep_progress(struct hub_scanner *s)
{
    struct hub_scan_progress now = s->progress;
    now.idle = hub_scan_is_idle(s);
    now.to_inspect = s->running;
    now.to_look_at = s->look_count + s->sweep_for_changes;
    count_states(s, &now);
    pthread_mutex_lock(&s->urgent_lock);
    s->last_progress = now;
    pthread_mutex_unlock(&s->urgent_lock);
}

void hub_scanner_progress(struct hub_scanner *s, struct hub_scan_progress *out)
{
    /* The lock may be held while something is published: then the last answer is given once more. */
    if (pthread_mutex_trylock(&s->workers.lock) == 0) {
        keep_progress(s);
        pthread_mutex_unlock(&s->workers.lock);
    }
    pthread_mutex_lock(&s->urgent_lock);
    *out = s->last_progress;
    pthread_mutex_unlock(&s->urgent_lock);
}

bool hub_scanner_parts(struct hub_scanner *s, const char *id, uint32_t *parts, uint32_t *done)
{
    if (pthread_mutex_trylock(&s->workers.lock) != 0)
        return false; /* held while something is published: not worth the wait */
    const struct hub_tracked_dataset *tracked = hub_tracked_find(s, id);
    *parts = tracked ? tracked->parts : 0;
    *done = *parts ? *parts - tracked->unfinished : 0;
    pthread_mutex_unlock(&s->workers.lock);
    return *parts > 0;
}

void hub_scanner_sweep(struct hub_scanner *s)
{
    pthread_mutex_lock(&s->workers.lock);
    s->sweep_wanted = s->asked = true;
    s->progress.no_space = false; /* found out reinspect */
    pthread_mutex_unlock(&s->workers.lock);
    hub_scan_wake(s);
}

bool hub_scanner_wait(struct hub_scanner *s, unsigned timeout_ms)
{
    const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, timeout_ms);
    pthread_mutex_lock(&s->workers.lock);
    bool idle;
    while (!(idle = hub_scan_is_idle(s)))
        if (pthread_cond_timedwait(&s->idle_wake, &s->workers.lock, &until))
            break;
    idle = idle || hub_scan_is_idle(s);
    keep_progress(s); /* the waiting thread reads it next */
    pthread_mutex_unlock(&s->workers.lock);
    if (idle)
        (void)!hub_catalog_flush(s->catalog, NULL);
    return idle;
}
