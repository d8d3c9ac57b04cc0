/* Datasets of upstreams on their way here: see pull.h. One lock, held briefly; a thread of its own reads what somebody
 * waits for as soon as it is there, so that neither the transfer nor a client ever waits for the other. */
#include "server/mirror/pull.h"

#include "server/mirror/cache.h"
#include "server/mirror/coming.h"
#include "server/mirror/work.h"
#include "storage/base/number.h"
#include "storage/base/order.h"
#include "storage/base/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* How long one fetch waits, how long a refusal is remembered, and how long what was published may take to be seen. */
enum { PATIENCE_MS = 2000, REFUSED_S = 15, SEEN_MS = 60 * 1000, LOOK_MS = 200 };

struct coming_file {
    struct hub_pull_file shown; /* first */
    uint64_t prefix;            /* all bytes before it are there */
    uint64_t wanted_end;        /* the nearest end that is waited for; UINT64_MAX: none */
    uint8_t *segments;          /* one each: is it there? */
    uint32_t segment_count;
    unsigned turn; /* counts what was lost: who read before has another file */
    bool whole;
};

struct hub_pull_plan {
    atomic_uint refs;
    struct hub_pulls *pulls;
    int tree;
    char revision[HUB_REVISION_CHARS + 1];
    uint64_t segment_bytes;
    uint32_t count, wanted; /* wanted: UINT32_MAX: none */
    struct coming_file *files;
    bool over; /* nothing more comes: why */
    struct hub_error why;
};

struct hub_pull {
    struct hub_pulls *pulls;
    struct hub_pull *next;
    unsigned refs;
    enum { WAITS, COMES, PUBLISHED, FAILED } state;
    int64_t until_ms; /* FAILED, PUBLISHED: kept so long */
    struct hub_error why;
    struct hub_pull_progress progress;
    struct hub_pull_plan *plan; /* or NULL */
    char id[];
};

/* An open file, or the wait for a list. */
struct coming {
    struct hub_file file; /* first */
    struct hub_source source;
    struct hub_pulls *pulls;
    struct hub_pull *pull;      /* the list is waited for */
    struct hub_pull_plan *plan; /* or bytes of a file */
    uint32_t number;
    unsigned turn;
};

struct waiting {
    struct waiting *next;
    struct hub_file_fetch *fetch;
    int64_t until_ms;
    enum hub_status st; /* once it is ready */
};

struct hub_pulls {
    struct hub_mirrors *mirrors;
    pthread_mutex_t lock; /* all below, and all of pulls and plans but what never changes */
    pthread_cond_t wake;
    bool stop;
    struct hub_pull *first;
    struct waiting *waiting;
    pthread_t feeder;
};

/* ---- plans ---- */

void hub_pull_put(struct hub_pull_plan *plan)
{
    if (!plan || atomic_fetch_sub(&plan->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < plan->count; i++) {
        free(plan->files[i].shown.path);
        free(plan->files[i].segments);
    }
    free(plan->files);
    hub_closep(&plan->tree);
    free(plan);
}

const char *hub_pull_revision(const struct hub_pull_plan *plan)
{
    return plan->revision;
}

uint32_t hub_pull_count(const struct hub_pull_plan *plan)
{
    return plan->count;
}

const struct hub_pull_file *hub_pull_file(const struct hub_pull_plan *plan, uint32_t number)
{
    return &plan->files[number].shown;
}

uint32_t hub_pull_find(const struct hub_pull_plan *plan, const char *path)
{
    const struct coming_file *file = bsearch(&path, plan->files, plan->count, sizeof *file, hub_by_text);
    return file ? (uint32_t)(file - plan->files) : UINT32_MAX;
}

/* What it will be called here, where that can be told: a copy has the times of its files. */
static enum hub_status name_revision(struct hub_pull_plan *plan, const struct hub_remote_files *files,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_file_fact *facts = NULL;
    bool timed = true;
    HUB_TRY(hub_new(&facts, plan->count + 1, sizeof *facts, err));
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct hub_pull_file *file = &plan->files[i].shown;
        facts[i] =
            (struct hub_file_fact){.path = file->path, .size = file->size, .mtime_ns = file->modified_ns};
        timed = timed && file->modified_ns;
    }
    snprintf(plan->revision, sizeof plan->revision, "%s", files->revision ? files->revision : "");
    return timed ? hub_revision(facts, plan->count, plan->revision, err) : HUB_OK;
}

static enum hub_status plan_file(struct coming_file *to, const struct hub_remote_file *from,
                                 const struct hub_staging *s, uint32_t number, struct hub_error *err)
{
    const struct hub_staged_file *staged = &s->files[number];
    to->shown = (struct hub_pull_file){
        .size = from->size, .modified_ns = from->modified_ns, .has_sha256 = from->has_sha256};
    memcpy(to->shown.sha256, from->sha256, sizeof from->sha256);
    HUB_TRY(hub_dup(&to->shown.path, from->path, err));
    HUB_TRY(hub_new(&to->segments, staged->segments + 1, 1, err));
    to->segment_count = staged->segments;
    to->wanted_end = UINT64_MAX;
    for (uint32_t i = 0; i < staged->segments; i++)
        to->segments[i] = s->states[staged->base + i] == HUB_SEGMENT_DONE;
    while (to->prefix < from->size && to->segments[to->prefix / s->segment_bytes])
        to->prefix = HUB_MIN(from->size, to->prefix + s->segment_bytes);
    const bool complete = !staged->missing, agrees = s->sums[number].known && hub_remote_file_proven(from) &&
                                                     hub_sums_agree(&s->sums[number], from);
    to->whole = !from->size || (complete && agrees);
    return HUB_OK;
}

static enum hub_status plan_new(struct hub_pulls *p, const struct hub_transfer *t,
                                const struct hub_staging *s, struct hub_pull_plan **out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_pull_putp) struct hub_pull_plan *plan = NULL;
    HUB_TRY(hub_new(&plan, 1, sizeof *plan, err));
    atomic_init(&plan->refs, 1);
    plan->pulls = p;
    plan->wanted = UINT32_MAX;
    plan->segment_bytes = s->segment_bytes;
    plan->tree = fcntl(s->tree, F_DUPFD_CLOEXEC, 0);
    if (plan->tree < 0)
        return hub_fail_errno(err, errno, "the staging place");
    HUB_TRY(hub_new(&plan->files, t->files.count + 1, sizeof *plan->files, err));
    while (plan->count < t->files.count) {
        const uint32_t i = plan->count++;
        HUB_TRY(plan_file(&plan->files[i], &t->files.items[i], s, i, err));
    }
    HUB_TRY(name_revision(plan, &t->files, err));
    *out = plan;
    plan = NULL;
    return HUB_OK;
}

/* Locked. */
static void end_plan(struct hub_pull *pull, const struct hub_error *why)
{
    if (!pull->plan)
        return;
    pull->plan->over = true;
    pull->plan->why = *why;
    hub_pull_put(pull->plan);
    pull->plan = NULL;
}

/* ---- what the transfer says ---- */

static uint64_t visible(const struct coming_file *file)
{
    const uint64_t before = file->shown.size - HUB_MIN(file->shown.size, (uint64_t)HUB_PULL_HELD);
    return file->whole ? file->shown.size : HUB_MIN(file->prefix, before);
}

static enum hub_status room(uint64_t bytes, void *user, struct hub_error *err)
{
    const struct hub_pull *pull = user;
    return hub_cache_make_room(pull->pulls->mirrors, pull->id, bytes, err);
}

static enum hub_status planned(const struct hub_transfer *t, const struct hub_staging *s, void *user,
                               struct hub_error *err)
{
    struct hub_pull *pull = user;
    struct hub_pull_plan *plan = NULL;
    struct hub_error changed = {0};
    (void)!hub_fail_as(&changed, HUB_IO, "upstream-failed",
                       "'%s' changed on its upstream while it was fetched", pull->id);
    HUB_TRY(plan_new(pull->pulls, t, s, &plan, err));
    pthread_mutex_lock(&pull->pulls->lock);
    end_plan(pull, &changed);
    pull->plan = plan;
    pull->progress.total = t->files.bytes;
    pthread_cond_signal(&pull->pulls->wake);
    pthread_mutex_unlock(&pull->pulls->lock);
    return HUB_OK;
}

static void grown(uint32_t number, uint64_t end, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->lock);
    struct coming_file *file = &pull->plan->files[number];
    file->prefix = end;
    if (visible(file) >= file->wanted_end)
        pthread_cond_signal(&pull->pulls->wake);
    pthread_mutex_unlock(&pull->pulls->lock);
}

static void segment(uint32_t number, uint32_t segment_number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->lock);
    struct coming_file *file = &pull->plan->files[number];
    file->segments[segment_number] = 1;
    if (file->wanted_end != UINT64_MAX)
        pthread_cond_signal(&pull->pulls->wake);
    pthread_mutex_unlock(&pull->pulls->lock);
}

static void whole(uint32_t number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->lock);
    pull->plan->files[number].whole = true;
    pthread_cond_signal(&pull->pulls->wake);
    pthread_mutex_unlock(&pull->pulls->lock);
}

static void lost(uint32_t number, void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->lock);
    struct coming_file *file = &pull->plan->files[number];
    file->whole = false;
    file->prefix = 0;
    file->turn++;
    memset(file->segments, 0, file->segment_count);
    pthread_cond_signal(&pull->pulls->wake);
    pthread_mutex_unlock(&pull->pulls->lock);
}

static uint32_t wanted(void *user)
{
    struct hub_pull *pull = user;
    pthread_mutex_lock(&pull->pulls->lock);
    const uint32_t number = pull->plan->wanted;
    pthread_mutex_unlock(&pull->pulls->lock);
    return number;
}

const struct hub_transfer_watch hub_pull_watch = {.room = room,
                                                  .planned = planned,
                                                  .grown = grown,
                                                  .segment = segment,
                                                  .whole = whole,
                                                  .lost = lost,
                                                  .wanted = wanted};

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

static void unref(struct hub_pull *pull)
{
    if (--pull->refs)
        return;
    hub_pull_put(pull->plan);
    free(pull);
}

static bool is_over(const struct hub_pull *pull, const struct hub_snapshot *snapshot, int64_t now_ms)
{
    if (pull->state == FAILED)
        return now_ms >= pull->until_ms;
    if (pull->state != PUBLISHED)
        return false;
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(pull->id));
    const bool seen = summary && summary->status != HUB_DATASET_REMOTE;
    return seen ? summary->status != HUB_DATASET_PENDING : now_ms >= pull->until_ms;
}

static void tidy(struct hub_pulls *p)
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
        unref(pull);
    }
}

/* ---- who waits ---- */

static bool is_there(const struct hub_pull_plan *plan, const struct coming_file *file,
                     const struct hub_want *want)
{
    const uint64_t end = want->offset + want->size;
    if (end <= visible(file))
        return true;
    if (end + HUB_PULL_HELD > file->shown.size)
        return false;
    for (uint64_t i = want->offset / plan->segment_bytes; i * plan->segment_bytes < end; i++)
        if (!file->segments[i])
            return false;
    return true;
}

static enum hub_status pending(const struct hub_pull *pull, struct hub_error *err)
{
    char done[HUB_SIZE_CHARS], total[HUB_SIZE_CHARS];
    hub_number_size(pull->progress.done, done);
    hub_number_size(pull->progress.total, total);
    if (pull->state == PUBLISHED)
        return hub_fail_as(err, HUB_BUSY, "pending", "'%s' has come, and is being looked at", pull->id);
    return pull->progress.total
               ? hub_fail_as(err, HUB_BUSY, "pending", "'%s' is being fetched from its upstream: %s of %s",
                             pull->id, done, total)
               : hub_fail_as(err, HUB_BUSY, "pending", "'%s' is being fetched from its upstream", pull->id);
}

/* HUB_AGAIN: it is waited for. */
static enum hub_status state_of(const struct coming *c, const struct hub_file_fetch *fetch,
                                struct hub_error *err)
{
    if (!c->plan)
        return c->pull->state == FAILED ? hub_pass(c->pull->why.status, &c->pull->why, err)
               : c->pull->plan          ? HUB_OK
                                        : HUB_AGAIN;
    const struct coming_file *file = &c->plan->files[c->number];
    if (file->turn != c->turn)
        return hub_fail_as(err, HUB_CORRUPT, "upstream-failed",
                           "what came of '%s' was not what its upstream has", file->shown.path);
    for (uint32_t i = 0; i < fetch->count; i++)
        if (!is_there(c->plan, file, &fetch->items[i]))
            return c->plan->over ? hub_pass(c->plan->why.status, &c->plan->why, err) : HUB_AGAIN;
    return HUB_OK;
}

static const struct coming *coming_of(const struct hub_file_fetch *fetch)
{
    return (const struct coming *)fetch->items[0].file;
}

static enum hub_status settle(const struct hub_pulls *p, const struct waiting *w, int64_t now_ms)
{
    struct hub_error *err = &w->fetch->err;
    const struct coming *c = coming_of(w->fetch);
    if (hub_fetch_left(w->fetch))
        return hub_fail(err, HUB_CANCELLED, "nobody waits for it");
    const enum hub_status st = state_of(c, w->fetch, err);
    if (st != HUB_AGAIN)
        return st;
    if (p->stop)
        return hub_fail(err, HUB_CANCELLED, "the server is shutting down");
    return now_ms < w->until_ms ? HUB_AGAIN
           : c->pull            ? pending(c->pull, err)
                     : hub_fail_as(err, HUB_BUSY, "pending", "'%s' is being fetched from its upstream",
                                   c->file.path);
}

/* Those whose time has come, out of the list. */
static struct waiting *take_ready(struct hub_pulls *p)
{
    struct waiting *ready = NULL;
    const int64_t now_ms = hub_time_mono_ms();
    for (struct waiting *w = p->waiting; w; w = w->next)
        if (coming_of(w->fetch)->plan)
            coming_of(w->fetch)->plan->files[coming_of(w->fetch)->number].wanted_end = UINT64_MAX;
    for (struct waiting **at = &p->waiting; *at;) {
        struct waiting *w = *at;
        const struct coming *c = coming_of(w->fetch);
        w->st = settle(p, w, now_ms);
        if (w->st != HUB_AGAIN) {
            *at = w->next;
            w->next = ready;
            ready = w;
            continue;
        }
        if (c->plan) {
            struct coming_file *file = &c->plan->files[c->number];
            const struct hub_want *want = w->fetch->items;
            file->wanted_end = HUB_MIN(file->wanted_end, want->offset + want->size);
            c->plan->wanted = c->number;
        }
        at = &w->next;
    }
    return ready;
}

static enum hub_status read_items(struct hub_file_fetch *fetch, struct hub_error *err)
{
    struct coming *c = (struct coming *)fetch->items[0].file;
    if (!c->plan)
        return HUB_OK;
    if (c->file.fd < 0)
        HUB_TRY(hub_fs_open_beneath(c->plan->tree, c->file.path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS,
                                    &c->file.fd, err));
    for (uint32_t i = 0; i < fetch->count; i++)
        HUB_TRY(hub_read_bytes(&c->file, fetch->items[i].offset, fetch->items[i].data,
                               (size_t)fetch->items[i].size, 0, err));
    return HUB_OK;
}

static void answer(struct waiting *ready)
{
    while (ready) {
        struct waiting *w = ready;
        ready = w->next;
        hub_fetch_done(w->fetch, w->st ? w->st : read_items(w->fetch, &w->fetch->err));
        free(w);
    }
}

static void *feed(void *arg)
{
    struct hub_pulls *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop || p->waiting) {
        struct waiting *ready = take_ready(p);
        tidy(p);
        if (ready) {
            pthread_mutex_unlock(&p->lock);
            answer(ready);
            pthread_mutex_lock(&p->lock);
        } else if (p->first) {
            const struct timespec until = hub_time_ahead(CLOCK_MONOTONIC, LOOK_MS);
            pthread_cond_timedwait(&p->wake, &p->lock, &until);
        } else if (!p->stop) {
            pthread_cond_wait(&p->wake, &p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static enum hub_status fetch(const struct hub_source *source, struct hub_file_fetch *fetch,
                             struct hub_error *err)
{
    const struct coming *c = (const struct coming *)((const char *)source - offsetof(struct coming, source));
    struct hub_pulls *p = c->pulls;
    struct waiting *w;
    HUB_TRY(hub_new(&w, 1, sizeof *w, err));
    *w = (struct waiting){.fetch = fetch, .until_ms = hub_time_mono_ms() + PATIENCE_MS};
    pthread_mutex_lock(&p->lock);
    w->next = p->waiting;
    p->waiting = w;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    return HUB_AGAIN;
}

static void release(struct hub_file *file)
{
    struct coming *c = (struct coming *)file;
    hub_closep(&c->file.fd);
    hub_pull_put(c->plan);
    if (c->pull) {
        pthread_mutex_lock(&c->pulls->lock);
        unref(c->pull);
        pthread_mutex_unlock(&c->pulls->lock);
    }
    free(c);
}

static struct coming *coming_new(struct hub_pulls *p, const char *path)
{
    struct coming *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct coming){.source = {.fetch = fetch, .release = release, .comes = true}, .pulls = p};
    atomic_init(&c->file.item.refs, 1);
    c->file.fd = -1;
    c->file.source = &c->source;
    c->file.path = path;
    return c;
}

/* ---- asking ---- */

enum hub_status hub_pull_add_job(struct hub_mirrors *m, const char *id, const char *rule_name,
                                 const char *remote_id, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *payload = json_pack("{s:s, s:s}", "id", remote_id, "path", path);
    HUB_CLEANUP(hub_freep) char *text = payload ? json_dumps(payload, JSON_COMPACT) : NULL;
    struct hub_rule rule;
    HUB_TRY(hub_allocated(text, err));
    HUB_TRY(hub_rule_find(m->options.catalog, rule_name, &rule, err));
    const bool paused = rule.paused;
    hub_rule_dispose(&rule);
    if (paused)
        return hub_fail(err, HUB_CANCELLED, "the rule is paused");
    const struct hub_job_draft draft = {
        .kind = HUB_PULL, .target = id, .rule = rule_name, .payload = text, .priority = 2};
    const enum hub_status st = hub_job_add(m->options.catalog, &draft, NULL, err);
    return st == HUB_EXISTS ? HUB_OK : st;
}

/* What went wrong, as those hear it who asked for the dataset. */
static void refuse(struct hub_pull *pull, enum hub_status st, const struct hub_error *why)
{
    const bool unreachable = st == HUB_TIMEOUT || st == HUB_BUSY || st == HUB_CANCELLED ||
                             (st == HUB_IO && strcmp(why->problem, "unreachable") == 0);
    const char *problem = st == HUB_NO_SPACE ? "no-space"
                          : unreachable      ? "upstream-unavailable"
                                             : "upstream-failed";
    (void)!hub_fail_as(&pull->why, st, problem, "'%s' cannot be fetched from its upstream: %s", pull->id,
                       why->detail);
    pull->why.retry_after_s = REFUSED_S;
    pull->until_ms = hub_time_mono_ms() + 1000 * REFUSED_S;
    pull->state = FAILED;
    end_plan(pull, &pull->why);
    pthread_cond_signal(&pull->pulls->wake);
}

/* HUB_OK: it is on its way; `*out` is locked in. Locked before and after. */
static enum hub_status find_or_ask(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                                   struct hub_pull **out, struct hub_error *err)
{
    struct hub_pulls *p = m->pulls;
    struct hub_pull *pull = find(p, summary->id);
    struct hub_error why = {0};
    const bool again = pull && pull->state == FAILED && hub_time_mono_ms() >= pull->until_ms;
    *out = pull;
    if (pull && !again)
        return pull->state == FAILED ? hub_pass(pull->why.status, &pull->why, err) : HUB_OK;
    if (summary->status != HUB_DATASET_REMOTE)
        return hub_fail_as(err, HUB_BUSY, "pending", "'%s' has come a moment ago", summary->id);
    if (!may_block)
        return HUB_AGAIN;
    if (!pull && !(*out = pull = add(p, summary->id)))
        return hub_no_memory(err);
    pull->state = WAITS;
    pull->progress = (struct hub_pull_progress){0};
    pull->refs++;
    pthread_mutex_unlock(&p->lock);
    const enum hub_status st =
        hub_pull_add_job(m, summary->id, summary->upstream, summary->remote_id, summary->path, &why);
    hub_mirrors_poke(m);
    pthread_mutex_lock(&p->lock);
    enum hub_status asked = HUB_OK;
    if (st && pull->state == WAITS) { /* no other job has begun meanwhile */
        refuse(pull, st, &why);
        asked = hub_pass(pull->why.status, &pull->why, err);
    }
    if (!asked && pull->refs == 1) /* and none has ended */
        asked = hub_fail_as(err, HUB_BUSY, "pending", "'%s' has come a moment ago", summary->id);
    unref(pull);
    return asked;
}

enum hub_status hub_pull_ask(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                             struct hub_pull_progress *progress, struct hub_error *err)
{
    struct hub_pull *pull;
    pthread_mutex_lock(&m->pulls->lock);
    enum hub_status st = find_or_ask(m, summary, may_block, &pull, err);
    if (!st) {
        *progress = pull->progress;
        st = pending(pull, err);
    }
    pthread_mutex_unlock(&m->pulls->lock);
    return st;
}

bool hub_pull_comes(struct hub_mirrors *m, const char *id)
{
    if (!m)
        return false;
    pthread_mutex_lock(&m->pulls->lock);
    const struct hub_pull *pull = find(m->pulls, id);
    const bool comes = pull && pull->state != FAILED;
    pthread_mutex_unlock(&m->pulls->lock);
    return comes;
}

bool hub_pull_release(struct hub_pulls *p, const char *id)
{
    pthread_mutex_lock(&p->lock);
    struct hub_pull *pull = find(p, id);
    const bool busy = pull && (pull->state == WAITS || pull->state == COMES);
    if (pull && !busy)
        pull->until_ms = 0;
    pthread_mutex_unlock(&p->lock);
    return !busy;
}

/* Locked. */
static struct coming *wait_for_list(struct hub_pull *pull)
{
    struct coming *c = coming_new(pull->pulls, pull->id);
    if (!c)
        return NULL;
    c->pull = pull;
    pull->refs++;
    return c;
}

enum hub_status hub_pull_open(struct hub_mirrors *m, const struct hub_summary *summary, bool may_block,
                              struct hub_pull_plan **out, struct hub_file_fetch **wait, struct hub_error *err)
{
    struct hub_pull *pull;
    struct coming *c = NULL;
    *wait = NULL;
    pthread_mutex_lock(&m->pulls->lock);
    enum hub_status st = find_or_ask(m, summary, may_block, &pull, err);
    if (!st && pull->plan) {
        *out = pull->plan;
        atomic_fetch_add(&pull->plan->refs, 1);
    } else if (!st) {
        c = wait_for_list(pull);
    }
    pthread_mutex_unlock(&m->pulls->lock);
    if (st || *out)
        return st;
    HUB_TRY(hub_allocated(c, err));
    st = hub_fetch_range(&c->file, 0, 0, wait, err);
    hub_file_put(&c->file); /* the fetch has it */
    return st;
}

enum hub_status hub_pull_read(struct hub_pull_plan *plan, uint32_t number, struct hub_file **out,
                              struct hub_error *err)
{
    const struct coming_file *file = &plan->files[number];
    struct coming *c = coming_new(plan->pulls, file->shown.path);
    HUB_TRY(hub_allocated(c, err));
    c->plan = plan;
    c->number = number;
    c->file.stamp =
        (struct hub_stamp){.size = file->shown.size, .mtime_ns = (uint64_t)file->shown.modified_ns};
    atomic_fetch_add(&plan->refs, 1);
    pthread_mutex_lock(&plan->pulls->lock);
    c->turn = file->turn;
    pthread_mutex_unlock(&plan->pulls->lock);
    *out = &c->file;
    return HUB_OK;
}

/* ---- the job ---- */

struct hub_pull *hub_pull_begin(struct hub_pulls *p, const char *id)
{
    pthread_mutex_lock(&p->lock);
    struct hub_pull *pull = find(p, id);
    if (!pull)
        pull = add(p, id);
    if (pull) {
        pull->state = COMES;
        pull->refs++;
    }
    pthread_mutex_unlock(&p->lock);
    return pull;
}

void hub_pull_progress(struct hub_pull *pull, uint64_t done, uint64_t total)
{
    pthread_mutex_lock(&pull->pulls->lock);
    pull->progress = (struct hub_pull_progress){done, total};
    pthread_mutex_unlock(&pull->pulls->lock);
}

/* Locked. */
static void publish(struct hub_pull *pull)
{
    for (uint32_t i = 0; pull->plan && i < pull->plan->count; i++)
        pull->plan->files[i].whole = true;
    pull->progress.done = pull->progress.total;
    pull->state = PUBLISHED;
    pull->until_ms = hub_time_mono_ms() + SEEN_MS;
    pthread_cond_signal(&pull->pulls->wake);
}

void hub_pull_end(struct hub_pull *pull, enum hub_status st, const struct hub_error *why)
{
    if (!pull)
        return;
    struct hub_pulls *p = pull->pulls;
    pthread_mutex_lock(&p->lock);
    if (!st)
        publish(pull);
    else if (st == HUB_BUSY) /* the plan may be the same when it goes on; who reads waits */
        pull->state = WAITS;
    else
        refuse(pull, st, why);
    unref(pull);
    pthread_mutex_unlock(&p->lock);
}

/* ---- start and end ---- */

enum hub_status hub_pulls_start(struct hub_mirrors *mirrors, struct hub_pulls **out, struct hub_error *err)
{
    struct hub_pulls *p;
    pthread_condattr_t monotonic;
    HUB_TRY(hub_new(&p, 1, sizeof *p, err));
    p->mirrors = mirrors;
    pthread_mutex_init(&p->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&p->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&p->feeder, NULL, feed, p) != 0) {
        free(p);
        return hub_fail(err, HUB_NO_MEMORY, "no thread for what is fetched");
    }
    *out = p;
    return HUB_OK;
}

void hub_pulls_stop(struct hub_pulls *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->feeder, NULL);
    while (p->first) {
        struct hub_pull *pull = p->first;
        p->first = pull->next;
        unref(pull);
    }
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
