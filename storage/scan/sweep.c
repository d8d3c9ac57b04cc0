/* The sweep is the truth: it walks the roots, stats every file of every dataset, and compares. What is new or
 * changed is queued once its files have settled (until then, and until it is inspected, it is listed as
 * pending); what is gone is removed. */
#include "storage/scan/state.h"

#include "storage/ids/revision.h"
#include "storage/scan/presence.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHOW_MS = 200, OUTDATED_MS = 2000, MISSING_MS = 10000 };

/* One sweep, as its callbacks know it. */
struct hub_sweep {
    struct hub_scanner *scanner;
    _Atomic int64_t shown_ms;
    /* behind the lock */
    pthread_mutex_t lock;
    struct hub_places notes; /* hashes of the keys that are remembered rightly */
    bool partial;            /* ... are not all of them */
    /* from one thread at a time */
    uint32_t clash_count;
    bool new_clash;
    struct hub_batch batch;
};

/* ---- what follows from the files ---- */

int64_t hub_scan_unsettled_ms(const struct hub_scanner *s, const struct hub_fileset *files)
{
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    return HUB_MAX((int64_t)(files->newest_ns / 1000000) + (int64_t)s->settle_ms - now_ms, (int64_t)0);
}

enum hub_status hub_scan_revision(const struct hub_fileset *files, char out[41], struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *facts = calloc(files->count + (size_t)1, sizeof *facts);
    HUB_TRY(hub_allocated(facts, err));
    for (uint32_t i = 0; i < files->count; i++)
        facts[i] = (struct hub_revision_file){.path = files->files[i].path,
                                              .size = files->files[i].stamp.size,
                                              .mtime_ns = (int64_t)files->files[i].stamp.mtime_ns};
    return hub_revision(facts, files->count, out, err);
}

enum hub_status hub_scan_problems(const struct hub_findings *plan, const struct hub_fileset *files,
                                  struct hub_findings *out, struct hub_error *err)
{
    const uint32_t count = plan ? plan->problem_count : 0;
    *out = plan ? *plan : (struct hub_findings){0};
    HUB_TRY(hub_new(&out->problems, count + (size_t)files->problem_count + 1, sizeof *out->problems, err));
    if (count)
        memcpy(out->problems, plan->problems, count * sizeof *out->problems);
    for (uint32_t i = 0; i < files->problem_count; i++)
        out->problems[out->problem_count++] = files->problems[i];
    return HUB_OK;
}

/* ---- notes ---- */

enum hub_status hub_tracked_key(const struct hub_scanner *s, uint32_t root, const char *id,
                                struct hub_buf *key)
{
    return hub_buf_addf(key, NULL, "seen:%s:%s", hub_root_key(&s->walk.roots->roots[root]), id);
}

void hub_scan_remember(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB);
    const struct hub_view value = {(const char *)&signature, signature ? sizeof signature : 0};
    if (hub_tracked_key(s, root, id, &key) || hub_catalog_note_put(s->catalog, key.data, value, NULL))
        return; /* it is inspected once more after a restart */
}

void hub_scan_remember_trouble(struct hub_scanner *s, uint32_t root, const char *id, uint64_t signature,
                               unsigned troubles)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB);
    const uint64_t note[] = {signature, troubles};
    if (hub_tracked_key(s, root, id, &key) ||
        hub_catalog_note_put(s->catalog, key.data, (struct hub_view){(const char *)note, sizeof note}, NULL))
        return; /* after a restart it is tried as often again */
}

/* What is remembered of the state with this signature: that it was inspected, or what kept it from being. */
static void recall_known(const struct hub_scanner *s, struct hub_tracked_dataset *known, uint64_t signature)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(16 * KIB), value = HUB_BUF_INIT(64);
    uint64_t note[2] = {0};
    if (hub_tracked_key(s, known->root, known->id, &key) ||
        hub_catalog_note_get(s->catalog, key.data, &value, NULL) ||
        (value.size != sizeof note[0] && value.size != sizeof note))
        return;
    memcpy(note, value.data, value.size);
    if (value.size == sizeof note)
        known->troubles = note[0] == signature ? (unsigned)note[1] : 0;
    else
        known->published = note[0] == hub_scan_limited(s, signature) ? signature : note[0];
}

/* ---- what is remembered of directories, while they are there ---- */

static uint64_t hash_of(const char *text)
{
    return hub_hash(HUB_HASH_START, text, strlen(text));
}

static void keep_note(struct hub_sweep *sweep, const char *key)
{
    bool added;
    pthread_mutex_lock(&sweep->lock);
    if (hub_places_add(&sweep->notes, 0, hash_of(key), &added, NULL))
        sweep->partial = true; /* no memory to know: nothing is dropped this time */
    pthread_mutex_unlock(&sweep->lock);
}

static enum hub_status note_recall(void *user, const char *key, struct hub_buf *value, struct hub_error *err)
{
    struct hub_sweep *sweep = user;
    keep_note(sweep, key);
    return hub_catalog_note_get(sweep->scanner->catalog, key, value, err);
}

static enum hub_status note_remember(void *user, const char *key, struct hub_view value,
                                     struct hub_error *err)
{
    struct hub_sweep *sweep = user;
    return hub_catalog_note_put(sweep->scanner->catalog, key, value, err);
}

static bool note_is_kept(void *user, const char *key)
{
    const struct hub_sweep *sweep = user;
    return hub_places_has(&sweep->notes, 0, hash_of(key));
}

/* A root that could not be read keeps what is remembered of it: then of all, for keys do not tell roots. */
static void drop_notes(struct hub_sweep *sweep, const bool *root_missing)
{
    for (uint32_t i = 0; i < sweep->scanner->walk.roots->count; i++)
        sweep->partial = sweep->partial || root_missing[i];
    if (!sweep->partial)
        (void)!hub_catalog_notes_prune(sweep->scanner->catalog, "claim:", note_is_kept, sweep, NULL);
}

/* ---- ids that two datasets would have ---- */

static bool clashed(void *user, const char *id)
{
    const struct hub_sweep *sweep = user;
    const struct hub_scanner *s = sweep->scanner;
    for (uint32_t i = 0; i < s->clash_count; i++)
        if (strcmp(s->clashes[i], id) == 0)
            return true;
    return false;
}

/* The first of the two was handed out without knowing: the next sweep tells it too. */
static void clash(void *user, const char *id)
{
    struct hub_sweep *sweep = user;
    struct hub_scanner *s = sweep->scanner;
    sweep->clash_count++;
    if (clashed(user, id) || s->clash_count == HUB_COUNT(s->clashes))
        return;
    s->clashes[s->clash_count] = strdup(id);
    if (s->clashes[s->clash_count]) {
        s->clash_count++;
        sweep->new_clash = true;
    }
}

/* One of the two went: all are found out anew. */
static void recheck_clashes(struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    const bool fewer = sweep->clash_count < s->clash_count && s->clash_count < HUB_COUNT(s->clashes);
    for (uint32_t i = 0; fewer && i < s->clash_count; i++)
        free(s->clashes[i]);
    if (fewer)
        s->clash_count = 0;
    if (!fewer && !sweep->new_clash)
        return;
    pthread_mutex_lock(&s->lock);
    s->sweep_wanted = true;
    pthread_mutex_unlock(&s->lock);
}

/* ---- one dataset ---- */

/* What the catalogue knows from the last run. */
static void know_again(struct hub_scanner *s, struct hub_tracked_dataset *known, uint64_t signature)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(s->catalog);
    const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(known->id));
    if (!summary || !hub_summary_is_here(summary) || summary->root != known->root ||
        strcmp(summary->path, known->path) != 0)
        return;
    known->shown = true;
    known->ready = summary->status != HUB_DATASET_PENDING;
    recall_known(s, known, signature);
    if (!known->ready)
        known->published = 0;
}

static enum hub_status show_pending(struct hub_scanner *s, struct hub_tracked_dataset *known,
                                    const struct hub_fileset *files, const char *reason,
                                    struct hub_error *err)
{
    if (known->shown)
        return HUB_OK; /* the state before stays until the new one is inspected */
    const struct hub_draft draft = {.id = known->id,
                                    .path = known->path,
                                    .format = known->formats[0],
                                    .reason = reason,
                                    .root = known->root,
                                    .status = HUB_DATASET_PENDING};
    HUB_TRY(hub_scan_publish(s, draft, files, NULL, err));
    known->shown = true;
    return HUB_OK;
}

/* What nobody has to inspect: plain files, and what cannot be inspected. */
static enum hub_status publish_soon(struct hub_sweep *sweep, struct hub_tracked_dataset *known,
                                    const struct hub_found_dataset *found, struct hub_error *err)
{
    if (known->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(sweep->scanner, known);
    known->state = HUB_TRACKED_IDLE;
    return hub_batch_add(sweep->scanner, &sweep->batch, known, found->files, found->broken, err);
}

static enum hub_status queue(struct hub_scanner *s, struct hub_tracked_dataset *known,
                             struct hub_fileset *files, struct hub_error *err)
{
    const int64_t left_ms = hub_scan_unsettled_ms(s, files);
    const bool queued = known->state == HUB_TRACKED_QUEUED;
    if (known->state == HUB_TRACKED_QUEUED)
        hub_tracked_unqueue(s, known);
    known->state = HUB_TRACKED_IDLE;
    if (left_ms > 0) {
        HUB_TRY(show_pending(s, known, files, "its files changed a moment ago", err));
        hub_tracked_wait(s, known, left_ms + 1);
        return HUB_OK;
    }
    HUB_TRY(show_pending(s, known, files, "waiting to be inspected", err));
    hub_fileset_dispose(&known->files);
    known->files = *files;
    *files = (struct hub_fileset){0};
    hub_tracked_push(s, known, queued ? known->queue : hub_urgent_queue(known));
    return HUB_OK;
}

static enum hub_status found_locked(struct hub_sweep *sweep, struct hub_found_dataset *found,
                                    struct hub_error *err)
{
    struct hub_scanner *s = sweep->scanner;
    const uint64_t signature = hub_scan_signature(s, found->formats, found->format_count, found->files);
    struct hub_tracked_dataset *known = hub_tracked_get(s, found);
    HUB_TRY(hub_allocated(known, err));
    if (!known->sweep)
        know_again(s, known, signature);
    known->sweep = s->sweep;
    const bool same = known->signature == signature;
    known->outdated = known->state == HUB_TRACKED_RUNNING && !same;
    const bool backing_off = same && known->state == HUB_TRACKED_WAITING &&
                             hub_time_mono_ms() < known->due_ms && !(s->asked && known->troubles);
    if (known->state == HUB_TRACKED_RUNNING || backing_off || (same && known->state == HUB_TRACKED_QUEUED) ||
        (same && known->given_up && !s->asked))
        return HUB_OK; /* of a changed file a running inspection finds out by itself */
    if (!same && known->signature)
        known->troubles = known->tries = 0;
    known->given_up = known->slow = false;
    known->signature = signature;
    const bool again = known->refused && (s->asked || hub_time_mono_ms() >= known->due_ms);
    if (known->published == signature && !again) {
        if (known->state == HUB_TRACKED_QUEUED)
            hub_tracked_unqueue(s, known);
        known->state = HUB_TRACKED_IDLE;
        known->requests = 0;
        return HUB_OK;
    }
    if (found->broken || strcmp(found->formats[0], "files") == 0)
        return publish_soon(sweep, known, found, err);
    return queue(s, known, found->files, err);
}

static enum hub_status on_found(void *user, struct hub_found_dataset *found, struct hub_error *err)
{
    struct hub_sweep *sweep = user;
    pthread_mutex_lock(&sweep->scanner->lock);
    const enum hub_status st = found_locked(sweep, found, err);
    pthread_mutex_unlock(&sweep->scanner->lock);
    if (st || !hub_batch_is_due(&sweep->batch))
        return st;
    return hub_batch_publish(sweep->scanner, &sweep->batch, err);
}

static enum hub_status on_walked(void *user, struct hub_error *err)
{
    struct hub_sweep *sweep = user;
    return hub_batch_publish(sweep->scanner, &sweep->batch, err);
}

/* Show published datasets within a moment, however long the sweep takes. */
static void show_now_and_then(struct hub_sweep *sweep)
{
    const int64_t now_ms = hub_time_mono_ms();
    int64_t shown_ms = atomic_load(&sweep->shown_ms);
    if (now_ms - shown_ms >= SHOW_MS && atomic_compare_exchange_strong(&sweep->shown_ms, &shown_ms, now_ms))
        (void)!hub_catalog_flush(sweep->scanner->catalog, NULL);
}

/* Watched before it is read: what comes later is an event. */
static void watch_opened(void *user, int fd)
{
    struct hub_scanner *s = user;
    pthread_mutex_lock(&s->lock);
    hub_inotify_add(s->watch, fd);
    pthread_mutex_unlock(&s->lock);
}

static void on_directory(void *user, const char *path)
{
    struct hub_scanner *s = ((struct hub_sweep *)user)->scanner;
    show_now_and_then(user);
    pthread_mutex_lock(&s->lock);
    s->progress.directories++;
    if (!s->running)
        snprintf(s->progress.current, sizeof s->progress.current, "%s", path);
    pthread_mutex_unlock(&s->lock);
}

/* ---- what is gone ---- */

/* True when the dataset of this summary was not seen by the sweep, though its root was. */
static bool is_gone(struct hub_scanner *s, const struct hub_summary *summary, const bool *root_missing)
{
    if (summary->root >= s->walk.roots->count)
        return true;
    struct hub_tracked_dataset *known = hub_tracked_find(s, summary->id);
    const bool seen = known && known->sweep == s->sweep;
    if (known && known->state == HUB_TRACKED_RUNNING && known->root == summary->root) {
        known->outdated = known->outdated || !seen; /* another sweep looks once it is inspected */
        return false;
    }
    if (seen)
        return known->root != summary->root;
    return !root_missing[summary->root];
}

static void remove_gone(struct hub_scanner *s, const bool *root_missing)
{
    if (hub_catalog_flush(s->catalog, NULL))
        return;
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(s->catalog);
    for (uint32_t i = 0; i < snapshot->count + snapshot->others; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (!hub_summary_is_here(summary))
            continue;
        pthread_mutex_lock(&s->lock);
        const bool gone = is_gone(s, summary, root_missing);
        pthread_mutex_unlock(&s->lock);
        if (!gone)
            continue;
        if (hub_catalog_remove(s->catalog, summary->root, summary->id, NULL) == HUB_OK &&
            summary->root < s->walk.roots->count)
            hub_scan_remember(s, summary->root, summary->id, 0);
    }
    pthread_mutex_lock(&s->lock);
    hub_tracked_forget_gone(s, root_missing);
    pthread_mutex_unlock(&s->lock);
}

/* ---- roots that are not mounted ---- */

/* Nothing that was in them counts as deleted. A root may go while it is walked. Returns a bit a root that is
 * missing. */
static uint64_t look_for_roots(struct hub_scanner *s, bool *root_missing)
{
    uint64_t missing = 0;
    for (uint32_t i = 0; i < s->walk.roots->count; i++) {
        struct hub_error why = {0};
        if (!hub_presence_check(s->truth, s->catalog, s->walk.roots, i, &why) ||
            strcmp(why.problem, "root-missing") != 0)
            continue;
        root_missing[i] = true;
        missing |= UINT64_C(1) << i;
    }
    pthread_mutex_lock(&s->lock);
    s->progress.roots_missing = missing;
    pthread_mutex_unlock(&s->lock);
    return missing;
}

/* Roots that were mounted during the sweep were not walked by it. */
static void walk_again(struct hub_scanner *s, uint64_t came_back)
{
    pthread_mutex_lock(&s->lock);
    s->sweep_wanted = s->sweep_wanted || came_back;
    pthread_mutex_unlock(&s->lock);
}

static void note_roots(struct hub_scanner *s, const bool *root_missing)
{
    uint64_t counts[HUB_MAX_ROOTS] = {0};
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *known = s->slots[i]; known; known = known->chain)
            counts[known->root]++;
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->walk.roots->count; i++)
        if (!root_missing[i])
            (void)!hub_presence_seen(s->truth, s->walk.roots, i, counts[i], NULL);
}

/* ---- the sweep ---- */

static int64_t next_due_ms(const struct hub_scanner *s, int64_t now_ms)
{
    int64_t due_ms = s->sweep_s ? now_ms + (int64_t)s->sweep_s * 1000 : INT64_MAX;
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *known = s->slots[i]; known; known = known->chain)
            if (known->state == HUB_TRACKED_WAITING)
                due_ms = HUB_MIN(due_ms, known->due_ms);
            else if (known->outdated)
                due_ms = HUB_MIN(due_ms, now_ms + OUTDATED_MS);
    return due_ms;
}

static void end_sweep(struct hub_scanner *s, enum hub_status st, const struct hub_error *err,
                      const struct hub_discovered *out, int64_t began_ms)
{
    const int64_t now_ms = hub_time_mono_ms(), took_ms = now_ms - began_ms;
    pthread_mutex_lock(&s->lock);
    s->sweeping = false;
    s->progress.sweeps++;
    s->progress.walked = s->progress.walked || !st;
    s->progress.directories = out->directories;
    s->progress.datasets = s->known_count;
    s->progress.clashes = out->clashes;
    s->progress.not_entered = out->not_entered;
    s->progress.unwatched = s->watch ? hub_inotify_missed(s->watch) : 0;
    s->asked = s->asked && s->sweep_wanted;
    s->progress.no_space = st == HUB_NO_SPACE || (st && s->progress.no_space);
    snprintf(s->progress.trouble, sizeof s->progress.trouble, "%.255s", st ? err->detail : "");
    /* files that keep changing must not keep us sweeping: rest a few times as long as a sweep takes */
    s->missed = out->missed ? s->missed + 1 : 0;
    int64_t due_ms = st ? now_ms + 10000 : next_due_ms(s, now_ms);
    if (s->progress.roots_missing)
        due_ms = HUB_MIN(due_ms, now_ms + MISSING_MS);
    if (s->missed)
        due_ms = HUB_MIN(due_ms, now_ms + ((int64_t)s->retry_ms << HUB_MIN(s->missed, 6U)));
    s->rest_until_ms = now_ms + HUB_MIN(HUB_MAX(took_ms * 5, (int64_t)20), (int64_t)60000);
    s->sweep_at_ms = HUB_MAX(due_ms, s->rest_until_ms);
    if (!s->running)
        s->progress.current[0] = '\0';
    pthread_cond_broadcast(&s->idle_wake);
    pthread_mutex_unlock(&s->lock);
    if (st && st != HUB_CANCELLED)
        hub_scan_notify(s, HUB_SCAN_TROUBLE, "", err->detail);
}

void hub_scan_sweep(struct hub_scanner *s)
{
    HUB_CLEANUP(hub_freep)
    bool *root_missing = calloc(s->walk.roots->count + (size_t)1, sizeof *root_missing);
    struct hub_sweep sweep = {.scanner = s, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct hub_walk walk = s->walk;
    walk.opened = s->watch ? watch_opened : NULL;
    walk.user = s;
    const struct hub_discovery discovery = {
        .walk = &walk,
        .inspector = s->inspector,
        .jobs = s->jobs,
        .drivers = s->drivers,
        .cancel = &s->stop,
        .clashed = clashed,
        .clash = clash,
        .recall = note_recall,
        .remember = note_remember,
        .each = on_found,
        .walked = on_walked,
        .progress = on_directory,
        .user = &sweep,
    };
    struct hub_discovered out = {.root_missing = root_missing};
    struct hub_error err = {0};
    const int64_t began_ms = hub_time_mono_ms();
    pthread_mutex_lock(&s->lock);
    s->sweep++;
    s->sweeping = true;
    s->sweep_wanted = false;
    s->sweep_at_ms = INT64_MAX;
    s->progress.directories = 0;
    if (s->watch)
        hub_inotify_begin(s->watch);
    pthread_mutex_unlock(&s->lock);
    const uint64_t missing = root_missing ? look_for_roots(s, root_missing) : 0;
    const enum hub_status st = root_missing ? hub_scan_discover(&discovery, &out, &err) : HUB_NO_MEMORY;
    if (!st) {
        walk_again(s, missing & ~look_for_roots(s, root_missing));
        remove_gone(s, root_missing);
        drop_notes(&sweep, root_missing);
        recheck_clashes(&sweep);
        note_roots(s, root_missing);
    }
    (void)!hub_batch_publish(s, &sweep.batch, NULL); /* of a sweep that was ended */
    (void)!hub_catalog_flush(s->catalog, NULL);
    hub_batch_dispose(&sweep.batch);
    hub_places_dispose(&sweep.notes);
    end_sweep(s, st, &err, &out, began_ms);
}
