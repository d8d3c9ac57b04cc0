/* Download of a dataset and what it was combined from: decide, fetch, check, publish. */
#include "client/lib/check.h"
#include "client/lib/decide.h"
#include "client/lib/publish.h"
#include "client/lib/record.h"
#include "client/lib/spaces.h"
#include "client/lib/transfer.h"
#include "storage/base/fs.h"
#include "storage/base/id.h"
#include "storage/base/number.h"
#include "storage/base/time.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { CONNECTIONS = 4, MAX_RESTARTS = 3, MAX_COMBINED = 10000, DIGEST_WAIT_MS = 30000, PROGRESS_MS = 90 };
static const uint64_t default_segment = 8 * MIB, smallest_segment = 4 * KIB, largest_segment = 4 * GIB;

/* One dataset on its way. */
struct job {
    struct minari_client *client;
    const struct minari_download_options *options;
    const struct hub_private *place;
    const char *id, *target; /* what is asked for, and where it goes below the root */
    const char *format;
    bool replace; /* what is there: only what was asked for by name, never what a hub says belongs to it */
    enum minari_phase phase;
    struct hub_staging staging;
    struct hub_remote_files plan;
    struct hub_transfer transfer;
    struct hub_check check;
    uint64_t began_ms, reported_ms;
};

/* Ids that are still to be looked at, and those that were. The first one was asked for, the others are what
 * the hub says it was combined from. */
struct queue {
    struct minari_client *client;
    const struct minari_download_options *options;
    struct hub_private place;
    char **ids;
    size_t count, next;
};

static void say(const struct minari_download_options *o, const char *fmt, ...) HUB_PRINTF(2, 3);
static void say(const struct minari_download_options *o, const char *fmt, ...)
{
    char line[1024];
    va_list args;
    if (!o->notice)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    o->notice(line, o->user);
}

static enum hub_status report_progress(struct job *j, bool always, struct hub_error *err)
{
    const uint64_t now = hub_time_mono_ms();
    if (!j->options->progress || (!always && now - j->reported_ms < PROGRESS_MS))
        return HUB_OK;
    j->reported_ms = now;
    const bool checking = j->phase == MINARI_PHASE_CHECK;
    const struct minari_progress p = {.id = j->id,
                                      .phase = j->phase,
                                      .bytes_done = checking ? j->check.bytes_hashed : j->transfer.bytes_done,
                                      .bytes_total = j->plan.bytes,
                                      .bytes_kept = j->staging.bytes_kept,
                                      .files_done = j->transfer.files_done,
                                      .files_total = j->plan.count};
    return j->options->progress(&p, j->options->user) ? hub_fail(err, HUB_CANCELLED, "interrupted") : HUB_OK;
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    return report_progress(user, false, err);
}

/* ---- fetch and check, until the hub stays the same for long enough ---- */

static enum hub_status check_space(const struct job *j, struct hub_error *err)
{
    uint64_t free_bytes = 0;
    HUB_TRY(hub_fs_free_bytes(j->staging.path, &free_bytes, err));
    const uint64_t missing = j->plan.bytes - HUB_MIN(j->plan.bytes, j->staging.bytes_allocated);
    if (missing <= free_bytes)
        return HUB_OK;
    char need[HUB_SIZE_CHARS], have[HUB_SIZE_CHARS];
    hub_number_size(missing, need);
    hub_number_size(free_bytes, have);
    return hub_fail(err, HUB_NO_SPACE, "'%s' needs %s more, '%s' has %s free", j->id, need, j->options->root,
                    have);
}

/* What lies upstream under names that no file can have. */
static void say_left_out(const struct job *j)
{
    char names[900] = "";
    const uint32_t count = j->plan.left_out_count;
    for (uint32_t i = 0; i < HUB_MIN(count, (uint32_t)HUB_LEFT_OUT); i++) {
        const size_t at = strlen(names);
        snprintf(names + at, sizeof names - at, "%s'%.100s'", i ? ", " : "", j->plan.left_out[i]);
    }
    if (count)
        say(j->options, "%s: left out, because no file can have such a name: %s%s (%u)", j->id, names,
            count > HUB_LEFT_OUT ? ", ..." : "", count);
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
static enum hub_status choose_files(struct job *j, struct hub_error *err)
{
    const struct minari_download_options *o = j->options;
    struct hub_remote_files *plan = &j->plan;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct hub_remote_file *file = &plan->items[i];
        if ((o->include && !fits(o->include, file->path)) || (o->exclude && fits(o->exclude, file->path))) {
            plan->bytes -= file->size;
            hub_remote_file_dispose(file);
        } else {
            plan->items[kept++] = *file;
        }
    }
    const uint32_t all = plan->count;
    plan->count = kept;
    if (all && !kept)
        return hub_fail(err, HUB_INVALID, "none of the %u files of '%.200s' is wanted by these patterns", all,
                        j->id);
    if (kept < all)
        say(o, "%s: %u of %u files are wanted", j->id, kept, all);
    return HUB_OK;
}

static enum hub_status fetch(struct job *j, struct hub_error *err)
{
    const struct minari_download_options *o = j->options;
    const uint64_t best = j->client->remote.kind->piece_bytes;
    const uint64_t segment = o->segment_bytes ? o->segment_bytes : best ? best : default_segment;
    hub_remote_files_dispose(&j->plan);
    free(j->check.sums);
    j->check = (struct hub_check){0};
    HUB_TRY(hub_remote_list_files(&j->client->remote, j->id, NULL, &j->plan, err));
    if (strcmp(j->plan.id, j->id) != 0)
        return hub_fail_as(err, HUB_CORRUPT, "protocol",
                           "asked for the files of '%.200s', but the remote listed those of '%.200s'", j->id,
                           j->plan.id);
    HUB_TRY(choose_files(j, err));
    say_left_out(j);
    j->phase = MINARI_PHASE_TRANSFER;
    HUB_TRY(hub_staging_plan(&j->staging, &j->plan,
                             HUB_MAX(smallest_segment, HUB_MIN(segment, largest_segment)), tick, j, err));
    HUB_TRY(check_space(j, err));
    if (j->staging.bytes_kept) {
        char kept[HUB_SIZE_CHARS], all[HUB_SIZE_CHARS];
        hub_number_size(j->staging.bytes_kept, kept);
        hub_number_size(j->plan.bytes, all);
        say(o, "%s: resuming, %s of %s are already here", j->id, kept, all);
    }
    j->transfer = (struct hub_transfer){.client = j->client,
                                        .staging = &j->staging,
                                        .plan = &j->plan,
                                        .connections = o->connections ? o->connections : CONNECTIONS,
                                        .tick = tick,
                                        .user = j};
    HUB_TRY(hub_transfer_run(&j->transfer, err));
    HUB_TRY(report_progress(j, true, err));
    j->phase = MINARI_PHASE_CHECK;
    j->check = (struct hub_check){.client = j->client,
                                  .staging = &j->staging,
                                  .plan = &j->plan,
                                  .wait_ms = o->digest_wait_ms ? o->digest_wait_ms : DIGEST_WAIT_MS,
                                  .tick = tick,
                                  .user = j};
    return hub_check_run(&j->check, err);
}

static enum hub_status fetch_unchanged(struct job *j, struct hub_error *err)
{
    struct hub_error why;
    for (unsigned i = 0;; i++) {
        why = (struct hub_error){0};
        const enum hub_status st = fetch(j, &why);
        if (st != HUB_CHANGED || i == MAX_RESTARTS) {
            if (st == HUB_CHANGED)
                return hub_fail_as(err, HUB_CHANGED, "changed",
                                   "'%s' kept changing on the remote (%u times): %s", j->id, i + 1,
                                   why.detail);
            if (st && err)
                *err = why;
            return st;
        }
        say(j->options, "%s: starting over: %s", j->id, why.detail);
        HUB_TRY(hub_staging_clear(&j->staging, err));
    }
}

/* ---- publish ---- */

/* The times of the files are the upstream's, as far as they are known: a revision is made of them. */
static void set_times(const struct job *j)
{
    for (uint32_t i = 0; i < j->plan.count; i++) {
        const struct hub_remote_file *file = &j->plan.items[i];
        const struct timespec modified = {file->modified_ns / 1000000000, file->modified_ns % 1000000000};
        HUB_CLEANUP(hub_closep) int fd = -1;
        if (file->modified_ns && !hub_fs_open_beneath(j->staging.tree, file->path, O_RDONLY | O_NOFOLLOW,
                                                      HUB_FS_NO_LINKS, &fd, NULL))
            (void)futimens(fd, (const struct timespec[]){modified, modified});
    }
}

static enum hub_status publish(struct job *j, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf record = HUB_BUF_INIT(1 * GIB);
    char tree[64];
    j->phase = MINARI_PHASE_PUBLISH;
    HUB_TRY(hub_record_write(&j->plan, j->client->remote.base,
                             (const uint8_t(*)[HUB_SHA256_BYTES])j->check.sums, &record, err));
    HUB_TRY(hub_fs_write(j->staging.tree, HUB_RECORD_FILE, hub_buf_view(&record), 0644, err));
    set_times(j);
    HUB_TRY(hub_staging_sync(&j->staging, err));
    snprintf(tree, sizeof tree, "incoming/%s/tree", j->staging.key);
    return hub_publish(j->place, j->target, tree, j->replace, false, err);
}

static void report_done(const struct job *j, const char *path)
{
    const struct minari_download d = {.id = j->plan.id,
                                      .path = path,
                                      .revision = j->plan.revision,
                                      .assurance = j->check.verified == j->plan.count ? MINARI_VERIFIED
                                                                                      : MINARI_SIZE_ONLY,
                                      .files = j->plan.count,
                                      .files_verified = j->check.verified,
                                      .bytes = j->plan.bytes,
                                      .bytes_kept = j->staging.bytes_kept,
                                      .milliseconds = hub_time_mono_ms() - j->began_ms,
                                      .digest = j->check.digest,
                                      .format = j->format};
    if (j->options->done)
        j->options->done(&d, j->options->user);
}

static enum hub_status run_job(struct job *j, const char *path, struct hub_error *err)
{
    HUB_TRY(hub_publish_replaceable(j->place, j->target, err)); /* before anything is fetched */
    HUB_TRY(hub_staging_open(j->place, j->target, &j->staging, err));
    HUB_TRY(fetch_unchanged(j, err));
    HUB_TRY(publish(j, err));
    report_done(j, path);
    return j->options->as ? HUB_OK : hub_spaces_fetch(j->client, j->place, j->id, err);
}

static enum hub_status transfer_dataset(const struct queue *q, const struct minari_summary *s,
                                        const char *path, bool replace, struct hub_error *err)
{
    struct job j = {.client = q->client,
                    .options = q->options,
                    .place = &q->place,
                    .id = s->id,
                    .format = s->format,
                    .target = q->options->as ? q->options->as : s->id,
                    .replace = replace,
                    .staging = HUB_STAGING_INIT,
                    .began_ms = hub_time_mono_ms()};
    const enum hub_status st = run_job(&j, path, err);
    hub_staging_close(&j.staging, st == HUB_OK);
    hub_remote_files_dispose(&j.plan);
    free(j.check.sums);
    return st;
}

/* ---- decide ---- */

/* What stands at the target already: nothing to do, but perhaps something to say. */
static void report_skipped(const struct minari_download_options *o, const struct minari_summary *s,
                           const char *path)
{
    struct hub_record record;
    const bool known = !hub_record_read(path, &record, NULL);
    if (known && s->revision && strcmp(record.revision, s->revision) != 0)
        say(o, "%s: skipped, an older revision is at '%s'; --force replaces it", s->id, path);
    else
        say(o, "%s: skipped, it is at '%s'; --force downloads it again", s->id, path);
    const struct minari_download d = {.id = s->id,
                                      .path = path,
                                      .revision = known ? record.revision : "",
                                      .skipped = true,
                                      .format = s->format};
    if (o->done)
        o->done(&d, o->user);
    if (known)
        hub_record_dispose(&record);
}

/* Why the files of a dataset would be of no use here; NULL: they are. */
static const char *obstacle(const struct minari_dataset *dataset, char word[64])
{
    const struct minari_summary *s = minari_dataset_summary(dataset);
    const bool ready = strcmp(s->status, "ready") == 0;
    snprintf(word, 64, "%s", ready ? "not loadable" : s->status);
    if (ready)
        return s->unloadable ? s->reason ? s->reason : hub_dataset_problem(dataset, "not-loadable") : NULL;
    return s->reason ? s->reason : "";
}

static enum hub_status decide(const struct minari_dataset *dataset, const struct minari_download_options *o,
                              struct hub_error *err)
{
    const struct minari_summary *s = minari_dataset_summary(dataset);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf notices = HUB_BUF_INIT(16 * KIB);
    char word[64];
    const char *why = obstacle(dataset, word);
    HUB_TRY(hub_decide(s, minari_dataset_version_at(dataset, 0), minari_dataset_version_count(dataset),
                       o->loadable_by, o->force, &notices, err));
    if (notices.size)
        say(o, "%s: %.*s", s->id, (int)notices.size - 1, notices.data);
    if (!o->any_format && strncmp(s->format, "minari", 6) != 0)
        return hub_fail_as(err, HUB_INVALID, "not-a-minari-dataset",
                           "'%s' is in the format %.40s, which Minari does not read", s->id, s->format);
    if (why && !o->force)
        return hub_fail_as(err, HUB_UNSUPPORTED, "not-ready", "'%.200s' is %s%s%.200s", s->id, word,
                           *why ? ": " : "", why);
    if (why)
        say(o, "%s: it is %s%s%s; its files are downloaded as they are", s->id, word, *why ? ": " : "", why);
    return HUB_OK;
}

static enum hub_status enqueue(struct queue *q, const char *id, struct hub_error *err)
{
    for (size_t i = 0; i < q->count; i++)
        if (strcmp(q->ids[i], id) == 0)
            return HUB_OK;
    if (q->count >= MAX_COMBINED)
        return hub_fail(err, HUB_TOO_BIG, "combined from more than %d datasets", MAX_COMBINED);
    char **ids = reallocarray(q->ids, q->count + 1, sizeof *ids);
    HUB_TRY(hub_allocated(ids, err));
    q->ids = ids;
    q->ids[q->count] = strdup(id);
    return hub_allocated(q->ids[q->count++], err);
}

static enum hub_status one(const struct queue *q, const struct minari_dataset *dataset, bool asked,
                           struct hub_error *err)
{
    const struct minari_download_options *o = q->options;
    char path[PATH_MAX];
    struct stat st;
    const char *id = minari_dataset_summary(dataset)->id;
    const bool replace = o->force && asked;
    HUB_TRY(hub_id_check(hub_view_of(o->as ? o->as : id), err));
    if (snprintf(path, sizeof path, "%s/%s", o->root, o->as ? o->as : id) >= (int)sizeof path)
        return hub_fail(err, HUB_INVALID, "the root's path is too long");
    HUB_TRY(decide(dataset, o, err));
    if (!replace && lstat(path, &st) == 0) {
        report_skipped(o, minari_dataset_summary(dataset), path);
        return HUB_OK;
    }
    return transfer_dataset(q, minari_dataset_summary(dataset), path, replace, err);
}

/* The next of the queue, and what it was combined from behind it. */
static enum hub_status step(struct queue *q, struct hub_error *err)
{
    struct minari_dataset *dataset = NULL;
    const bool asked = q->next == 0;
    const char *id = q->ids[q->next++];
    HUB_TRY(hub_client_get_dataset(q->client, id, NULL, &dataset, err));
    if (strcmp(id, minari_dataset_summary(dataset)->id) != 0)
        say(q->options, "%s: the newest version is '%s'", id, minari_dataset_summary(dataset)->id);
    enum hub_status st = one(q, dataset, asked, err);
    for (size_t i = 0;
         !st && !q->options->alone && !q->options->as && i < minari_dataset_combined_count(dataset); i++)
        st = enqueue(q, minari_dataset_combined_at(dataset, i), err);
    minari_dataset_free(dataset);
    return st;
}

static enum hub_status download(struct minari_client *client, const char *id,
                                const struct minari_download_options *o, struct hub_error *err)
{
    struct queue q = {.client = client, .options = o, .place = HUB_PRIVATE_INIT};
    if (!client)
        return hub_fail(err, HUB_INVALID, "a client is needed");
    if (!o->root || !*o->root)
        return hub_fail(err, HUB_INVALID, "a root is needed: the folder that datasets go to");
    enum hub_status st = hub_fs_make_dirs(AT_FDCWD, o->root, 0777, err);
    if (!st)
        st = hub_private_open(o->root, true, &q.place, err);
    if (!st)
        st = hub_publish_recover(&q.place, err);
    if (!st)
        st = enqueue(&q, id, err);
    while (!st && q.next < q.count)
        st = step(&q, err);
    for (size_t i = 0; i < q.count; i++)
        free(q.ids[i]);
    free(q.ids);
    hub_private_close(&q.place);
    return st;
}

enum minari_status minari_dataset_download(struct minari_client *client, const char *id,
                                           const struct minari_download_options *options,
                                           struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_download_options own;
    HUB_OPTIONS_COPY(own, options);
    return hub_client_report(download(client, id ? id : "", &own, &error), &error, err);
}
