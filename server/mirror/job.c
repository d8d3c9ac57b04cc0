/* One job that a thread has taken: its lease while it runs, and how it ends. See work.h. */
#include "server/mirror/work.h"

#include "server/mirror/pull_job.h"
#include "server/mirror/spec.h"
#include "storage/scan/presence.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>

enum { ADVICE_MS = 60000 }; /* a longer Retry-After is said */
/* How long nothing is fetched into a root that had no room, and how often that is said. */
enum { FULL_MS = 15000, FULL_REPORT_MS = 600000 };
enum { POLL_MS = 1000, BASE_MS = 5000, CAP_MS = 3600 * 1000 };

/* ---- while it runs ---- */

enum hub_status hub_mirror_keep_now(struct hub_mirror_work *w, struct hub_error *err)
{
    struct hub_rule rule;
    struct hub_truth *truth = w->mirrors->options.truth;
    w->kept_ms = hub_time_mono_ms();
    HUB_TRY(hub_job_keep(truth, hub_job_lease(&w->job), HUB_MIRROR_LEASE_S, w->done, w->total, err));
    if (!*w->job.rule)
        return HUB_OK;
    HUB_TRY(hub_rule_find_uncounted(truth, w->rule.name, &rule, err));
    const bool paused = rule.paused;
    hub_rule_dispose(&rule);
    return paused ? hub_fail(err, HUB_CANCELLED, "the rule is paused") : HUB_OK;
}

enum hub_status hub_mirror_keep(struct hub_mirror_work *w, struct hub_error *err)
{
    if (atomic_load(&w->mirrors->workers.stop))
        return hub_fail(err, HUB_CANCELLED, "minari-hub was stopped");
    return w->looks || hub_time_mono_ms() - w->kept_ms < HUB_MIRROR_KEEP_MS ? HUB_OK
                                                                            : hub_mirror_keep_now(w, err);
}

void hub_mirror_hold(struct hub_mirror_work *w, uint64_t bytes)
{
    const struct hub_mirrors_options *o = &w->mirrors->options;
    while (o->take && w->held + MIB <= bytes && o->take(o->memory, MIB))
        w->held += MIB;
}

void hub_mirror_let_go(struct hub_mirror_work *w)
{
    if (w->held)
        w->mirrors->options.give(w->mirrors->options.memory, w->held);
    w->held = 0;
}

void hub_mirror_notify(const struct hub_mirror_work *w, enum hub_mirror_event_kind kind, const char *id,
                       const char *fmt, ...)
{
    char detail[600];
    va_list args;
    const struct hub_mirrors_options *o = &w->mirrors->options;
    if (!o->notify)
        return;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    o->notify(o->user, &(struct hub_mirror_event){kind, w->rule.name, id, detail});
}

/* ---- one job ---- */

/* Where one dataset found no room, the others need not try at once as well. */
static enum hub_status wait_for_room(const struct hub_mirror_work *w, struct hub_error *err)
{
    const int64_t left_ms = atomic_load(&w->mirrors->full[w->root].until_ms) - hub_time_mono_ms();
    if (left_ms <= 0 || !(w->kind->flags & HUB_JOB_NEEDS_ROOM))
        return HUB_OK;
    (void)hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_WAITS_FOR_ROOM,
                      "there was no room for another dataset just now");
    if (err)
        err->retry_after_s = 1 + (unsigned)(left_ms / 1000);
    return HUB_BUSY;
}

/* Whether it is news that there is no room. */
static bool is_news_of_no_room(const struct hub_mirror_work *w)
{
    const int64_t now_ms = hub_time_mono_ms();
    atomic_store(&w->mirrors->full[w->root].until_ms, now_ms + FULL_MS);
    const int64_t reported_ms = atomic_load(&w->mirrors->full[w->root].reported_ms);
    if (reported_ms && now_ms - reported_ms < FULL_REPORT_MS)
        return false;
    atomic_store(&w->mirrors->full[w->root].reported_ms, now_ms);
    return true;
}

static enum hub_status work(struct hub_mirror_work *w, struct hub_error *err)
{
    if (w->kind->flags & HUB_JOB_OF_RULE) {
        HUB_TRY(hub_mirror_root(w->rule.spec, w->mirrors->options.roots, &w->root, err));
        HUB_TRY(hub_presence_check(w->mirrors->options.truth, w->mirrors->options.catalog,
                                   w->mirrors->options.roots, w->root, err));
        HUB_TRY(wait_for_room(w, err));
        HUB_TRY(hub_mirror_open_remote(w, hub_member_text(w->rule.spec, "remote"), err));
    }
    return w->kind->work(w, err);
}

/* Full jitter below an exponential. */
static uint64_t pause_ms(unsigned attempts)
{
    uint32_t random = 0;
    uint64_t most = (uint64_t)BASE_MS << HUB_MIN(attempts, 16u);
    (void)!getrandom(&random, sizeof random, 0);
    most = HUB_MIN(most, (uint64_t)CAP_MS);
    return BASE_MS / 5 + random % most;
}

/* Another try would meet the same. */
static bool is_final(enum hub_status st)
{
    return st == HUB_INVALID || st == HUB_UNSUPPORTED || st == HUB_EXISTS || st == HUB_NOT_FOUND;
}

/* A job that is not ended is held for ever: where hub.db cannot be written, as on a full disk, that is
 * waited for. `ended` of the work is how it ended, for those who wait for it. */
static void end_job(struct hub_mirror_work *w, enum hub_job_state state, uint64_t retry_ms, bool counted,
                    const char *why)
{
    struct hub_mirrors *m = w->mirrors;
    for (;;) {
        const enum hub_status st =
            hub_job_end(m->options.truth, hub_job_lease(&w->job), state, retry_ms, counted, why, NULL);
        if (!st || st == HUB_DENIED || atomic_load(&m->workers.stop))
            return;
        hub_pull_end(w->pull, w->ended.status, &w->ended);
        w->pull = NULL;
        pthread_mutex_lock(&m->workers.lock);
        if (!m->workers.stop)
            hub_thread_wait(&m->workers, POLL_MS);
        pthread_mutex_unlock(&m->workers.lock);
    }
}

bool hub_mirror_goes_on(enum hub_status st, const struct hub_error *why)
{
    const enum hub_problem_code problem = why->problem;
    return st == HUB_BUSY &&
           (problem == HUB_PROBLEM_PENDING || problem == HUB_PROBLEM_STARTING ||
            problem == HUB_PROBLEM_DOWNLOAD_RUNNING || problem == HUB_PROBLEM_WAITS_FOR_ROOM ||
            problem == HUB_PROBLEM_WAITS_FOR_OUTER);
}

static void end_failed(struct hub_mirror_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_truth *truth = w->mirrors->options.truth;
    char text[600];
    const bool final = is_final(st) || w->job.attempts >= (w->kind->tries ? w->kind->tries : HUB_JOB_TRIES);
    const uint64_t advised_ms = UINT64_C(1000) * why->retry_after_s; /* the remote's own word */
    snprintf(text, sizeof text, "%s: %s",
             hub_problem_name_or(why->problem, *why->foreign ? why->foreign : hub_status_name(st)),
             why->detail);
    if (advised_ms >= ADVICE_MS)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; it asks to try again after %" PRIu64 " minutes", (advised_ms + 59999) / 60000);
    (void)!hub_rule_count(truth, w->rule.name, 0, text, NULL);
    if (final && w->kind->failed)
        w->kind->failed(w);
    const char *target = w->kind->lane == HUB_LANE_LISTS ? "" : w->job.target; /* which is no dataset */
    if (st != HUB_NO_SPACE || is_news_of_no_room(w))
        hub_mirror_notify(w, HUB_MIRROR_FAILED, target, "%s%s", text,
                          !final              ? "; the hub tries again later"
                          : w->kind->given_up ? w->kind->given_up
                                              : "; the hub tries again in the next pass");
    end_job(w, final ? HUB_JOB_FAILED : HUB_JOB_WAITING, HUB_MAX(pause_ms(w->job.attempts), advised_ms), true,
            text);
}

static void end(struct hub_mirror_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_truth *truth = w->mirrors->options.truth;
    if (st == HUB_DENIED && why->problem == HUB_PROBLEM_FENCED)
        return; /* it is not ours any more */
    if (st == HUB_CANCELLED)
        end_job(w, HUB_JOB_WAITING, 0, false, NULL);
    else if (hub_mirror_goes_on(st, why))
        end_job(w, HUB_JOB_WAITING, HUB_MAX((uint64_t)BASE_MS, UINT64_C(1000) * why->retry_after_s), false,
                why->detail);
    else if (st)
        end_failed(w, st, why);
    else
        end_job(w, HUB_JOB_DONE, 0, true, NULL);
    (void)!hub_rules_finish(truth, NULL);
}

/* All that it needs is there, or is not. */
static enum hub_status begin(struct hub_mirror_work *w, struct hub_error *err)
{
    if (!w->kind->work)
        return hub_fail(err, HUB_CANCELLED, "it was interrupted");
    if (w->kind->flags & HUB_JOB_AWAITED)
        w->pull = hub_pull_begin(w->mirrors->pulls, w->job.target);
    return *w->job.rule ? hub_rule_find_uncounted(w->mirrors->options.truth, w->job.rule, &w->rule, err)
                        : HUB_OK;
}

void hub_mirror_run(struct hub_mirror_thread *thread, const struct hub_job_row *job)
{
    struct hub_mirror_work w = {.mirrors = thread->mirrors,
                                .job = *job,
                                .kind = hub_job_kind_find(job->kind),
                                .lane = &thread->jobs,
                                .kept_ms = hub_time_mono_ms()};
    struct hub_error why = {0};
    enum hub_status st = begin(&w, &why);
    if (!st) {
        st = work(&w, &why);
        if (st && w.ended.status) /* the transport says only that it was interrupted */
            st = hub_pass(w.ended.status, &w.ended, &why);
        w.ended = why;
        w.ended.status = st;
        end(&w, st, &why);
    } else {
        w.ended = why;
        end_job(&w, HUB_JOB_FAILED, 0, true, why.detail);
    }
    hub_mirror_let_go(&w);
    hub_pull_end(w.pull, st, &why);
    hub_remote_close(&w.remote);
    explicit_bzero(w.token, sizeof w.token);
    hub_rule_dispose(&w.rule);
}
