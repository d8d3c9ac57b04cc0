/* Datasets of upstreams on their way here: who asks, and the jobs that fetch them. See pull.h, pulls.h. */
#include "server/mirror/pulls.h"

#include "server/mirror/work.h"
#include "storage/text/number.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

/* How long a refusal is remembered: at least so long, and at most so long where the upstream's Retry-After is
 * longer. How long the scanner may take to find what was published. */
enum { REFUSED_S = 15, REFUSED_MOST_S = 3600, SEEN_MS = 60 * 1000 };

/* ---- which are on their way; all locked ---- */

static struct hub_pull *find(const struct hub_pulls *p, const char *id)
{
    struct hub_pull *pull = p->first;
    while (pull && strcmp(pull->id, id) != 0)
        pull = pull->next;
    return pull;
}

static struct hub_pull *add(struct hub_pulls *p, const char *id)
{
    const size_t size = strlen(id) + 1;
    struct hub_pull *pull = calloc(1, sizeof *pull + size);
    if (!pull)
        return NULL;
    memcpy(pull->id, id, size);
    pull->pulls = p;
    pull->refs = 1;
    pull->next = p->first;
    p->first = pull;
    return pull;
}

void hub_pull_unref(struct hub_pull *pull)
{
    if (--pull->refs)
        return;
    hub_pull_put(pull->plan);
    free(pull);
}

static bool is_over(const struct hub_pull *pull, const struct hub_snapshot *snapshot, int64_t now_ms)
{
    if (pull->state == HUB_PULL_FAILED)
        return now_ms >= pull->until_ms;
    if (pull->state != HUB_PULL_PUBLISHED)
        return false;
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(pull->id));
    const bool seen = summary && hub_summary_is_here(summary);
    return seen ? summary->status != HUB_DATASET_PENDING : now_ms >= pull->until_ms;
}

void hub_pulls_tidy(struct hub_pulls *p)
{
    if (!p->first)
        return;
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(p->mirrors->options.catalog);
    const int64_t now_ms = hub_time_mono_ms();
    for (struct hub_pull **at = &p->first; *at;) {
        struct hub_pull *pull = *at;
        if (!is_over(pull, snapshot, now_ms)) {
            at = &pull->next;
            continue;
        }
        *at = pull->next;
        hub_pull_unref(pull);
    }
}

/* ---- who waits ---- */
enum hub_status hub_pull_pending(const struct hub_pull *pull, struct hub_error *err)
{
    char done[HUB_SIZE_CHARS], total[HUB_SIZE_CHARS];
    hub_number_size(pull->progress.done, done);
    hub_number_size(pull->progress.total, total);
    if (pull->state == HUB_PULL_PUBLISHED)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "'%s' has been fetched and is being inspected",
                           pull->id);
    if (pull->down && !pull->progress.total)
        return hub_fail_as(
            err, HUB_BUSY, HUB_PROBLEM_UPSTREAM_UNAVAILABLE,
            "'%s' is fetched when its upstream answers; the last try failed, and another one is running",
            pull->id);
    return pull->progress.total
               ? hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                             "'%s' is being fetched from its upstream: %s of %s", pull->id, done, total)
               : hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "'%s' is being fetched from its upstream",
                             pull->id);
}

/* ---- asking ---- */

/* The last pass could not reach it. */
static bool is_down(const struct hub_rule *rule)
{
    static const char *const problems[] = {"unreachable: ", "stalled: ", "timeout: "};
    bool down = false;
    for (size_t i = 0; i < HUB_COUNT(problems); i++)
        down = down || strncmp(rule->error, problems[i], strlen(problems[i])) == 0;
    return down;
}

/* `down`: nothing answers there, as far as is known. */
static enum hub_status add_job(struct hub_mirrors *m, const char *id, const char *rule_name,
                               const char *remote_id, const char *path, bool *down, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep)
    char *text = hub_copy_order_text(&(struct hub_copy_order){.id = remote_id, .path = path});
    struct hub_rule rule;
    HUB_TRY(hub_allocated(text, err));
    HUB_TRY(hub_rule_find(m->options.truth, rule_name, &rule, err));
    const bool paused = rule.paused;
    *down = is_down(&rule);
    hub_rule_dispose(&rule);
    if (paused)
        return hub_fail(err, HUB_CANCELLED, "the rule is paused");
    const struct hub_job_draft draft = {
        .kind = HUB_JOB_PULL, .target = id, .rule = rule_name, .payload = text, .priority = 2};
    const enum hub_status st = hub_job_add(m->options.truth, &draft, NULL, err);
    return st == HUB_EXISTS ? HUB_OK : st;
}

enum hub_status hub_pull_add_job(struct hub_mirrors *m, const char *id, const char *rule_name,
                                 const char *remote_id, const char *path, struct hub_error *err)
{
    bool down;
    return add_job(m, id, rule_name, remote_id, path, &down, err);
}

/* What went wrong, as those hear it who asked for the dataset. */
static void refuse(struct hub_pull *pull, enum hub_status st, const struct hub_error *why)
{
    const bool unreachable = st == HUB_TIMEOUT || st == HUB_BUSY || st == HUB_CANCELLED ||
                             (st == HUB_IO && why->problem == HUB_PROBLEM_UNREACHABLE);
    const enum hub_problem_code problem = st == HUB_NO_SPACE ? HUB_PROBLEM_NO_SPACE
                                          : unreachable      ? HUB_PROBLEM_UPSTREAM_UNAVAILABLE
                                                             : HUB_PROBLEM_UPSTREAM_FAILED;
    (void)!hub_fail_as(&pull->why, st, problem, "'%s' cannot be fetched from its upstream: %s", pull->id,
                       why->detail);
    pull->why.retry_after_s = HUB_MAX(REFUSED_S, HUB_MIN(why->retry_after_s, REFUSED_MOST_S));
    pull->until_ms = hub_time_mono_ms() + 1000 * (int64_t)pull->why.retry_after_s;
    pull->state = HUB_PULL_FAILED;
    if (pull->plan) { /* kept for the next job: readers of fetched files continue */
        pull->plan->over = true;
        pull->plan->why = pull->why;
    }
    pthread_cond_signal(&pull->pulls->thread.wake);
}

/* HUB_OK: it is on its way; `*out` is locked in. Locked before and after. */
static enum hub_status find_or_ask(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                                   struct hub_pull **out, struct hub_error *err)
{
    struct hub_pulls *p = m->pulls;
    struct hub_pull *pull = find(p, summary->id);
    struct hub_error why = {0};
    bool down = false;
    const bool again = pull && pull->state == HUB_PULL_FAILED && hub_time_mono_ms() >= pull->until_ms;
    *out = pull;
    if (pull && !again)
        return pull->state == HUB_PULL_FAILED ? hub_pass(pull->why.status, &pull->why, err) : HUB_OK;
    if (hub_summary_is_here(summary))
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "'%s' has come a moment ago", summary->id);
    if (!may_block)
        return HUB_AGAIN;
    if (!pull && !(*out = pull = add(p, summary->id)))
        return hub_no_memory(err);
    pull->state = HUB_PULL_WAITS;
    pull->progress = (struct hub_pull_progress){0};
    pull->refs++;
    pthread_mutex_unlock(&p->thread.lock);
    const enum hub_status st =
        add_job(m, summary->id, summary->upstream, summary->remote_id, summary->path, &down, &why);
    hub_mirrors_wake(m);
    pthread_mutex_lock(&p->thread.lock);
    pull->down = down;
    enum hub_status asked = HUB_OK;
    if (st && pull->state == HUB_PULL_WAITS) { /* no other job has begun meanwhile */
        refuse(pull, st, &why);
        asked = hub_pass(pull->why.status, &pull->why, err);
    }
    if (!asked && pull->refs == 1) /* and none has ended */
        asked = hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "'%s' has just been fetched", summary->id);
    hub_pull_unref(pull);
    return asked;
}

enum hub_status hub_pull_request(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                                 struct hub_pull_progress *progress, struct hub_error *err)
{
    struct hub_pull *pull;
    pthread_mutex_lock(&m->pulls->thread.lock);
    enum hub_status st = find_or_ask(m, summary, may_block, &pull, err);
    if (!st) {
        *progress = pull->progress;
        st = hub_pull_pending(pull, err);
    }
    pthread_mutex_unlock(&m->pulls->thread.lock);
    return st;
}

bool hub_pull_comes(struct hub_mirrors *m, const char *id)
{
    if (!m)
        return false;
    pthread_mutex_lock(&m->pulls->thread.lock);
    const struct hub_pull *pull = find(m->pulls, id);
    const bool comes = pull && pull->state != HUB_PULL_FAILED;
    pthread_mutex_unlock(&m->pulls->thread.lock);
    return comes;
}

bool hub_pull_release(struct hub_pulls *p, const char *id)
{
    pthread_mutex_lock(&p->thread.lock);
    struct hub_pull *pull = find(p, id);
    const bool busy = pull && (pull->state == HUB_PULL_WAITS || pull->state == HUB_PULL_COMES);
    if (pull && !busy)
        pull->until_ms = 0;
    pthread_mutex_unlock(&p->thread.lock);
    return !busy;
}

enum hub_status hub_pull_open(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                              struct hub_pull_plan **out, struct hub_file_fetch **wait, struct hub_error *err)
{
    struct hub_pull *pull;
    struct hub_file *list = NULL;
    *wait = NULL;
    pthread_mutex_lock(&m->pulls->thread.lock);
    enum hub_status st = find_or_ask(m, summary, may_block, &pull, err);
    if (!st && pull->plan && !pull->plan->over) {
        *out = pull->plan;
        atomic_fetch_add(&pull->plan->refs, 1);
    } else if (!st) {
        list = hub_pull_wait_for_list(pull);
    }
    pthread_mutex_unlock(&m->pulls->thread.lock);
    if (st || *out)
        return st;
    HUB_TRY(hub_allocated(list, err));
    st = hub_fetch_range(list, 0, 0, wait, err);
    hub_file_put(list); /* the fetch has it */
    return st;
}

/* ---- the job ---- */

struct hub_pull *hub_pull_begin(struct hub_pulls *p, const char *id)
{
    pthread_mutex_lock(&p->thread.lock);
    struct hub_pull *pull = find(p, id);
    if (!pull)
        pull = add(p, id);
    if (pull) {
        pull->state = HUB_PULL_COMES;
        pull->refs++;
    }
    pthread_mutex_unlock(&p->thread.lock);
    return pull;
}

void hub_pull_progress(struct hub_pull *pull, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&pull->pulls->thread.lock);
    pull->progress = (struct hub_pull_progress){done, total};
    pthread_mutex_unlock(&pull->pulls->thread.lock);
}

/* Locked. */
static void publish(struct hub_pull *pull)
{
    for (uint32_t i = 0; pull->plan && i < pull->plan->count; i++)
        pull->plan->files[i].whole = true;
    pull->progress.done = pull->progress.total;
    pull->state = HUB_PULL_PUBLISHED;
    pull->until_ms = hub_time_mono_ms() + SEEN_MS;
    pthread_cond_signal(&pull->pulls->thread.wake);
}

void hub_pull_end(struct hub_pull *pull, enum hub_status st, const struct hub_error *why)
{
    if (!pull)
        return;
    struct hub_pulls *p = pull->pulls;
    pthread_mutex_lock(&p->thread.lock);
    if (!st)
        publish(pull);
    else if (hub_mirror_goes_on(st, why)) /* the plan may be the same when it goes on; who reads waits */
        pull->state = HUB_PULL_WAITS;
    else
        refuse(pull, st, why);
    hub_pull_unref(pull);
    pthread_mutex_unlock(&p->thread.lock);
}

/* ---- start and end ---- */

enum hub_status hub_pulls_start(struct hub_mirrors *mirrors, struct hub_pulls **out, struct hub_error *err)
{
    struct hub_pulls *p;
    HUB_TRY(hub_new(&p, 1, sizeof *p, err));
    p->mirrors = mirrors;
    const enum hub_status st = hub_thread_start(&p->thread, hub_pulls_serve_readers, p, "pulls", err);
    if (st)
        free(p);
    else
        *out = p;
    return st;
}

void hub_pulls_stop(struct hub_pulls *p)
{
    if (!p)
        return;
    hub_thread_stop(&p->thread);
    while (p->first) {
        struct hub_pull *pull = p->first;
        p->first = pull->next;
        hub_pull_unref(pull);
    }
    hub_thread_dispose(&p->thread);
    free(p);
}
