/* Threads that take jobs and work on them: see mirror.h. */
#include "server/mirror/mirror.h"

#include "server/mirror/cache.h"
#include "server/mirror/listed.h"
#include "server/mirror/pull_job.h"
#include "server/mirror/spec.h"
#include "server/mirror/work.h"
#include "storage/io/fs.h"
#include "storage/scan/presence.h"
#include "storage/text/time.h"
#include "storage/truth/damage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* Of the threads of transfers and of pulls one is left to rules of which none runs: so a rule copies four
 * datasets at a time, each by up to four connections. */
enum { WORKERS = 5, PULLERS = 3, LISTERS = 2, SILENCE_MS = 10000 };
enum { ADVICE_MS = 60000 }; /* a longer Retry-After is said */
/* How long nothing is fetched into a root that had no room, and how often that is said. */
enum { FULL_MS = 15000, FULL_REPORT_MS = 600000 };
enum { POLL_MS = 1000, SWEEP_MS = 2000, MAX_TRIES = 8, BASE_MS = 5000, CAP_MS = 3600 * 1000 };

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
    if (atomic_load(&w->mirrors->stop))
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

/* A remote from which nothing comes does not hold a thread that another one waits for: its job is tried again
 * behind the others. */
static enum hub_status give_way(struct hub_mirror_work *w, struct hub_error *err)
{
    const int64_t now_ms = hub_time_mono_ms();
    const uint64_t silent_ms =
        w->lane && w->remote.transport ? hub_transport_silent_ms(w->remote.transport) : 0;
    const unsigned most_ms = w->mirrors->options.silence_ms;
    if (silent_ms < (most_ms ? most_ms : SILENCE_MS) || now_ms - w->looked_ms < POLL_MS)
        return HUB_OK;
    w->looked_ms = now_ms;
    if (strcmp(w->job.kind, "mirror") == 0)
        (void)!hub_rules_due(w->mirrors->options.truth, NULL); /* as those do who are free */
    return hub_job_rule_waits(w->mirrors->options.truth, w->lane)
               ? hub_fail_as(err, HUB_TIMEOUT, "stalled", "nothing came from %.200s for %u s", w->remote.base,
                             (unsigned)(silent_ms / 1000))
               : HUB_OK;
}

/* The transport's question; the reason to stop outlives what the transport says of it. */
static int interrupted(void *user)
{
    struct hub_mirror_work *w = user;
    return hub_mirror_keep(w, &w->ended) || give_way(w, &w->ended);
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

/* ---- the remote of a rule ---- */

/* Its first word. */
static enum hub_status read_token(const char *path, char token[HUB_MIRROR_TOKEN], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MIRROR_TOKEN - 1);
    const enum hub_status st = hub_fs_read(AT_FDCWD, path, &text, err);
    if (!st && text.size) {
        const size_t from = strspn(text.data, " \t\r\n");
        snprintf(token, HUB_MIRROR_TOKEN, "%.*s", (int)strcspn(text.data + from, " \t\r\n"),
                 text.data + from);
        explicit_bzero(text.data, text.size);
    }
    return st ? st : *token ? HUB_OK : hub_fail(err, HUB_DENIED, "the token file %.200s is empty", path);
}

static bool is_json_file(const char *path)
{
    return hub_view_ends(hub_view_of(path), ".json"); /* of a service account */
}

/* A rule's limit, which all that works for it shares. */
struct hub_mirror_rate {
    struct hub_mirror_rate *next;
    struct hub_rate rate;
    char rule[];
};

static struct hub_rate *rate_of(struct hub_mirrors *mirrors, const struct hub_rule *rule)
{
    struct hub_mirror_rate *at;
    pthread_mutex_lock(&mirrors->lock);
    for (at = mirrors->rates; at && strcmp(at->rule, rule->name) != 0; at = at->next) {
    }
    if (!at && (at = calloc(1, sizeof *at + strlen(rule->name) + 1))) {
        strcpy(at->rule, rule->name);
        at->next = mirrors->rates;
        mirrors->rates = at;
    }
    pthread_mutex_unlock(&mirrors->lock);
    if (at)
        atomic_store(&at->rate.per_s, hub_member_uint(rule->spec, "limit"));
    return at ? &at->rate : NULL;
}

static void free_rates(struct hub_mirrors *mirrors)
{
    while (mirrors->rates) {
        struct hub_mirror_rate *rate = mirrors->rates;
        mirrors->rates = rate->next;
        free(rate);
    }
}

enum hub_status hub_mirror_reach(const json_t *spec, char token[HUB_MIRROR_TOKEN],
                                 struct hub_remote_options *out, struct hub_error *err)
{
    const char *file = hub_member_text(spec, "token-file");
    const bool account = file && is_json_file(file);
    if (file && !account)
        HUB_TRY(read_token(file, token, err));
    *out = (struct hub_remote_options){
        .transport = {.token = *token ? token : NULL,
                      .user_agent = "minari-hub/" HUB_VERSION,
                      .environment_proxy = true,
                      .other_hosts = json_is_true(json_object_get(spec, "internal")) ? HUB_OTHER_HOSTS_ANY
                                                                                     : HUB_OTHER_HOSTS_NONE,
                      .connect_timeout_ms = 10000,
                      .stall_timeout_ms = 30000,
                      .retry = HUB_RETRY_DEFAULT},
        .credentials = account ? file : NULL};
    return HUB_OK;
}

enum hub_status hub_mirror_open_remote(struct hub_mirror_work *w, const char *address, struct hub_error *err)
{
    struct hub_remote_options options;
    struct hub_transport_options *transport = &options.transport;
    HUB_TRY(hub_mirror_reach(w->rule.spec, w->token, &options, err));
    transport->bytes_per_s = hub_member_uint(w->rule.spec, "limit");
    transport->rate = rate_of(w->mirrors, &w->rule);
    transport->interrupted = interrupted;
    transport->user = w;
    if (w->looks) {
        transport->connect_timeout_ms = 3000;
        transport->stall_timeout_ms = 10000;
        transport->retry = HUB_MIRROR_BRIEFLY;
    }
    return hub_remote_open(address, &options, &w->remote, err);
}

/* ---- one job ---- */

/* Where one dataset found no room, the others need not try at once as well. */
static enum hub_status wait_for_room(const struct hub_mirror_work *w, struct hub_error *err)
{
    const int64_t left_ms = atomic_load(&w->mirrors->full[w->root].until_ms) - hub_time_mono_ms();
    if (left_ms <= 0 || strcmp(w->job.kind, "transfer") != 0)
        return HUB_OK;
    (void)hub_fail_as(err, HUB_BUSY, "waits-for-room", "there was no room for another dataset just now");
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
    if (strcmp(w->job.kind, "check") == 0)
        return hub_check_job(w, err);
    HUB_TRY(hub_mirror_root(w->rule.spec, w->mirrors->options.roots, &w->root, err));
    HUB_TRY(hub_presence_check(w->mirrors->options.truth, w->mirrors->options.catalog,
                               w->mirrors->options.roots, w->root, err));
    HUB_TRY(wait_for_room(w, err));
    HUB_TRY(hub_mirror_open_remote(w, hub_member_text(w->rule.spec, "remote"), err));
    return strcmp(w->job.kind, "mirror") == 0 ? hub_mirror_pass(w, err) : hub_mirror_copy(w, err);
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

static void end_pass(struct hub_mirror_work *w)
{
    if (strcmp(w->job.kind, "mirror") == 0)
        (void)!hub_rule_listed(w->mirrors->options.truth, w->rule.name, w->rule.datasets,
                               1000 * hub_member_uint(w->rule.spec, "every"), NULL);
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
        if (!st || st == HUB_DENIED || atomic_load(&m->stop))
            return;
        hub_pull_end(w->pull, w->ended.status, &w->ended);
        w->pull = NULL;
        const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, POLL_MS);
        pthread_mutex_lock(&m->lock);
        while (!atomic_load(&m->stop) && pthread_cond_timedwait(&m->wake, &m->lock, &until) == 0)
            continue;
        pthread_mutex_unlock(&m->lock);
    }
}

bool hub_mirror_goes_on(enum hub_status st, const struct hub_error *why)
{
    static const char *const problems[] = {"pending", "starting", "download-running", "waits-for-room",
                                           "waits-for-outer"};
    for (size_t i = 0; i < HUB_COUNT(problems) && st == HUB_BUSY; i++)
        if (strcmp(why->problem, problems[i]) == 0)
            return true;
    return false;
}

static void end_failed(struct hub_mirror_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_truth *truth = w->mirrors->options.truth;
    char text[600];
    /* the client sends its request again, or has gone */
    const bool pulled = strcmp(w->job.kind, HUB_PULL) == 0;
    const bool final = is_final(st) || pulled || w->job.attempts >= MAX_TRIES;
    const uint64_t advised_ms = UINT64_C(1000) * why->retry_after_s; /* the remote's own word */
    snprintf(text, sizeof text, "%s: %s", *why->problem ? why->problem : hub_status_name(st), why->detail);
    if (advised_ms >= ADVICE_MS)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; it asks to try again after %" PRIu64 " minutes", (advised_ms + 59999) / 60000);
    (void)!hub_rule_count(truth, w->rule.name, 0, text, NULL);
    if (final)
        end_pass(w);
    const char *target = strcmp(w->job.kind, "mirror") ? w->job.target : "";
    if (st != HUB_NO_SPACE || is_news_of_no_room(w))
        hub_mirror_notify(w, HUB_MIRROR_FAILED, target, "%s%s", text,
                          pulled  ? "; the hub tries again at the next request"
                          : final ? "; the hub tries again in the next pass"
                                  : "; the hub tries again later");
    end_job(w, final ? HUB_JOB_FAILED : HUB_JOB_WAITING, HUB_MAX(pause_ms(w->job.attempts), advised_ms), true,
            text);
}

static void end(struct hub_mirror_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_truth *truth = w->mirrors->options.truth;
    if (st == HUB_DENIED && strcmp(why->problem, "fenced") == 0)
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

static void run(struct hub_mirror_thread *own, const struct hub_job_row *job)
{
    struct hub_mirrors *mirrors = own->mirrors;
    struct hub_mirror_work w = {
        .mirrors = mirrors, .job = *job, .lane = &own->jobs, .kept_ms = hub_time_mono_ms()};
    struct hub_error why = {0};
    if (strcmp(job->kind, HUB_PULL) == 0)
        w.pull = hub_pull_begin(mirrors->pulls, job->target);
    enum hub_status st =
        *job->rule ? hub_rule_find_uncounted(mirrors->options.truth, job->rule, &w.rule, &why) : HUB_OK;
    if (!st) {
        st = work(&w, &why);
        if (st && w.ended.status) /* the transport says only that it was interrupted */
            st = hub_pass(w.ended.status, &w.ended, &why);
        w.ended = why;
        w.ended.status = st;
        end(&w, st, &why);
    } else {
        w.ended = why;
        end_job(&w, HUB_JOB_FAILED, 0, true, *job->rule ? why.detail : "it was interrupted");
    }
    hub_mirror_let_go(&w);
    hub_pull_end(w.pull, st, &why);
    hub_remote_close(&w.remote);
    explicit_bzero(w.token, sizeof w.token);
    hub_rule_dispose(&w.rule);
}

/* ---- threads ---- */

static void sleep_until_poked(struct hub_mirrors *m, unsigned *pokes)
{
    const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, POLL_MS);
    pthread_mutex_lock(&m->lock);
    while (m->pokes == *pokes && !atomic_load(&m->stop) &&
           pthread_cond_timedwait(&m->wake, &m->lock, &until) == 0)
        continue;
    *pokes = m->pokes;
    pthread_mutex_unlock(&m->lock);
}

/* A sweep reads every root: no more than one in a while, as long as copies follow each other. */
static void sweep(struct hub_mirrors *m, bool more_follow)
{
    const int64_t now = hub_time_mono_ms();
    if ((more_follow && now - atomic_load(&m->swept_ms) < SWEEP_MS) || !atomic_exchange(&m->unswept, false))
        return;
    atomic_store(&m->swept_ms, now);
    hub_scanner_sweep(m->options.scanner);
}

static void *thread(void *arg)
{
    struct hub_mirror_thread *own = arg;
    struct hub_mirrors *m = own->mirrors;
    unsigned pokes = 0;
    while (!atomic_load(&m->stop)) {
        struct hub_job_row job;
        enum hub_status st = HUB_OK;
        if (own->lane == HUB_LANE_LISTS)
            st = hub_rules_due(m->options.truth, NULL);
        else if (own->lane == HUB_LANE_CHECKS)
            hub_damage_refresh(m->options.truth);
        if (!st)
            st = hub_job_take(m->options.truth, &own->jobs, HUB_MIRROR_LEASE_S, &job, NULL);
        if (st && own->lane == HUB_LANE_PULLS)
            hub_cache_maintain(m);
        if (st) {
            if (own->lane == HUB_LANE_MIRRORS)
                sweep(m, false);
            sleep_until_poked(m, &pokes); /* nothing to do, or hub.db cannot be written now */
            continue;
        }
        run(own, &job);
        hub_job_dispose(&job);
        if (own->lane != HUB_LANE_LISTS)
            sweep(m, own->lane == HUB_LANE_MIRRORS);
    }
    return NULL;
}

static enum hub_status start_threads(struct hub_mirrors *m, enum hub_mirror_lane lane, unsigned count,
                                     struct hub_error *err)
{
    static const struct hub_job_lane jobs[] = {[HUB_LANE_LISTS] = {.kind = "mirror"},
                                               [HUB_LANE_MIRRORS] = {.other = "mirror check " HUB_PULL},
                                               [HUB_LANE_PULLS] = {.kind = HUB_PULL},
                                               [HUB_LANE_CHECKS] = {.kind = "check"}};
    for (unsigned i = 0; i < count && m->thread_count < HUB_COUNT(m->threads); i++) {
        struct hub_mirror_thread *own = &m->threads[m->thread_count];
        *own = (struct hub_mirror_thread){.mirrors = m, .lane = lane, .jobs = jobs[lane]};
        own->jobs.threads = count;
        if (pthread_create(&own->thread, NULL, thread, own) != 0)
            return hub_fail(err, HUB_NO_MEMORY, "no thread for mirrors");
        m->thread_count++;
    }
    return HUB_OK;
}

static enum hub_status start_workers(struct hub_mirrors *m, struct hub_error *err)
{
    unsigned upstreams = 0;
    HUB_TRY(hub_pulls_start(m, &m->pulls, err));
    HUB_TRY(hub_listed_load(m, &upstreams, err));
    HUB_TRY(start_threads(m, HUB_LANE_LISTS, LISTERS, err));
    HUB_TRY(start_threads(m, HUB_LANE_MIRRORS, WORKERS, err));
    return upstreams ? start_threads(m, HUB_LANE_PULLS, PULLERS, err) : HUB_OK;
}

enum hub_status hub_mirrors_start(const struct hub_mirrors_options *options, struct hub_mirrors **out,
                                  struct hub_error *err)
{
    struct hub_mirrors *m;
    pthread_condattr_t monotonic;
    HUB_TRY(hub_new(&m, 1, sizeof *m, err));
    m->options = *options;
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->cache_lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&m->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    (void)!hub_jobs_tidy(options->truth, NULL);
    enum hub_status st = start_threads(m, HUB_LANE_CHECKS, 1, err);
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
    pthread_mutex_lock(&m->lock);
    m->pokes++;
    pthread_cond_broadcast(&m->wake);
    pthread_mutex_unlock(&m->lock);
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
    pthread_mutex_lock(&m->lock);
    atomic_store(&m->stop, true);
    pthread_cond_broadcast(&m->wake);
    pthread_mutex_unlock(&m->lock);
    for (unsigned i = 0; i < m->thread_count; i++)
        pthread_join(m->threads[i].thread, NULL);
    if (m->pulls)
        hub_cache_flush(m);
    hub_pulls_stop(m->pulls);
    free_rates(m);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    pthread_mutex_destroy(&m->cache_lock);
    free(m);
}
