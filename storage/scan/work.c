/* Inspecting: a thread takes a dataset, asks for its plan, and its parts are then inspected by all threads
 * that have nothing better to do. Whoever ends the last part compares the files once more and publishes.
 * Parts that the index has already (same name, files, hint and drivers) are kept. */
#include "storage/discover/claim.h"
#include "storage/scan/side.h"
#include "storage/scan/state.h"

#include "storage/text/time.h"
#include "storage/truth/digests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A file that its writer has not ended is given so many times as long to settle: ten minutes. */
enum { OPEN_FACTOR = 300 };
enum { MAX_LOCK_PROBES = 10000, BUSY_MS = 2000, MAX_RETRIES = 3, MAX_LIMITED = 4, REFUSED_PAUSES = 30 };

/* A failure that says something about the dataset's files, and not about this machine at this moment. */
static bool is_verdict(enum hub_status st)
{
    switch (st) {
    case HUB_CORRUPT:
    case HUB_TOO_BIG:
    case HUB_UNSUPPORTED:
    case HUB_NOT_ACCEPTABLE:
    case HUB_DENIED:
    case HUB_NOT_FOUND:
    case HUB_INVALID:
    case HUB_OUT_OF_RANGE:
        return true;
    default:
        return false;
    }
}

/* A verdict under today's limits of an inspection, that others may change. */
static bool is_limit(const struct hub_error *err)
{
    return strcmp(err->problem, "inspection-limit") == 0;
}

/* Trouble with this dataset and not with the hub as a whole: not to be tried for ever. */
static bool may_give_up(const struct hub_error *err)
{
    return err->status == HUB_TIMEOUT || strcmp(err->problem, "inspection-unread") == 0;
}

/* What fails on our own side (the catalogue, the state directory) says nothing about the dataset, whatever it
 * is. */
static enum hub_status as_internal_error(enum hub_status st, struct hub_error *err)
{
    if (!is_verdict(st))
        return st;
    const struct hub_error why = *err;
    return hub_fail_as(err, HUB_IO, why.problem, "%s", why.detail);
}

/* ---- making and freeing ---- */

static void work_free(struct hub_work *w)
{
    for (uint32_t i = 0; w->broken && i < w->plan.part_count; i++) {
        free(w->broken[i]);
        free(w->sides[i]);
    }
    if (w->found) {
        hub_findings_dispose(w->found);
        free(w->found);
    }
    hub_findings_dispose(&w->plan);
    hub_fileset_dispose(&w->files);
    free(w->job_files);
    free(w->parts);
    free(w->broken);
    free(w->sides);
    free(w->todo);
    free(w->id);
    free(w->path);
    free(w);
}

/* Take over what the queue held. The scanner's lock is held. */
static struct hub_work *work_new(struct hub_scanner *s, struct hub_tracked_dataset *known)
{
    struct hub_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->scanner = s;
    w->known = known;
    w->id = strdup(known->id);
    w->path = strdup(known->path);
    w->root = known->root;
    w->single_files = known->single_files;
    w->signature = known->signature;
    w->began_ms = hub_time_mono_ms();
    w->job_files = calloc(known->files.count + (size_t)1, sizeof *w->job_files);
    if (!w->id || !w->path || !w->job_files) {
        work_free(w);
        return NULL;
    }
    w->files = known->files;
    known->files = (struct hub_fileset){0};
    for (uint32_t i = 0; i < w->files.count; i++)
        w->job_files[i] = (struct hub_job_file){w->files.files[i].path, w->files.files[i].stamp.size, false};
    known->state = HUB_TRACKED_RUNNING;
    known->started_ms = hub_time_now_ns() / 1000000;
    s->running++;
    return w;
}

/* ---- files ---- */

struct opener {
    struct hub_work *work;
    bool refused; /* we may not read a file: that says nothing about the data */
    bool changed; /* a file is not the one that was found */
};

static enum hub_status changed(struct hub_error *err)
{
    return hub_fail(err, HUB_CHANGED, "its files changed while they were inspected");
}

/* Before and after may agree though another file stood there meanwhile. */
static bool is_found(const struct hub_work *w, uint32_t number, int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return false;
    const struct hub_stamp stamp = hub_stamp_of(&st);
    return hub_stamp_equal(&stamp, &w->files.files[number].stamp);
}

static enum hub_status open_file(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    struct opener *opener = user;
    const struct hub_work *w = opener->work;
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(w->path, w->files.files[number].path);
    HUB_TRY(hub_allocated(path, err));
    const enum hub_status st = hub_roots_open(w->scanner->walk.roots, w->root, path, O_RDONLY, fd, err);
    opener->refused = opener->refused || st == HUB_DENIED;
    if (st || is_found(w, number, *fd))
        return st;
    opener->changed = true;
    close(*fd);
    *fd = -1;
    return changed(err);
}

/* A file that somebody holds locked for writing is not to be read yet. */
static enum hub_status check_locks(struct hub_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_locks_dispose) struct hub_locks locks;
    hub_locks_read_recent(&w->scanner->locks, w->files.newest_ns, &locks);
    for (uint32_t i = 0; i < HUB_MIN(w->files.count, (uint32_t)MAX_LOCK_PROBES); i++) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        if (open_file(&(struct opener){.work = w}, i, &fd, NULL))
            continue; /* the driver will meet it */
        if (hub_locks_writer(&locks, fd))
            return hub_fail(err, HUB_BUSY, "busy: another process is writing %s", w->files.files[i].path);
    }
    return HUB_OK;
}

static enum hub_status check_unchanged(const struct hub_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset now = {0};
    const struct hub_walk *walk = &w->scanner->walk;
    const struct hub_format_table *formats = NULL;
    HUB_TRY(hub_inspector_formats(w->scanner->inspector, &formats, err));
    const enum hub_status st = w->single_files
                                   ? hub_walk_restat(walk, w->root, w->path, &w->files, &now, err)
                                   : hub_walk_collect(walk, w->root, w->path, formats, NULL, &now, err);
    bool same = !st && now.count == w->files.count;
    for (uint32_t i = 0; same && i < now.count; i++)
        same = strcmp(now.files[i].path, w->files.files[i].path) == 0 &&
               hub_stamp_equal(&now.files[i].stamp, &w->files.files[i].stamp);
    return same ? HUB_OK : changed(err);
}

static bool lacks_end(const char *code)
{
    return code && strcmp(code, "not-finalized") == 0;
}

/* What lacks its end in a folder that somebody writes to is not broken: it is being recorded. */
static enum hub_status check_ended(const struct hub_work *w, enum hub_status st,
                                   const struct hub_findings *found, struct hub_error *err)
{
    char what[sizeof err->detail] = "";
    if (is_verdict(st) && lacks_end(err->problem))
        snprintf(what, sizeof what, "%s", err->detail);
    for (uint32_t i = 0; !st && i < found->problem_count; i++)
        if (lacks_end(found->problems[i].code))
            snprintf(what, sizeof what, "%s: %s", found->problems[i].path ? found->problems[i].path : "",
                     found->problems[i].detail);
    const int64_t unchanged_ms =
        hub_time_now_ns() / 1000000 - (int64_t)(w->files.newest_ns / 1000000); /* may be negative */
    if (!what[0] || unchanged_ms >= (int64_t)w->scanner->settle_ms * OPEN_FACTOR)
        return st;
    return hub_fail(err, HUB_BUSY, "it is being recorded, or was stopped %lld s ago: %s",
                    (long long)HUB_MAX(unchanged_ms, (int64_t)0) / 1000, what);
}

/* ---- the plan ---- */

static struct hub_job job_of(struct hub_work *w, struct opener *opener)
{
    return (struct hub_job){.files = w->job_files,
                            .file_count = w->files.count,
                            .open_file = open_file,
                            .user = opener,
                            .cancel = &w->scanner->stop};
}

static enum hub_status plan(struct hub_work *w, struct hub_error *err)
{
    struct opener opener = {.work = w};
    struct hub_job job = job_of(w, &opener);
    HUB_CLEANUP(hub_freep)
    char *place = hub_path_join(w->scanner->walk.roots->roots[w->root].path, w->path);
    HUB_TRY(hub_allocated(place, err));
    job.hint = place;
    const enum hub_status st =
        hub_inspector_plan(w->scanner->inspector, job, (const char *const *)w->known->formats,
                           w->known->format_count, &w->format, &w->plan, err);
    w->refused = opener.refused;
    return opener.changed ? changed(err) : check_ended(w, st, &w->plan, err);
}

/* As it was found, or failed under the limits of today. */
static bool has_part(struct hub_work *w, struct hub_draft_part *part)
{
    struct hub_catalog *catalog = w->scanner->catalog;
    const uint64_t limited = hub_scan_limited(w->scanner, part->signature);
    if (hub_catalog_has_part(catalog, w->root, w->id, part->name, part->signature))
        return true;
    const uint64_t refused = hub_scan_refused(w->scanner, w->known, part->signature);
    if (hub_catalog_has_part(catalog, w->root, w->id, part->name, refused)) {
        part->signature = refused;
        w->refused = true;
        return true;
    }
    if (!hub_catalog_has_part(catalog, w->root, w->id, part->name, limited))
        return false;
    part->signature = limited;
    w->has_limited = true;
    return true;
}

/* Whether the index has it: of files with these stamps, or of such whose bytes are known to be the same.
 * What is new is found again by its bytes, where they are known: by their SHA-256, and until that is
 * computed by their CRC-32C. */
static bool is_indexed(struct hub_work *w, uint32_t number, const struct hub_file_digests *digests)
{
    const struct hub_found_part *found = &w->plan.parts[number];
    struct hub_draft_part *part = &w->parts[number];
    const uint64_t content[] = {
        hub_scan_part_content(w->scanner, w->format, found, &w->files, digests, true),
        hub_scan_part_content(w->scanner, w->format, found, &w->files, digests, false)};
    part->signature = hub_scan_part_signature(w->scanner, w->format, found, &w->files);
    if (has_part(w, part))
        return true;
    for (size_t i = 0; i < HUB_COUNT(content); i++) {
        part->signature = content[i] ? content[i] : part->signature;
        if (content[i] && has_part(w, part))
            return true;
    }
    return false;
}

/* Which parts are new. */
static enum hub_status sort_parts(struct hub_work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_file_digests *digests = NULL;
    const size_t count = w->plan.part_count;
    HUB_TRY(hub_new(&digests, w->files.count + (size_t)1, sizeof *digests, err));
    HUB_TRY(
        hub_digest_list(w->scanner->truth, w->root, w->path, w->files.files, w->files.count, digests, err));
    w->parts = calloc(count + 1, sizeof *w->parts);
    w->broken = calloc(count + 1, sizeof *w->broken);
    w->sides = calloc(count + 1, sizeof *w->sides);
    w->todo = calloc(count + 1, sizeof *w->todo);
    HUB_TRY(hub_allocated(w->parts && w->broken && w->sides && w->todo, err));
    for (uint32_t i = 0; i < count; i++) {
        w->parts[i].name = w->plan.parts[i].name;
        if (!is_indexed(w, i, digests))
            w->todo[w->todo_count++] = i;
    }
    w->unfinished = w->todo_count;
    return HUB_OK;
}

/* ---- a part ---- */

static enum hub_status run_inspector(struct hub_work *w, uint32_t number, struct hub_side *side,
                                     struct hub_findings *found, struct hub_error *err)
{
    const struct hub_found_part *part = &w->plan.parts[number];
    struct opener opener = {.work = w};
    struct hub_job job = job_of(w, &opener);
    job.kind = HUB_JOB_INSPECT;
    job.format = w->format;
    job.part = part->name;
    job.hint = part->hint;
    job.part_files = part->files;
    job.part_file_count = part->file_count;
    job.side_fd = side->fd;
    const enum hub_status st = hub_inspector_run(w->scanner->inspector, &job, found, err);
    if (opener.refused) {
        w->refused = true;
        w->parts[number].signature = hub_scan_refused(w->scanner, w->known, w->parts[number].signature);
    }
    return opener.changed ? changed(err) : check_ended(w, st, found, err);
}

static struct hub_draft draft_of(const struct hub_work *w)
{
    return (struct hub_draft){.id = w->id,
                              .path = w->path,
                              .format = w->format,
                              .reason = "",
                              .root = w->root,
                              .status = HUB_DATASET_READY,
                              .files = w->files.files,
                              .file_count = w->files.count,
                              .parts = w->parts,
                              .part_count = w->plan.part_count,
                              .revision = "",
                              .turn = &w->turn};
}

/* The only part waits for the publication; of several each is put away at once, so that memory stays
 * bounded. */
static enum hub_status keep_part(struct hub_work *w, uint32_t number, struct hub_findings *found,
                                 struct hub_error *err)
{
    struct hub_draft_part *part = &w->parts[number];
    if (w->plan.part_count == 1) {
        w->found = malloc(sizeof *w->found);
        HUB_TRY(hub_allocated(w->found, err));
        *w->found = *found;
        *found = (struct hub_findings){0};
        part->found = w->found;
        return HUB_OK;
    }
    struct hub_draft_part staged = *part;
    staged.found = found;
    const struct hub_draft draft = draft_of(w);
    return as_internal_error(hub_catalog_stage(w->scanner->catalog, &draft, &staged, err), err);
}

/* A broken part is put away like any other, so that the next turn does not begin with it. */
static enum hub_status keep_broken(struct hub_work *w, uint32_t number, struct hub_error *err)
{
    struct hub_draft_part *part = &w->parts[number];
    if (is_limit(err)) {
        part->signature = hub_scan_limited(w->scanner, part->signature);
        pthread_mutex_lock(&w->scanner->lock);
        w->has_limited = true;
        w->known->limited++;
        pthread_mutex_unlock(&w->scanner->lock);
    }
    if (w->plan.part_count == 1) {
        part->broken = w->broken[number] = strdup(err->detail);
        return hub_allocated(part->broken, err);
    }
    struct hub_draft_part staged = *part;
    const struct hub_draft draft = draft_of(w);
    const struct hub_error why = *err;
    staged.broken = why.detail;
    return as_internal_error(hub_catalog_stage(w->scanner->catalog, &draft, &staged, err), err);
}

static enum hub_status inspect_part(struct hub_work *w, uint32_t number, struct hub_error *err)
{
    struct hub_scanner *s = w->scanner;
    struct hub_draft_part *part = &w->parts[number];
    struct hub_findings found = {0};
    struct hub_side side;
    HUB_TRY(as_internal_error(hub_side_begin(s, w, number, &side, err), err));
    enum hub_status st = run_inspector(w, number, &side, &found, err);
    const bool has_side = !st && found.side_size > 0;
    const enum hub_status kept = hub_side_end(s, &side, has_side, &part->side_stamp, st ? NULL : err);
    if (is_verdict(st))
        return keep_broken(w, number, err);
    if (!st)
        st = as_internal_error(kept, err);
    if (!st && has_side) {
        w->sides[number] = strdup(side.name);
        part->side = w->sides[number];
        st = w->sides[number] ? HUB_OK : hub_no_memory(err);
    }
    if (!st)
        st = keep_part(w, number, &found, err);
    if (st)
        hub_side_drop(w, number);
    hub_findings_dispose(&found);
    return st;
}

/* ---- the end ---- */

/* Without what its parts hold. */
static struct hub_draft bare_draft_of(const struct hub_work *w, const char *format,
                                      enum hub_dataset_status status, const char *reason)
{
    return (struct hub_draft){.id = w->id,
                              .path = w->path,
                              .format = format,
                              .reason = reason,
                              .root = w->root,
                              .status = status,
                              .turn = w->turn.attempt ? &w->turn : NULL}; /* none was to be had */
}

/* No bidder wants the folder after a closer look: the next sweep offers its files one by one. */
static void note_declined(const struct hub_work *w)
{
    static const uint64_t under_nothing;
    struct hub_scanner *s = w->scanner;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB);
    const struct hub_view value = {(const char *)&under_nothing, sizeof under_nothing};
    if (hub_claim_key(s->walk.roots, w->root, w->path, HUB_CLAIM_DECLINED, &key, NULL) ||
        hub_catalog_note_put(s->catalog, key.data, value, NULL))
        return; /* its files are plain until it changes */
    pthread_mutex_lock(&s->lock);
    s->sweep_wanted = true;
    pthread_mutex_unlock(&s->lock);
    hub_scan_wake(s);
}

static enum hub_status publish_verdict(struct hub_work *w, enum hub_status verdict, struct hub_error *err)
{
    const struct hub_error why = *err;
    struct hub_draft draft = bare_draft_of(w, w->format, HUB_DATASET_BROKEN, why.detail);
    if (verdict == HUB_UNSUPPORTED)
        draft.status = HUB_DATASET_UNSUPPORTED;
    if (verdict == HUB_NOT_ACCEPTABLE)
        draft = bare_draft_of(w, "files", HUB_DATASET_READY, "");
    HUB_TRY(hub_scan_publish(w->scanner, draft, &w->files, NULL, err));
    if (verdict == HUB_NOT_ACCEPTABLE && !w->single_files)
        note_declined(w);
    return HUB_OK;
}

static int64_t pause_ms(const struct hub_scanner *s, enum hub_status st, unsigned tries)
{
    const int64_t first_ms = st == HUB_CHANGED || st == HUB_BUSY
                                 ? HUB_MAX((int64_t)s->settle_ms, (int64_t)BUSY_MS / 4)
                                 : (int64_t)s->retry_ms;
    return first_ms << HUB_MIN(tries, 5U);
}

/* Trouble of this machine: count it, and say so. True: it was tried often enough for now. */
static bool note_trouble(struct hub_work *w, const struct hub_error *why)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->lock);
    const unsigned troubles = ++w->known->troubles;
    const bool give_up = may_give_up(why) && troubles > MAX_RETRIES;
    s->progress.put_off++;
    s->progress.no_space = why->status == HUB_NO_SPACE;
    pthread_mutex_unlock(&s->lock);
    hub_scan_remember_trouble(s, w->root, w->id, w->signature, troubles);
    hub_scan_notify(s, give_up ? HUB_SCAN_GAVE_UP : HUB_SCAN_PUT_OFF, w->id, why->detail);
    return give_up;
}

static void show_pending(struct hub_work *w, const struct hub_error *why, bool given_up)
{
    char reason[sizeof why->detail + 128];
    snprintf(reason, sizeof reason, "%s%s", why->detail,
             given_up
                 ? " (the hub tries again when its files change, at `minari-hub scan`, and at the next start)"
                 : "");
    const struct hub_draft draft =
        bare_draft_of(w, w->format ? w->format : w->known->formats[0], HUB_DATASET_PENDING, reason);
    (void)!hub_scan_publish(w->scanner, draft, &w->files, NULL, NULL);
}

/* Not an end: it is looked at again later, and listed as pending until then unless an older state is
 * there. */
static void requeue(struct hub_work *w, enum hub_status st, const struct hub_error *why)
{
    struct hub_scanner *s = w->scanner;
    struct hub_tracked_dataset *known = w->known; /* stays while it runs */
    const bool trouble = st != HUB_CHANGED && st != HUB_BUSY && st != HUB_CANCELLED;
    const bool give_up = trouble && note_trouble(w, why);
    if (!known->ready && !s->stop)
        show_pending(w, why, give_up);
    pthread_mutex_lock(&s->lock);
    known->given_up = give_up;
    if (give_up)
        known->state = HUB_TRACKED_IDLE;
    else if (!s->stop)
        hub_tracked_wait(s, known, pause_ms(s, st, known->tries));
    known->tries++;
    known->limited = 0;
    pthread_mutex_unlock(&s->lock);
}

/* The rest of its parts waits until others had their turn; what was found so far is kept. */
static void requeue_rest(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->lock);
    hub_fileset_dispose(&w->known->files);
    w->known->files = w->files;
    w->files = (struct hub_fileset){0};
    w->known->slow = true;
    hub_tracked_push(s, w->known, HUB_QUEUE_SLOW);
    pthread_mutex_unlock(&s->lock);
}

static void mark_published(struct hub_work *w, bool failed, bool limited)
{
    struct hub_scanner *s = w->scanner;
    hub_scan_remember(s, w->root, w->id,
                      w->refused ? 0
                      : limited  ? hub_scan_limited(s, w->signature)
                                 : w->signature);
    hub_store_forget(s->store, w->root, w->path);
    pthread_mutex_lock(&s->lock);
    w->known->state = HUB_TRACKED_IDLE;
    w->known->shown = w->known->ready = true;
    w->known->published = w->signature;
    w->known->refused = w->refused;
    w->known->due_ms = hub_time_mono_ms() + (int64_t)s->retry_ms * REFUSED_PAUSES;
    w->known->requests = 0;
    w->known->rounds++;
    w->known->tries = w->known->troubles = w->known->limited = 0;
    s->progress.inspected++;
    s->progress.no_space = false;
    s->progress.failed += failed;
    pthread_mutex_unlock(&s->lock);
}

/* The last use of a work. */
static void release_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    pthread_mutex_lock(&s->lock);
    s->running--;
    if (!s->running && !hub_tracked_next(s))
        hub_scan_wake(s); /* the last one: show it at once */
    pthread_cond_broadcast(&s->idle_wake);
    pthread_mutex_unlock(&s->lock);
    work_free(w);
}

/* No lock held; the work goes. */
static void publish_result(struct hub_work *w, enum hub_status st, struct hub_error *err)
{
    const bool verdict = is_verdict(st), limited = w->has_limited || (verdict && is_limit(err));
    if (!st && w->turned) {
        requeue_rest(w);
        release_work(w);
        return;
    }
    if (!st || verdict) {
        struct hub_error changed;
        const enum hub_status unchanged = check_unchanged(w, &changed);
        if (unchanged) {
            st = unchanged;
            *err = changed;
        } else {
            st = verdict ? publish_verdict(w, st, err)
                         : hub_scan_publish(w->scanner, draft_of(w), &w->files, &w->plan, err);
        }
    }
    if (st && w->plan.part_count == 1)
        hub_side_drop(w, 0);
    if (st)
        requeue(w, st, err);
    else
        mark_published(w, verdict, limited);
    release_work(w);
}

/* ---- the threads ---- */

static void list_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    w->next = s->works;
    w->link = &s->works;
    if (w->next)
        w->next->link = &w->next;
    s->works = w;
    w->known->parts = w->plan.part_count;
    w->known->unfinished = w->unfinished;
    pthread_cond_broadcast(&s->work_wake);
}

static void unlist_work(struct hub_work *w)
{
    *w->link = w->next;
    if (w->next)
        w->next->link = w->link;
}

static bool turn_is_over(const struct hub_scanner *s, const struct hub_work *w)
{
    return hub_tracked_next(s) && hub_time_mono_ms() - w->began_ms > (int64_t)s->turn_ms;
}

/* Parts that are over: true when they were the last of those begun. The lock is held. */
static bool count_down(struct hub_work *w, uint32_t parts)
{
    w->unfinished -= parts;
    w->known->unfinished = w->unfinished;
    if (w->unfinished)
        return false;
    w->known->parts = 0;
    return true;
}

/* What is next for a thread: to take a dataset as far as its parts, one part, or the end of a dataset. */
enum step { STEP_NONE = 0, STEP_START, STEP_PART, STEP_PUBLISH };

struct step_task {
    enum step step;
    struct hub_work *work;
    uint32_t part;
    bool skip; /* of a work that failed: the part is only counted */
};

/* The lock is held. */
static struct step_task take_dataset(struct hub_scanner *s, struct hub_tracked_dataset *known)
{
    hub_tracked_unqueue(s, known);
    struct hub_work *w = work_new(s, known);
    if (!w) {
        hub_tracked_wait(s, known, s->retry_ms);
        return (struct step_task){0};
    }
    snprintf(s->progress.current, sizeof s->progress.current, "%s", w->id);
    return (struct step_task){.step = STEP_START, .work = w};
}

/* Of a work that has parts left. The lock is held. */
static struct step_task take_part(struct hub_scanner *s, struct hub_work *w)
{
    if (w->next_part && !w->failed && turn_is_over(s, w)) { /* what is left waits for the next turn */
        w->turned = true;
        unlist_work(w);
        /* else whoever ends the last part that was begun goes on */
        return (struct step_task){
            .step = count_down(w, w->todo_count - w->next_part) ? STEP_PUBLISH : STEP_NONE, .work = w};
    }
    const struct step_task task = {STEP_PART, w, w->todo[w->next_part++], w->failed != HUB_OK};
    if (w->next_part == w->todo_count)
        unlist_work(w);
    return task;
}

/* The lock is held. */
static struct step_task take_task(struct hub_scanner *s, bool *any)
{
    hub_urgent_take(s);
    struct hub_tracked_dataset *known = s->stop ? NULL : hub_tracked_next(s);
    *any = known || s->works;
    struct hub_work *work = hub_urgent_work(s, known);
    if (known && !work)
        return take_dataset(s, known);
    return work ? take_part(s, work) : (struct step_task){0};
}

static enum hub_status take_turn(struct hub_work *w, struct hub_error *err)
{
    const struct hub_draft draft = {
        .id = w->id, .path = w->path, .format = w->known->formats[0], .root = w->root};
    return as_internal_error(hub_catalog_take_turn(w->scanner->catalog, &draft, &w->turn, err), err);
}

/* No lock held. */
static void start_work(struct hub_work *w)
{
    struct hub_scanner *s = w->scanner;
    struct hub_error err = {0};
    enum hub_status st = take_turn(w, &err);
    if (!st)
        st = check_locks(w, &err);
    if (!st)
        st = plan(w, &err);
    if (!st)
        st = sort_parts(w, &err);
    if (st || !w->todo_count) {
        publish_result(w, st, &err);
        return;
    }
    pthread_mutex_lock(&s->lock);
    list_work(w);
    pthread_mutex_unlock(&s->lock);
}

/* No lock held. */
static void run_next_part(const struct step_task *task)
{
    struct hub_work *w = task->work;
    struct hub_scanner *s = w->scanner;
    struct hub_error err = {0};
    const enum hub_status st = task->skip ? HUB_OK : inspect_part(w, task->part, &err);
    pthread_mutex_lock(&s->lock);
    if (st && !w->failed) {
        w->failed = st;
        w->err = err;
    }
    if (!w->failed && w->known->limited >= MAX_LIMITED && w->next_part < w->todo_count)
        w->failed = hub_fail(&w->err, HUB_TIMEOUT,
                             "%u of its parts used up the time or memory an inspection may have "
                             "(--inspect-time, --inspect-memory)",
                             w->known->limited);
    const bool over = count_down(w, 1);
    pthread_mutex_unlock(&s->lock);
    if (over)
        publish_result(w, w->failed, &w->err);
}

void *hub_scan_worker(void *scanner)
{
    struct hub_scanner *s = scanner;
    pthread_mutex_lock(&s->lock);
    while (!s->stop || s->works) {
        bool any;
        const struct step_task task = take_task(s, &any);
        if (!any) {
            pthread_cond_wait(&s->work_wake, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        if (task.step == STEP_START)
            start_work(task.work);
        else if (task.step == STEP_PART)
            run_next_part(&task);
        else if (task.step == STEP_PUBLISH)
            publish_result(task.work, HUB_OK, &(struct hub_error){0});
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
