/* Inspecting: what one dataset or one part of it is. Parts that the index has already (same name, files, hint
 * and drivers) are kept. */
#include "storage/scan/side.h"
#include "storage/scan/state.h"

#include "storage/text/time.h"
#include "storage/truth/digests.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A file that its writer has not ended is given so many times as long to settle: ten minutes. */
enum { OPEN_FACTOR = 300, MAX_LOCK_PROBES = 10000 };

/* A failure that says something about the dataset's files, and not about this machine at this moment. */
bool hub_scan_is_verdict(enum hub_status st)
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
bool hub_scan_is_limit(const struct hub_error *err)
{
    return err->problem == HUB_PROBLEM_INSPECTION_LIMIT;
}

/* What fails on our own side (the catalogue, the state directory) says nothing about the dataset, whatever it
 * is. */
static enum hub_status as_internal_error(enum hub_status st, struct hub_error *err)
{
    if (!hub_scan_is_verdict(st))
        return st;
    const struct hub_error why = *err;
    return hub_fail_as(err, HUB_IO, why.problem, "%s", why.detail);
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

enum hub_status hub_work_check_unchanged(const struct hub_work *w, struct hub_error *err)
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
    return code && hub_problem_find(code) == HUB_PROBLEM_NOT_FINALIZED;
}

/* What lacks its end in a folder that somebody writes to is not broken: it is being recorded. */
static enum hub_status check_ended(const struct hub_work *w, enum hub_status st,
                                   const struct hub_findings *found, struct hub_error *err)
{
    char what[sizeof err->detail] = "";
    if (hub_scan_is_verdict(st) && err->problem == HUB_PROBLEM_NOT_FINALIZED)
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
                            .cancel = &w->scanner->workers.stop};
}

static enum hub_status plan(struct hub_work *w, struct hub_error *err)
{
    struct opener opener = {.work = w};
    struct hub_job job = job_of(w, &opener);
    HUB_CLEANUP(hub_freep)
    char *folder = hub_path_join(w->scanner->walk.roots->roots[w->root].path, w->path);
    HUB_TRY(hub_allocated(folder, err));
    job.hint = folder;
    const enum hub_status st =
        hub_inspector_plan(w->scanner->inspector, job, (const char *const *)w->tracked->formats,
                           w->tracked->format_count, &w->format, &w->plan, err);
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
    const uint64_t refused = hub_scan_refused(w->scanner, w->tracked, part->signature);
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
    w->sides = calloc(count + 1, sizeof *w->sides);
    w->todo = calloc(count + 1, sizeof *w->todo);
    HUB_TRY(hub_allocated(w->parts && w->sides && w->todo, err));
    for (uint32_t i = 0; i < count; i++) {
        w->parts[i].name = w->plan.parts[i].name;
        if (!is_indexed(w, i, digests))
            w->todo[w->todo_count++] = i;
    }
    w->unfinished = w->todo_count;
    return HUB_OK;
}

static enum hub_status take_turn(struct hub_work *w, struct hub_error *err)
{
    const struct hub_draft draft = {
        .id = w->id, .path = w->path, .format = w->tracked->formats[0], .root = w->root};
    return as_internal_error(hub_catalog_take_turn(w->scanner->catalog, &draft, &w->turn, err), err);
}

enum hub_status hub_work_plan(struct hub_work *w, struct hub_error *err)
{
    HUB_TRY(take_turn(w, err));
    HUB_TRY(check_locks(w, err));
    HUB_TRY(plan(w, err));
    return sort_parts(w, err);
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
        w->parts[number].signature = hub_scan_refused(w->scanner, w->tracked, w->parts[number].signature);
    }
    return opener.changed ? changed(err) : check_ended(w, st, found, err);
}

struct hub_draft hub_work_draft(const struct hub_work *w)
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
                              .seen = w->seen,
                              .turn = &w->turn};
}

/* The only part waits for the publication; of several each is put away at once, so that memory stays
 * bounded. */
static enum hub_status keep_part(struct hub_work *w, uint32_t number, struct hub_findings *found,
                                 struct hub_error *err)
{
    struct hub_draft_part *part = &w->parts[number];
    if (w->plan.part_count == 1) {
        w->found = *found;
        *found = (struct hub_findings){0};
        part->found = &w->found;
        return HUB_OK;
    }
    struct hub_draft_part staged = *part;
    staged.found = found;
    const struct hub_draft draft = hub_work_draft(w);
    return as_internal_error(hub_catalog_stage(w->scanner->catalog, &draft, &staged, err), err);
}

/* A broken part is put away like any other, so that the next turn does not begin with it. */
static enum hub_status keep_broken(struct hub_work *w, uint32_t number, struct hub_error *err)
{
    struct hub_draft_part *part = &w->parts[number];
    if (hub_scan_is_limit(err)) {
        part->signature = hub_scan_limited(w->scanner, part->signature);
        pthread_mutex_lock(&w->scanner->workers.lock);
        w->has_limited = true;
        w->tracked->limited++;
        pthread_mutex_unlock(&w->scanner->workers.lock);
    }
    if (w->plan.part_count == 1) {
        part->broken = w->broken = strdup(err->detail);
        return hub_allocated(part->broken, err);
    }
    struct hub_draft_part staged = *part;
    const struct hub_draft draft = hub_work_draft(w);
    const struct hub_error why = *err;
    staged.broken = why.detail;
    return as_internal_error(hub_catalog_stage(w->scanner->catalog, &draft, &staged, err), err);
}

enum hub_status hub_work_inspect_part(struct hub_work *w, uint32_t number, struct hub_error *err)
{
    struct hub_scanner *s = w->scanner;
    struct hub_draft_part *part = &w->parts[number];
    struct hub_findings found = {0};
    struct hub_side side;
    HUB_TRY(as_internal_error(hub_side_begin(s, w, number, &side, err), err));
    enum hub_status st = run_inspector(w, number, &side, &found, err);
    const bool has_side = !st && found.side_size > 0;
    const enum hub_status kept = hub_side_end(s, &side, has_side, &part->side_stamp, st ? NULL : err);
    if (hub_scan_is_verdict(st))
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
