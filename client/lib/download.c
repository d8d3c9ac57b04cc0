/* Download of a dataset and what it was combined from: decide, then transfer. */
#include "client/lib/decide.h"
#include "client/lib/internal.h"
#include "client/lib/present.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/io/fs.h"
#include "storage/model/format_row.h"
#include "storage/text/time.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/spaces.h"
#include "storage/transfer/transfer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MENDS = 2, MAX_COMBINED = 10000, LISTING_BYTES = 256 * 1024 * 1024 };

/* Ids that are still to be looked at, and those that were. The first one was asked for, the others are what
 * the hub says it was combined from. */
struct queue {
    struct minari_client *client;
    const struct minari_download_options *options;
    struct hub_private place;
    struct hub_buf folder; /* of the dataset that it is at, below the root */
    char **ids;
    size_t count, next;
};

static void notify(const struct minari_download_options *o, const char *fmt, ...) HUB_PRINTF(2, 3);
static void notify(const struct minari_download_options *o, const char *fmt, ...)
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

/* ---- the files of some episodes ---- */

static bool chooses(const struct minari_download_options *o)
{
    return o->episodes || o->split || o->task || o->where;
}

static enum hub_status needed_url(const struct hub_transfer *t, const struct minari_download_options *o,
                                  struct hub_buf *url, struct hub_error *err)
{
    HUB_TRY(hub_api_url(t->remote, t->id, "files", url, err));
    HUB_TRY(hub_api_parameter(url, "episodes", o->episodes, err));
    HUB_TRY(hub_api_parameter(url, "where", o->where, err));
    HUB_TRY(hub_api_parameter(url, "split", o->split, err));
    HUB_TRY(hub_api_parameter(url, "task", o->task, err));
    return hub_api_parameter(url, "revision", t->files.revision, err);
}

/* Only what the episodes need, which the hub knows of the state that was listed. */
static enum hub_status choose(const struct hub_transfer *t, bool *wanted, void *user, struct hub_error *err)
{
    const struct minari_download_options *o = user;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL, *paths = json_object();
    const json_t *item;
    size_t i;
    HUB_TRY(hub_allocated(paths, err));
    HUB_TRY(needed_url(t, o, &url, err));
    HUB_TRY(hub_remote_document(t->remote, url.data, LISTING_BYTES, NULL, &document, err));
    if (!hub_member_uint(document, "left_out")) {
        notify(o, "%s: every file has rows of these episodes: downloading all files", t->id);
        return HUB_OK;
    }
    json_array_foreach(json_object_get(document, "items"), i, item)
    {
        const char *path = hub_member_text(item, "path");
        HUB_TRY(hub_allocated(!path || !json_object_set_new(paths, path, json_true()), err));
    }
    for (uint32_t k = 0; k < t->files.count; k++)
        wanted[k] = json_object_get(paths, t->files.items[k].path);
    return HUB_OK;
}

/* ---- transfer ---- */

static enum hub_status report_progress(const struct hub_transfer *t, void *user, struct hub_error *err)
{
    static const enum minari_phase phases[] = {[HUB_TRANSFER_FETCH] = MINARI_PHASE_TRANSFER,
                                               [HUB_TRANSFER_CHECK] = MINARI_PHASE_CHECK,
                                               [HUB_TRANSFER_PUBLISH] = MINARI_PHASE_PUBLISH};
    const struct minari_download_options *o = user;
    const struct minari_progress p = {.id = t->id,
                                      .phase = phases[t->phase],
                                      .bytes_done = t->bytes_done,
                                      .bytes_total = t->bytes_total,
                                      .bytes_kept = t->bytes_kept,
                                      .files_done = t->files_done,
                                      .files_total = t->files.count};
    return o->progress && o->progress(&p, o->user) ? hub_fail(err, HUB_CANCELLED, "interrupted") : HUB_OK;
}

static void pass_notice(const char *line, void *user)
{
    const struct minari_download_options *o = user;
    if (o->notice)
        o->notice(line, o->user);
}

static void report_done(const struct hub_transfer *t, const struct minari_download_options *o,
                        const char *path, const char *format, uint64_t began_ms)
{
    const struct minari_download d = {.id = t->files.id,
                                      .path = path,
                                      .revision = t->files.revision,
                                      .assurance = t->files_verified == t->files.count ? MINARI_VERIFIED
                                                                                       : MINARI_SIZE_ONLY,
                                      .files = t->files.count,
                                      .files_verified = t->files_verified,
                                      .bytes = t->files.bytes,
                                      .bytes_kept = t->bytes_kept,
                                      .milliseconds = hub_time_mono_ms() - began_ms,
                                      .digest = t->digest,
                                      .partial = t->files.partial,
                                      .planned = o->dry_run,
                                      .format = format};
    if (o->done)
        o->done(&d, o->user);
}

static struct hub_transfer transfer_of(const struct queue *q, const struct minari_summary *s)
{
    const struct minari_download_options *o = q->options;
    return (struct hub_transfer){.remote = &q->client->remote,
                                 .id = s->id,
                                 .place = &q->place,
                                 .target = q->folder.data,
                                 .include = o->include,
                                 .exclude = o->exclude,
                                 .choose = chooses(o) ? choose : NULL,
                                 .plan_only = o->dry_run,
                                 .connections = o->connections,
                                 .digest_wait_ms = o->digest_wait_ms,
                                 .segment_bytes = o->segment_bytes,
                                 .mends = MENDS,
                                 .progress = report_progress,
                                 .notice = pass_notice,
                                 .user = (void *)o};
}

static enum hub_status transfer_dataset(const struct queue *q, const struct minari_summary *s,
                                        const char *path, bool replace, struct hub_error *err)
{
    const struct minari_download_options *o = q->options;
    const uint64_t began_ms = hub_time_mono_ms();
    HUB_CLEANUP(hub_transfer_dispose) struct hub_transfer t = transfer_of(q, s);
    t.replace = replace;
    HUB_TRY(hub_transfer_run(&t, err));
    report_done(&t, o, path, s->format, began_ms);
    return o->as || o->dry_run ? HUB_OK : hub_spaces_fetch(t.remote, &q->place, s->id, err);
}

/* ---- decide ---- */

/* Whether the folder holds the dataset, and not what a broken or foreign download left. `record` NULL: it is
 * compared with the remote's list. */
static enum hub_status check_present(const struct queue *q, const struct minari_summary *s, const char *path,
                                     const struct hub_record *record, struct hub_error *err)
{
    if (record)
        return hub_present_as_recorded(path, record, err);
    HUB_CLEANUP(hub_transfer_dispose) struct hub_transfer t = transfer_of(q, s);
    t.plan_only = true;
    HUB_TRY(hub_transfer_run(&t, err));
    return hub_present_as_listed(path, &t.files, err);
}

/* What stands at the target already: nothing to do, but perhaps something to say. */
static void report_skipped(const struct minari_download_options *o, const struct minari_summary *s,
                           const char *path, const struct hub_record *record)
{
    const bool other = record && s->revision && strcmp(record->revision, s->revision) != 0;
    notify(o,
           other
               ? "%s: skipped, '%s' holds another revision, or came from another remote; --force replaces it"
               : "%s: skipped, it is at '%s'; --force downloads it again",
           s->id, path);
    const struct minari_download d = {.id = s->id,
                                      .path = path,
                                      .revision = record ? record->revision : "",
                                      .skipped = true,
                                      .format = s->format};
    if (o->done)
        o->done(&d, o->user);
}

/* What another dataset was combined from is never replaced: it may be the user's own. */
static enum hub_status skip(const struct queue *q, const struct minari_summary *s, const char *path,
                            bool requested, struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    struct hub_error why = {0};
    const struct hub_record *known = hub_record_read(path, &record, NULL) ? NULL : &record;
    const enum hub_status st = check_present(q, s, path, known, &why);
    if (st && (requested || st != HUB_EXISTS))
        return hub_pass(st, &why, err);
    if (st)
        notify(q->options, "%s: skipped: %s", s->id, why.detail);
    else
        report_skipped(q->options, s, path, known);
    return HUB_OK;
}

/* Why the files of a dataset would be of no use here; NULL: they are. */
static const char *obstacle(const struct minari_dataset *dataset, char word[64])
{
    const struct minari_summary *s = minari_dataset_summary(dataset);
    /* what a hub fetches from its upstream is downloaded while it comes */
    const bool ready = strcmp(s->status, "ready") == 0 || strcmp(s->status, "remote") == 0;
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
        notify(o, "%s: %.*s", s->id, (int)notices.size - 1, notices.data);
    if (!o->any_format && !hub_format_is_of(s->format, HUB_LIBRARY_MINARI))
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_NOT_A_MINARI_DATASET,
                           "'%s' is in the format %.40s, which Minari does not read", s->id, s->format);
    if (why && !o->force)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_NOT_READY, "'%.200s' is %s%s%.200s", s->id, word,
                           *why ? ": " : "", why);
    if (why)
        notify(o, "%s: it is %s%s%s; its files are downloaded as they are", s->id, word, *why ? ": " : "",
               why);
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

static enum hub_status one(struct queue *q, const struct minari_dataset *dataset, bool requested,
                           struct hub_error *err)
{
    const struct minari_download_options *o = q->options;
    char path[PATH_MAX];
    struct stat st;
    const char *id = minari_dataset_summary(dataset)->id;
    const bool replace = o->force && requested;
    q->folder.size = 0;
    HUB_TRY(hub_id_folder(hub_view_of(o->as ? o->as : id), &q->folder, err));
    HUB_TRY(hub_folder_check(hub_buf_view(&q->folder), err));
    if (snprintf(path, sizeof path, "%s/%s", o->root, q->folder.data) >= (int)sizeof path)
        return hub_fail(err, HUB_INVALID, "the root's path is too long");
    HUB_TRY(decide(dataset, o, err));
    if (!replace && lstat(path, &st) == 0)
        return skip(q, minari_dataset_summary(dataset), path, requested, err);
    return transfer_dataset(q, minari_dataset_summary(dataset), path, replace, err);
}

/* The next of the queue, and what it was combined from behind it. */
static enum hub_status step(struct queue *q, struct hub_error *err)
{
    struct minari_dataset *dataset = NULL;
    const bool requested = q->next == 0;
    const char *id = q->ids[q->next++];
    HUB_TRY(hub_client_get_dataset(q->client, id, NULL, &dataset, err));
    if (strcmp(id, minari_dataset_summary(dataset)->id) != 0)
        notify(q->options, "%s: the newest version is '%s'", id, minari_dataset_summary(dataset)->id);
    enum hub_status st = one(q, dataset, requested, err);
    for (size_t i = 0;
         !st && !q->options->alone && !q->options->as && i < minari_dataset_combined_count(dataset); i++)
        st = enqueue(q, minari_dataset_combined_at(dataset, i), err);
    minari_dataset_free(dataset);
    return st;
}

static enum hub_status download(struct minari_client *client, const char *id,
                                const struct minari_download_options *o, struct hub_error *err)
{
    struct queue q = {
        .client = client, .options = o, .place = HUB_PRIVATE_INIT, .folder = HUB_BUF_INIT(64 * KIB)};
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
    hub_buf_dispose(&q.folder);
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
