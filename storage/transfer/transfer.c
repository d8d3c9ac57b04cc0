/* A dataset on its way: fetch, check, publish. See transfer.h. */
#include "storage/transfer/transfer.h"

#include "storage/io/fs.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/transfer/download.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/reuse.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { CONNECTIONS = 4, MAX_RESTARTS = 3, PAUSE_MS = 300, DIGEST_WAIT_MS = 30000, PROGRESS_MS = 90 };
static const uint64_t default_segment = 8 * MIB, smallest_segment = 4 * KIB, largest_segment = 4 * GIB;

struct transfer_job {
    struct hub_transfer *t;
    const char *target;
    struct hub_staging staging;
    struct hub_download download;
    uint64_t reported_ms;
};

static void notify(const struct hub_transfer *t, const char *fmt, ...) HUB_PRINTF(2, 3);
static void notify(const struct hub_transfer *t, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    if (!t->notice)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    t->notice(line, t->user);
}

static enum hub_status report_progress(struct transfer_job *j, bool always, struct hub_error *err)
{
    struct hub_transfer *t = j->t;
    const uint64_t now = hub_time_mono_ms();
    if (t->cancel && atomic_load(t->cancel))
        return hub_fail(err, HUB_CANCELLED, "interrupted");
    if (!t->progress || (!always && now - j->reported_ms < PROGRESS_MS))
        return HUB_OK;
    j->reported_ms = now;
    t->bytes_done = t->phase == HUB_TRANSFER_CHECK ? j->download.bytes_hashed : j->download.bytes_done;
    t->files_done = j->download.files_done;
    return t->progress(t, t->user, err);
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    return report_progress(user, false, err);
}

/* ---- fetch and check, until the remote stays the same for long enough ---- */

/* Of the disk. */
static uint64_t missing_bytes(const struct transfer_job *j)
{
    const uint64_t here = j->staging.bytes_allocated + j->staging.bytes_taken;
    return j->t->files.bytes - HUB_MIN(j->t->files.bytes, here);
}

/* What is left of a full disk is little. */
static void size_text(uint64_t bytes, char out[HUB_SIZE_CHARS])
{
    if (bytes < 1000 * 1000)
        snprintf(out, HUB_SIZE_CHARS, "%.1f KB", (double)bytes / 1000);
    else
        hub_number_size(bytes, out);
}

static enum hub_status check_space(const struct transfer_job *j, struct hub_error *err)
{
    uint64_t free_bytes = 0;
    const struct hub_transfer *t = j->t;
    const struct hub_staging *s = &j->staging;
    HUB_TRY(hub_fs_free_bytes(s->path, &free_bytes, err));
    const uint64_t missing = missing_bytes(j);
    if (missing <= free_bytes && free_bytes - missing >= t->spare_bytes)
        return HUB_OK;
    char need[HUB_SIZE_CHARS], have[HUB_SIZE_CHARS], spare[HUB_SIZE_CHARS];
    size_text(missing, need);
    size_text(free_bytes, have);
    size_text(t->spare_bytes, spare);
    return hub_fail(err, HUB_NO_SPACE, "'%s' needs %s more, and '%.*s' has %s free%s%s%s", t->id, need,
                    (int)(strrchr(t->place->path, '/') - t->place->path), t->place->path, have,
                    t->spare_bytes ? ", but " : "", t->spare_bytes ? spare : "",
                    t->spare_bytes ? " must stay free" : "");
}

static void say_left_out(const struct hub_transfer *t)
{
    char names[900];
    hub_remote_files_name_left_out(&t->files, names, sizeof names);
    if (*names)
        notify(t, "%s: left out because of a hidden or impossible name: %s", t->id, names);
}

static bool fits(const char *const *patterns, const char *path)
{
    const char *slash = strrchr(path, '/');
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, path, 0) == 0 || fnmatch(*patterns, slash ? slash + 1 : path, 0) == 0)
            return true;
    return false;
}

/* Keep what is wanted of the list. */
static enum hub_status choose_files(struct hub_transfer *t, struct hub_error *err)
{
    struct hub_remote_files *files = &t->files;
    HUB_CLEANUP(hub_freep) bool *wanted = NULL;
    const uint64_t bytes = files->bytes;
    uint32_t kept = 0;
    HUB_TRY(hub_new(&wanted, files->count + 1, sizeof *wanted, err));
    memset(wanted, true, files->count);
    if (t->choose)
        HUB_TRY(t->choose(t, wanted, t->user, err));
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_file_facts *file = &files->items[i];
        if (!wanted[i] || (t->include && !fits(t->include, file->path)) ||
            (t->exclude && fits(t->exclude, file->path))) {
            files->bytes -= file->size;
            hub_file_facts_dispose(file);
        } else {
            files->items[kept++] = *file;
        }
    }
    const uint32_t all = files->count;
    files->count = kept;
    files->partial = kept < all;
    if (all && !kept)
        return hub_fail(err, HUB_INVALID, "none of the %u files of '%.200s' matches these patterns", all,
                        t->id);
    if (files->partial) {
        char some[HUB_SIZE_CHARS], whole[HUB_SIZE_CHARS];
        hub_number_size(files->bytes, some);
        hub_number_size(bytes, whole);
        notify(t, "%s: %u of %u files are selected, %s of %s", t->id, kept, all, some, whole);
    }
    return HUB_OK;
}

static enum hub_status list(struct transfer_job *j, struct hub_error *err)
{
    struct hub_transfer *t = j->t;
    hub_remote_files_dispose(&t->files);
    HUB_TRY(hub_remote_list_files(t->remote, t->id, NULL, &t->files, err));
    if (strcmp(t->files.id, t->id) != 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the request names the files of '%.200s', but the remote listed those of '%.200s'",
                           t->id, t->files.id);
    HUB_TRY(choose_files(t, err));
    say_left_out(t);
    t->bytes_total = t->files.bytes;
    return HUB_OK;
}

static uint64_t segment_for(const struct hub_transfer *t)
{
    uint64_t segment = t->segment_bytes ? t->segment_bytes : default_segment;
    for (uint32_t i = 0; i < t->files.count; i++)
        while (t->files.items[i].size / segment >= HUB_SINK_SEGMENTS)
            segment *= 2;
    return HUB_MAX(smallest_segment, HUB_MIN(segment, largest_segment));
}

static enum hub_status stage(struct transfer_job *j, struct hub_error *err)
{
    struct hub_transfer *t = j->t;
    HUB_TRY(hub_staging_plan(&j->staging, &t->files, segment_for(t), tick, j, err));
    t->bytes_kept = j->staging.bytes_kept;
    if (t->have)
        hub_reuse_take(t->have, &j->staging);
    t->bytes_linked = j->staging.bytes_taken;
    if (t->watch)
        HUB_TRY(t->watch->room(missing_bytes(j), t->watch->user, err));
    HUB_TRY(check_space(j, err));
    if (t->watch)
        HUB_TRY(t->watch->planned(t, &j->staging, t->watch->user, err));
    if (!t->bytes_kept)
        return HUB_OK;
    char kept[HUB_SIZE_CHARS], all[HUB_SIZE_CHARS];
    hub_number_size(t->bytes_kept, kept);
    hub_number_size(t->files.bytes, all);
    notify(t, "%s: resuming, %s of %s are already here", t->id, kept, all);
    return HUB_OK;
}

static enum hub_status fetch(struct transfer_job *j, struct hub_error *err)
{
    struct hub_transfer *t = j->t;
    t->phase = HUB_TRANSFER_FETCH;
    HUB_TRY(list(j, err));
    HUB_TRY(stage(j, err));
    j->download = (struct hub_download){.remote = t->remote,
                                        .staging = &j->staging,
                                        .plan = &t->files,
                                        .connections = t->connections ? t->connections : CONNECTIONS,
                                        .wait_ms = t->digest_wait_ms ? t->digest_wait_ms : DIGEST_WAIT_MS,
                                        .sha256_later = t->sha256_later,
                                        .tick = tick,
                                        .user = j,
                                        .watch = t->watch};
    HUB_TRY(hub_download_fetch(&j->download, err));
    HUB_TRY(report_progress(j, true, err));
    t->phase = HUB_TRANSFER_CHECK;
    return hub_download_check(&j->download, err);
}

/* Wait a moment until the writer on the remote has finished. */
static enum hub_status wait_before(struct transfer_job *j, unsigned restart, struct hub_error *err)
{
    const int64_t until_ms = hub_time_mono_ms() + ((int64_t)PAUSE_MS << restart);
    while (hub_time_mono_ms() < until_ms) {
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000000}, NULL);
        HUB_TRY(report_progress(j, false, err));
    }
    return HUB_OK;
}

/* What is whole is kept each time. A byte that was flipped on its way comes right the next time. */
static enum hub_status fetch_unchanged(struct transfer_job *j, struct hub_error *err)
{
    unsigned changes = 0, mends = 0;
    for (;;) {
        struct hub_error why = {0};
        const enum hub_status st = fetch(j, &why);
        const bool wrong = st == HUB_CORRUPT && why.problem == HUB_PROBLEM_DIGEST_MISMATCH;
        if (wrong && mends < j->t->mends) {
            notify(j->t, "%s: fetching the wrong bytes again: %s", j->t->id, why.detail);
            HUB_TRY(wait_before(j, mends++, err));
        } else if (st == HUB_CHANGED && changes < MAX_RESTARTS) {
            notify(j->t, "%s: starting over: %s", j->t->id, why.detail);
            HUB_TRY(wait_before(j, changes++, err));
        } else if (st == HUB_CHANGED) {
            return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED,
                               "'%s' kept changing on the remote (%u times): %s", j->t->id, changes + 1,
                               why.detail);
        } else {
            return st ? hub_pass(st, &why, err) : HUB_OK;
        }
    }
}

/* ---- publish ---- */

/* The times of the files are the upstream's, as far as they are known: a revision is made of them. */
static int64_t set_time(const struct transfer_job *j, const struct hub_file_facts *file)
{
    const struct timespec modified = {file->modified_ns / 1000000000, file->modified_ns % 1000000000};
    struct stat st;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (hub_fs_open_beneath(j->staging.tree, file->path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd, NULL) ||
        fstat(fd, &st))
        return file->modified_ns;
    const int64_t now = (int64_t)hub_stamp_of(&st).mtime_ns;
    if (!file->modified_ns || now == file->modified_ns ||
        st.st_nlink > 1 || /* a link: the old copy's as well */
        futimens(fd, (const struct timespec[]){modified, modified}))
        return now;
    return file->modified_ns;
}

/* The list is of the files here from now on. */
static void note_sums(struct transfer_job *j)
{
    for (uint32_t i = 0; i < j->t->files.count; i++) {
        struct hub_file_facts *file = &j->t->files.items[i];
        struct hub_sums *sums = &j->staging.files[i].sums;
        file->modified_ns = set_time(j, file);
        file->computed = !file->has_sha256;
        file->has_sha256 = sums->has_sha256;
        memcpy(file->sha256, sums->sha256, sizeof file->sha256);
        free((char *)file->pieces.data);
        file->pieces = (struct hub_view){(const char *)sums->pieces, sums->pieces_size};
        sums->pieces = NULL;
    }
}

static enum hub_status publish(struct transfer_job *j, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf record = HUB_BUF_INIT(1 * GIB);
    struct hub_transfer *t = j->t;
    char tree[64];
    t->phase = HUB_TRANSFER_PUBLISH;
    t->files_verified = j->download.verified;
    t->digest = j->download.digest;
    note_sums(j);
    HUB_TRY(hub_record_write(&t->files, t->remote->base, &record, err));
    /* written beside the tree: what a kill leaves of it is never published */
    HUB_TRY(hub_fs_write_unsynced(j->staging.directory, HUB_RECORD_FILE, hub_buf_view(&record), 0644, err));
    if (renameat(j->staging.directory, HUB_RECORD_FILE, j->staging.tree, HUB_RECORD_FILE))
        return hub_fail_errno(err, errno, "the record of '%s' cannot be moved to its place", t->id);
    HUB_TRY(hub_staging_sync(&j->staging, HUB_RECORD_FILE, err));
    HUB_TRY(report_progress(j, true, err));
    if (t->ready)
        HUB_TRY(t->ready(t, t->user, err));
    snprintf(tree, sizeof tree, "incoming/%s/tree", j->staging.key);
    return hub_publish(t->place, j->target, tree, t->replace, false, err);
}

static enum hub_status run(struct transfer_job *j, struct hub_error *err)
{
    HUB_TRY(hub_publish_replaceable(j->t->place, j->target, err)); /* before anything is fetched */
    if (j->t->plan_only)
        return list(j, err);
    HUB_TRY(hub_staging_open(j->t->place, j->target, &j->staging, err));
    HUB_TRY(fetch_unchanged(j, err));
    return publish(j, err);
}

enum hub_status hub_transfer_run(struct hub_transfer *t, struct hub_error *err)
{
    struct transfer_job j = {.t = t, .target = t->target ? t->target : t->id, .staging = HUB_STAGING_INIT};
    const enum hub_status st = run(&j, err);
    hub_staging_close(&j.staging, st == HUB_OK);
    return st;
}

void hub_transfer_dispose(struct hub_transfer *t)
{
    hub_remote_files_dispose(&t->files);
}
