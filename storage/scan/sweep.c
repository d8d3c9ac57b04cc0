/* The sweep is the truth: it walks the roots, stats every file of every dataset, and compares; what is gone
 * is removed. A look does the same with a part of one root: see look.c. */
#include "storage/scan/state.h"

#include "storage/model/format_row.h"
#include "storage/scan/presence.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHOW_MS = 200, MISSING_MS = 10000 };

/* ---- what is remembered of directories, while they are there ---- */

static uint64_t hash_of(const char *text)
{
    return hub_hash(HUB_HASH_START, text, strlen(text));
}

static void keep_note(struct hub_sweep *sweep, const char *key)
{
    bool added;
    pthread_mutex_lock(&sweep->lock);
    if (hub_pair_set_add(&sweep->notes, 0, hash_of(key), &added, NULL))
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

static bool note_is_current(void *user, const char *key)
{
    const struct hub_sweep *sweep = user;
    return hub_pair_set_has(&sweep->notes, 0, hash_of(key));
}

/* A root that could not be read keeps what is remembered of it: then of all, for keys do not tell roots. */
static void drop_notes(struct hub_sweep *sweep)
{
    for (uint32_t i = 0; i < sweep->scanner->walk.roots->count; i++)
        sweep->partial = sweep->partial || sweep->root_missing[i];
    if (!sweep->partial)
        (void)!hub_catalog_notes_prune(sweep->scanner->catalog, "claim:", note_is_current, sweep, NULL);
}

/* ---- ids that two datasets would have ---- */

static bool clashed(void *user, const char *id)
{
    struct hub_sweep *sweep = user;
    const struct hub_scanner *s = sweep->scanner;
    bool found = false;
    for (uint32_t i = 0; i < s->clash_count && !found; i++)
        found = strcmp(s->clashes[i], id) == 0;
    sweep->beyond = sweep->beyond || found;
    return found;
}

/* The first of the two was handed out without knowing: the next sweep tells it too. */
static void clash(void *user, const char *id)
{
    struct hub_sweep *sweep = user;
    struct hub_scanner *s = sweep->scanner;
    sweep->clash_count++;
    sweep->beyond = true;
    if (sweep->only || clashed(user, id) || s->clash_count == HUB_COUNT(s->clashes))
        return;
    s->clashes[s->clash_count] = strdup(id);
    if (s->clashes[s->clash_count]) {
        s->clash_count++;
        sweep->new_clash = true;
    }
}

/* One of the two went: all are found out again. */
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
    pthread_mutex_lock(&s->workers.lock);
    s->sweep_wanted = true;
    pthread_mutex_unlock(&s->workers.lock);
}

/* ---- what the walk reports ---- */

bool hub_sweep_has(const struct hub_sweep *sweep, uint32_t root, const char *path)
{
    const struct hub_scope *only = sweep->only;
    return !only || (only->root == root && hub_scope_has(only, path));
}

/* In a look: whether a dataset is one of the scope, and its id no other's. */
static bool is_local(const struct hub_sweep *sweep, const struct hub_found_dataset *found)
{
    const struct hub_tracked_dataset *tracked = hub_tracked_find(sweep->scanner, found->id);
    return (!tracked || hub_sweep_has(sweep, tracked->root, tracked->path)) &&
           (found->single_files || !hub_scope_passes(sweep->only, found->path));
}

static enum hub_status on_found(void *user, struct hub_found_dataset *found, struct hub_error *err)
{
    struct hub_sweep *sweep = user;
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&sweep->scanner->workers.lock);
    if (sweep->only && !is_local(sweep, found))
        sweep->beyond = true;
    else
        st = hub_scan_found(sweep->scanner, &sweep->batch, found, err);
    pthread_mutex_unlock(&sweep->scanner->workers.lock);
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
static void on_opened(void *user, uint32_t root, const char *path, int fd)
{
    struct hub_scanner *s = ((struct hub_sweep *)user)->scanner;
    pthread_mutex_lock(&s->workers.lock);
    s->progress.opened++;
    if (s->watch)
        hub_inotify_add(s->watch, root, path, fd);
    pthread_mutex_unlock(&s->workers.lock);
}

static void on_link(void *user, uint32_t root, const char *path, const char *real)
{
    struct hub_sweep *sweep = user;
    pthread_mutex_lock(&sweep->lock);
    hub_links_add(&sweep->links, sweep->scanner->walk.roots, root, path, real);
    pthread_mutex_unlock(&sweep->lock);
}

static void on_directory(void *user, const char *path)
{
    struct hub_sweep *sweep = user;
    struct hub_scanner *s = sweep->scanner;
    show_now_and_then(sweep);
    pthread_mutex_lock(&s->workers.lock);
    s->progress.directories += !sweep->only;
    if (!s->running)
        snprintf(s->progress.current, sizeof s->progress.current, "%s", path);
    pthread_mutex_unlock(&s->workers.lock);
}

static enum hub_status walk(struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    struct hub_walk walk = s->walk;
    walk.opened = on_opened;
    walk.linked = on_link;
    walk.user = sweep;
    const struct hub_discovery discovery = {
        .walk = &walk,
        .only = sweep->only,
        .inspector = s->inspector,
        .jobs = s->jobs,
        .drivers = s->drivers,
        .cancel = &s->workers.stop,
        .clashed = clashed,
        .clash = clash,
        .recall = note_recall,
        .remember = note_remember,
        .each = on_found,
        .walked = on_walked,
        .progress = on_directory,
        .user = sweep,
    };
    return hub_scan_discover(&discovery, &sweep->out, &sweep->err);
}

/* ---- what is gone ---- */

/* True when the dataset of this summary was not seen, though it lies where was looked. */
static bool is_gone(const struct hub_sweep *sweep, const struct hub_summary *summary)
{
    const struct hub_scanner *s = sweep->scanner;
    if (!hub_sweep_has(sweep, summary->root, summary->path))
        return false;
    if (summary->root >= s->walk.roots->count)
        return true;
    struct hub_tracked_dataset *tracked = hub_tracked_find(s, summary->id);
    const bool seen = tracked && tracked->sweep == s->sweep;
    if (tracked && tracked->state == HUB_TRACKED_RUNNING && tracked->root == summary->root) {
        tracked->outdated = tracked->outdated || !seen; /* it is looked at once more when it is inspected */
        return false;
    }
    if (seen)
        return tracked->root != summary->root;
    return !sweep->root_missing[summary->root];
}

/* Without one that its folder had by a claim of files, the folder may be nobody's. */
static bool reaches_beyond(const struct hub_sweep *sweep, const struct hub_summary *gone)
{
    return sweep->only && (sweep->scanner->clash_count ||
                           (!hub_format_is_files(gone->format) && hub_scope_passes(sweep->only, gone->path)));
}

static void remove_gone(struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    if (hub_catalog_flush(s->catalog, NULL))
        return;
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(s->catalog);
    for (uint32_t i = 0; i < snapshot->count + snapshot->others; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (!hub_summary_is_here(summary))
            continue;
        pthread_mutex_lock(&s->workers.lock);
        const bool gone = is_gone(sweep, summary);
        pthread_mutex_unlock(&s->workers.lock);
        if (!gone)
            continue;
        sweep->beyond = sweep->beyond || reaches_beyond(sweep, summary);
        if (hub_catalog_remove(s->catalog, summary->root, summary->id, NULL) == HUB_OK &&
            summary->root < s->walk.roots->count)
            hub_scan_remember(s, summary->root, summary->id, 0);
    }
    pthread_mutex_lock(&s->workers.lock);
    hub_tracked_forget_gone(s, sweep);
    pthread_mutex_unlock(&s->workers.lock);
}

/* ---- roots that are not mounted ---- */

/* Nothing that was in them counts as deleted. A root may go while it is walked. Returns a bit a root that is
 * missing. */
static uint64_t look_for_roots(struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    uint64_t missing = 0, found = 0;
    for (uint32_t i = 0; i < s->walk.roots->count; i++) {
        struct hub_error why = {0};
        if (sweep->only && sweep->only->root != i)
            continue;
        const bool is_missing = hub_presence_check(s->truth, s->catalog, s->walk.roots, i, &why) &&
                                why.problem == HUB_PROBLEM_ROOT_MISSING;
        sweep->root_missing[i] = sweep->root_missing[i] || is_missing;
        *(is_missing ? &missing : &found) |= UINT64_C(1) << i;
    }
    pthread_mutex_lock(&s->workers.lock);
    s->progress.roots_missing = (s->progress.roots_missing & ~found) | missing;
    pthread_mutex_unlock(&s->workers.lock);
    return missing;
}

static void note_roots(const struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    uint64_t counts[HUB_MAX_ROOTS] = {0};
    pthread_mutex_lock(&s->workers.lock);
    for (size_t i = 0; i < s->slot_count; i++)
        for (const struct hub_tracked_dataset *tracked = s->slots[i]; tracked; tracked = tracked->chain)
            counts[tracked->root]++;
    s->progress.datasets = s->tracked_count;
    pthread_mutex_unlock(&s->workers.lock);
    for (uint32_t i = 0; i < s->walk.roots->count; i++)
        if (!sweep->root_missing[i] && (!sweep->only || sweep->only->root == i))
            (void)!hub_presence_seen(s->truth, s->walk.roots, i, counts[i], NULL);
}

/* ---- the sweep ---- */

enum hub_status hub_sweep_run(struct hub_sweep *sweep)
{
    struct hub_scanner *s = sweep->scanner;
    pthread_mutex_init(&sweep->lock, NULL);
    sweep->out.root_missing = sweep->root_missing;
    const uint64_t missing = look_for_roots(sweep);
    const enum hub_status st = walk(sweep);
    sweep->beyond = sweep->beyond || sweep->out.beyond || missing || sweep->out.missed;
    if (!st) { /* roots that were mounted meanwhile were not walked */
        const uint64_t came_back = missing & ~look_for_roots(sweep);
        pthread_mutex_lock(&s->workers.lock);
        s->sweep_wanted = s->sweep_wanted || came_back;
        pthread_mutex_unlock(&s->workers.lock);
    }
    if (!st && !(sweep->only && sweep->beyond)) {
        remove_gone(sweep);
        note_roots(sweep);
    }
    (void)!hub_batch_publish(s, &sweep->batch, NULL); /* of a sweep that was ended */
    (void)!hub_catalog_flush(s->catalog, NULL);
    hub_batch_dispose(&sweep->batch);
    pthread_mutex_destroy(&sweep->lock);
    return st;
}

/* Files that keep changing must not keep us sweeping: rest a few times as long as it takes. */
int64_t hub_sweep_rest_until_ms(int64_t began_ms)
{
    const int64_t now_ms = hub_time_mono_ms();
    return now_ms + HUB_MIN(HUB_MAX((now_ms - began_ms) * 5, (int64_t)20), (int64_t)60000);
}

static void end_sweep(struct hub_sweep *sweep, enum hub_status st)
{
    struct hub_scanner *s = sweep->scanner;
    const int64_t now_ms = hub_time_mono_ms();
    const struct hub_discovered *out = &sweep->out;
    pthread_mutex_lock(&s->workers.lock);
    s->sweeping = false;
    s->progress.sweeps++;
    s->progress.walked = s->progress.walked || !st;
    s->progress.directories = out->directories;
    s->progress.clashes = out->clashes;
    s->progress.not_entered = out->not_entered;
    s->progress.unwatched = s->watch ? hub_inotify_missed(s->watch) : 0;
    s->asked = s->asked && s->sweep_wanted;
    s->progress.no_space = st == HUB_NO_SPACE || (st && s->progress.no_space);
    snprintf(s->progress.trouble, sizeof s->progress.trouble, "%.255s", st ? sweep->err.detail : "");
    s->complete = !st && out->directories < s->walk.max_directories;
    s->missed = out->missed ? s->missed + 1 : 0;
    int64_t due_ms = st ? now_ms + 10000 : s->sweep_s ? now_ms + (int64_t)s->sweep_s * 1000 : INT64_MAX;
    if (s->progress.roots_missing)
        due_ms = HUB_MIN(due_ms, now_ms + MISSING_MS);
    if (s->missed)
        due_ms = HUB_MIN(due_ms, now_ms + ((int64_t)s->retry_ms << HUB_MIN(s->missed, 6U)));
    s->rest_until_ms = hub_sweep_rest_until_ms(sweep->began_ms);
    s->sweep_at_ms = HUB_MAX(due_ms, s->rest_until_ms);
    hub_looks_plan(s);
    if (!s->running)
        s->progress.current[0] = '\0';
    pthread_cond_broadcast(&s->idle_wake);
    pthread_mutex_unlock(&s->workers.lock);
    if (st && st != HUB_CANCELLED)
        hub_scan_notify(s, HUB_SCAN_TROUBLE, "", sweep->err.detail);
}

void hub_scan_sweep(struct hub_scanner *s)
{
    struct hub_sweep sweep = {.scanner = s, .began_ms = hub_time_mono_ms()};
    hub_looks_take_events(s);
    pthread_mutex_lock(&s->workers.lock);
    hub_looks_cover(s, NULL);
    s->sweep = hub_catalog_look(s->catalog);
    s->sweeping = true;
    s->sweep_wanted = s->sweep_for_changes = false;
    s->sweep_at_ms = INT64_MAX;
    s->progress.directories = 0;
    if (s->watch)
        hub_inotify_begin(s->watch);
    pthread_mutex_unlock(&s->workers.lock);
    const enum hub_status st = hub_sweep_run(&sweep);
    if (!st) {
        drop_notes(&sweep);
        recheck_clashes(&sweep);
        hub_links_dispose(&s->links);
        s->links = sweep.links;
        sweep.links = (struct hub_links){0};
    }
    hub_links_dispose(&sweep.links);
    hub_pair_set_dispose(&sweep.notes);
    end_sweep(&sweep, st);
}
