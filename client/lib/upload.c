/* Push of a folder: list it, see what the draft has, send the rest, publish. See minari/upload.h. */
#include "client/lib/namespaces.h"
#include "client/lib/revisions.h"
#include "client/lib/send_tar.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_NAMED = 20 };

struct push {
    struct minari_client *client;
    const struct minari_upload_options *options;
    struct hub_folder folder;
    struct hub_sent_file *states; /* one a file */
    char *base;                   /* what it takes the place of; NULL: nothing */
    struct hub_open_draft draft;  /* its name is NULL: none yet */
    struct hub_send send;
    uint64_t files_kept, bytes_kept; /* by the draft */
    uint64_t files_removed;
    bool goes_on; /* with a draft that was open */
    bool publishes;
};

static void push_dispose(struct push *p)
{
    hub_folder_dispose(&p->folder);
    free(p->states);
    free(p->base);
    hub_open_draft_dispose(&p->draft);
}

static void notify(const struct minari_upload_options *o, const char *fmt, ...) HUB_PRINTF(2, 3);
static void notify(const struct minari_upload_options *o, const char *fmt, ...)
{
    char line[2048];
    va_list args;
    if (!o->notice)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    o->notice(line, o->user);
}

static enum hub_status report_progress(void *user, struct hub_error *err)
{
    const struct push *p = user;
    const struct minari_upload_options *o = p->options;
    const struct minari_progress now = {.id = o->id,
                                        .phase = p->publishes     ? MINARI_PHASE_PUBLISH
                                                 : p->send.checks ? MINARI_PHASE_CHECK
                                                                  : MINARI_PHASE_TRANSFER,
                                        .bytes_done =
                                            p->send.checks ? p->send.bytes_hashed : p->send.bytes_done,
                                        .bytes_total = p->folder.files.bytes,
                                        .bytes_kept = p->bytes_kept,
                                        .files_done = p->send.files_done,
                                        .files_total = p->folder.files.count};
    return o->progress && o->progress(&now, o->user)
               ? hub_fail(err, HUB_CANCELLED, "interrupted; the draft keeps what came")
               : HUB_OK;
}

/* ---- what the draft has, or what it takes the place of ---- */

/* A file that is there. */
struct there {
    const char *path, *sha256; /* sha256 in hex; NULL: not known, or not all of it is there */
    uint64_t size, offset;
};

static uint32_t find_file(const struct push *p, const char *path)
{
    const struct hub_remote_files *files = &p->folder.files;
    const struct hub_file_facts *found =
        bsearch(&path, files->items, files->count, sizeof *files->items, hub_by_text);
    return found ? (uint32_t)(found - files->items) : UINT32_MAX;
}

/* What the folder does not have leaves the draft. */
static enum hub_status remove_file(struct push *p, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB), rest = HUB_BUF_INIT(64 * KIB);
    p->files_removed++;
    notify(p->options, "%s: '%s' is not in the folder any more, and %s", p->options->id, path,
           p->options->dry_run ? "would be left out" : "leaves the draft");
    if (p->options->dry_run)
        return HUB_OK;
    HUB_TRY(hub_draft_file_rest(path, &rest, err));
    HUB_TRY(hub_draft_url(&p->client->remote, p->draft.name, rest.data, &url, err));
    return hub_draft_delete(p->client, url.data, err);
}

static enum hub_status compare(struct push *p, const struct there *there, struct hub_error *err)
{
    const uint32_t file = find_file(p, there->path);
    if (file == UINT32_MAX)
        return remove_file(p, there->path, err);
    struct hub_sent_file *state = &p->states[file];
    if (state->there)
        return HUB_OK;
    if (there->size != p->folder.files.items[file].size)
        return HUB_OK;
    if (there->sha256 && hub_unhex(hub_view_of(there->sha256), state->sha256, HUB_SHA256_BYTES))
        HUB_TRY(hub_send_compare(&p->send, file, state->sha256, &state->there, err));
    else if (!there->sha256 && there->offset < there->size)
        state->offset = there->offset;
    return HUB_OK;
}

static void count_kept(struct push *p)
{
    for (uint32_t i = 0; i < p->folder.files.count; i++) {
        p->files_kept += p->states[i].there;
        p->bytes_kept += p->states[i].there ? p->folder.files.items[i].size : p->states[i].offset;
    }
}

/* Ask the draft what it has. */
static enum hub_status compare_draft(struct push *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *files = NULL;
    const json_t *item;
    size_t i;
    HUB_TRY(hub_draft_list_files(p->client, p->draft.name, &files, err));
    json_array_foreach(json_object_get(files, "items"), i, item)
    {
        const struct there there = {.path = hub_member_text(item, "path"),
                                    .sha256 = hub_member_text(item, "sha256"),
                                    .size = hub_member_uint(item, "size"),
                                    .offset = hub_member_uint(item, "offset")};
        if (!there.path)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "a file of a draft without a path");
        HUB_TRY(compare(p, &there, err));
    }
    return HUB_OK;
}

/* Of a dry run, which opens no draft: the dataset that is there. */
static enum hub_status compare_base(struct push *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    char hex[2 * HUB_SHA256_BYTES + 1];
    HUB_TRY(hub_remote_list_files(&p->client->remote, p->options->id, NULL, &files, err));
    for (uint32_t i = 0; i < files.count; i++) {
        const struct hub_file_facts *file = &files.items[i];
        hub_hex(file->sha256, HUB_SHA256_BYTES, hex);
        const struct there there = {
            .path = file->path, .sha256 = file->has_sha256 ? hex : NULL, .size = file->size};
        HUB_TRY(compare(p, &there, err));
    }
    return HUB_OK;
}

/* The first of the files that a dry run would send. */
static void name_changed(const struct push *p)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < p->folder.files.count; i++)
        if (!p->states[i].there && count++ < MOST_NAMED)
            notify(p->options, "%s: '%s' would be sent", p->options->id, p->folder.files.items[i].path);
    if (count > MOST_NAMED)
        notify(p->options, "%s: and %llu other files", p->options->id,
               (unsigned long long)(count - MOST_NAMED));
}

/* Whether the id is free, by asking for it alone. */
static enum hub_status check_free(struct push *p, struct hub_error *err)
{
    struct minari_dataset *dataset = NULL;
    struct hub_error why = {0};
    const enum hub_status st = hub_client_get_dataset(p->client, p->options->id, NULL, &dataset, &why);
    const bool same = !st && strcmp(minari_dataset_summary(dataset)->id, p->options->id) == 0;
    minari_dataset_free(dataset);
    if (same)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                           p->options->base ? "'%.200s' exists already, and was not published by its hub: "
                                              "choose the next version"
                                            : "'%.200s' exists already: choose the next version, or say that "
                                              "it takes the place of what is there",
                           p->options->id);
    return !st || st == HUB_NOT_FOUND ? HUB_OK : hub_pass(st, &why, err);
}

/* ---- the draft ---- */

/* The commit of the dataset, where it is "current", or where nobody else compares it. */
static enum hub_status find_base(struct push *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *current = NULL;
    const char *base = p->options->base;
    const bool is_current = base && strcmp(base, "current") == 0;
    if (!base)
        return HUB_OK;
    if (is_current || p->options->dry_run)
        HUB_TRY(hub_revision_find_current(p->client, p->options->id, &current, err));
    if (!is_current && p->options->dry_run && (!current || !hub_view_starts(hub_view_of(current), base)))
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
                           "the commit of '%.200s' is now %s, and not %.64s", p->options->id,
                           current ? current : "none", base);
    if (current || !is_current)
        return hub_dup(&p->base, current ? current : base, err);
    return HUB_OK;
}

static enum hub_status open_draft(struct push *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_open_draft_dispose) struct hub_open_draft stale = {0};
    char key[HUB_PUSH_KEY + 1];
    hub_push_key(p->options->path, key);
    HUB_TRY(hub_draft_find_open(p->client, p->options->id, p->base, key, &p->draft, &stale, err));
    p->goes_on = p->draft.name;
    if (!p->goes_on && stale.name && p->base)
        notify(p->options, "%s: draft %s was begun when another commit was there: it ends by itself",
               p->options->id, stale.name);
    const struct hub_draft_wish wish = {
        .id = p->options->id, .base = p->base, .key = key, .bytes = p->folder.files.bytes};
    if (!p->goes_on && !p->options->dry_run)
        HUB_TRY(hub_draft_make(p->client, &wish, &p->draft, err));
    p->send.draft = p->draft.name;
    return HUB_OK;
}

static enum hub_status begin(struct push *p, struct hub_error *err)
{
    HUB_TRY(find_base(p, err));
    HUB_TRY(open_draft(p, err));
    if (!p->draft.name)
        HUB_TRY(p->base ? compare_base(p, err) : check_free(p, err));
    else if (p->goes_on || p->base)
        HUB_TRY(compare_draft(p, err));
    count_kept(p);
    if (p->options->base && !p->base)
        notify(p->options, "%s: nothing is there to take the place of: it becomes a new dataset",
               p->options->id);
    if (p->goes_on && (p->bytes_kept || p->files_kept))
        notify(p->options, "%s: going on with draft %s", p->options->id, p->draft.name);
    return HUB_OK;
}

/* The dataset has these files already. What an earlier call sent into the draft is not known to be its. */
static bool is_unchanged(const struct push *p)
{
    return p->base && !p->goes_on && !p->files_removed && p->files_kept == p->folder.files.count;
}

/* ---- publishing ---- */

static void hand_out_problems(const struct push *p, const json_t *answer)
{
    const json_t *item;
    size_t i;
    if (!p->options->problem)
        return;
    json_array_foreach(json_object_get(answer, "problems"), i, item)
    {
        const struct minari_problem problem = {.code = hub_member_text(item, "code"),
                                               .path = hub_member_text(item, "path"),
                                               .detail = hub_member_text(item, "detail")};
        if (problem.code && problem.detail)
            p->options->problem(&problem, p->options->user);
    }
}

static void report_done(const struct push *p, const json_t *answer, uint64_t began_ms)
{
    const bool unchanged = is_unchanged(p);
    const char *commit = hub_member_text(answer, "commit"), *base = p->draft.base ? p->draft.base : p->base;
    const struct minari_upload done = {.id = p->options->id,
                                       .draft = unchanged ? NULL : p->draft.name,
                                       .commit = unchanged ? base : commit,
                                       .content = hub_member_text(answer, "content"),
                                       .format = hub_member_text(answer, "format"),
                                       .files = p->folder.files.count,
                                       .bytes = p->folder.files.bytes,
                                       .files_kept = p->files_kept,
                                       .bytes_kept = p->bytes_kept,
                                       .milliseconds = hub_time_mono_ms() - began_ms,
                                       .planned = p->options->dry_run,
                                       .base = base,
                                       .files_removed = p->files_removed,
                                       .unchanged = unchanged};
    if (p->options->done)
        p->options->done(&done, p->options->user);
}

static enum hub_status publish(struct push *p, uint64_t began_ms, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    const struct hub_drive drive = {.tick = report_progress, .user = p};
    p->publishes = true;
    const enum hub_status st = hub_draft_commit_it(p->client, p->draft.name, p->options->allow,
                                                   p->options->message, &drive, &answer, err);
    hand_out_problems(p, answer);
    if (!st && hub_member_text(answer, "listed"))
        notify(p->options, "%s: %s", p->options->id, hub_member_text(answer, "listed"));
    if (!st)
        report_done(p, answer, began_ms);
    return st;
}

/* ---- all of it ---- */

/* As one tar first; what of it did not come goes file by file, as all else does. */
static enum hub_status send_tar(struct push *p, struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_send_tar(&p->send, &why);
    if (st && st != HUB_IO && st != HUB_BUSY && st != HUB_TIMEOUT)
        return hub_pass(st, &why, err);
    if (st)
        notify(p->options, "%s: the tar broke off, the rest is sent file by file: %s", p->options->id,
               why.detail);
    return compare_draft(p, err);
}

static void note_namespace(void *user, const char *line)
{
    const struct push *p = user;
    notify(p->options, "%s: %s", p->options->id, line);
}

static enum hub_status list(struct push *p, struct hub_error *err)
{
    char hidden[1200];
    HUB_TRY(hub_folder_open(p->options->path, &p->folder, err));
    hub_remote_files_name_left_out(&p->folder.files, hidden, sizeof hidden);
    if (*hidden)
        notify(p->options, "%s: hidden names are left out: %s", p->options->id, hidden);
    return hub_new(&p->states, p->folder.files.count, sizeof *p->states, err);
}

static enum hub_status run(struct push *p, struct hub_error *err)
{
    const uint64_t began_ms = hub_time_mono_ms();
    HUB_TRY(list(p, err));
    p->send = (struct hub_send){.client = p->client,
                                .folder = &p->folder,
                                .states = p->states,
                                .connections = p->options->connections ? p->options->connections : 4,
                                .tick = report_progress,
                                .user = p};
    HUB_TRY(begin(p, err));
    if (is_unchanged(p) && !p->options->dry_run)
        HUB_TRY(hub_draft_give_up(p->client, p->draft.name, err));
    if (p->options->dry_run && p->base)
        name_changed(p);
    if (is_unchanged(p) || p->options->dry_run) {
        report_done(p, NULL, began_ms);
        return HUB_OK;
    }
    if (p->options->tar)
        HUB_TRY(send_tar(p, err));
    HUB_TRY(hub_send_all(&p->send, err));
    if (p->send.again)
        notify(p->options, "%s: %u file%s sent again: another digest arrived", p->options->id, p->send.again,
               p->send.again == 1 ? " was" : "s were");
    hub_namespaces_carry(p->client, p->options->path, p->options->id, note_namespace, p);
    return publish(p, began_ms, err);
}

static enum hub_status check(const struct minari_client *client, const struct minari_upload_options *o,
                             struct hub_error *err)
{
    if (!client || !o->path || !*o->path || !o->id || !*o->id)
        return hub_fail(err, HUB_INVALID, "a client, the path of a folder and an id are needed");
    if (o->allow && strcmp(o->allow, "broken") != 0 && strcmp(o->allow, "files") != 0)
        return hub_fail(err, HUB_INVALID, "'%.40s' cannot be allowed: broken or files can", o->allow);
    if (o->base && strcmp(o->base, "current") != 0 && !hub_is_commit(o->base))
        return hub_fail(err, HUB_INVALID,
                        "'%.64s' is not a commit: give 7 or more of its 40 hex digits, or \"current\"",
                        o->base);
    return hub_id_check(hub_view_of(o->id), err);
}

enum minari_status minari_dataset_upload(struct minari_client *client,
                                         const struct minari_upload_options *options,
                                         struct minari_error *err)
{
    HUB_CLEANUP(push_dispose) struct push p = {.client = client, .folder = HUB_FOLDER_INIT};
    struct hub_error error = {0};
    struct minari_upload_options own;
    HUB_OPTIONS_COPY(own, options);
    p.options = &own;
    enum hub_status st = check(client, &own, &error);
    if (!st)
        st = run(&p, &error);
    return hub_client_report(st, &error, err);
}
