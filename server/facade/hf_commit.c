/* A commit that is pushed: its lines are taken as they come, its files are kept as objects, and all of it is
 * one step at the end. */
#include "server/facade/handlers.h"
#include "server/facade/hf_lines.h"
#include "server/facade/hf_push.h"
#include "server/facade/hf_room.h"

#include "server/api/pushes/pushes.h"
#include "storage/deposits/deposit.h"
#include "storage/text/base64.h"
#include "storage/truth/push.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_CHANGES = 500000, VERDICT_MS = 2000, FILE_BYTES = HUB_HF_LINE };

struct incoming_commit {
    struct hub_body_sink sink; /* first */
    struct hub_app *app;
    struct hub_hf_written written;
    struct hub_hf_room room;
    const char *branch;
    struct hub_buf line;       /* that has begun */
    struct hub_hf_line header; /* zeroed: it has not come */
    struct hub_change *changes;
    uint32_t count, capacity;
};

static void free_incoming(struct hub_body_sink *sink)
{
    struct incoming_commit *in = (struct incoming_commit *)sink;
    for (uint32_t i = 0; i < in->count; i++)
        free((char *)in->changes[i].path);
    free(in->changes);
    hub_hf_line_dispose(&in->header);
    hub_buf_dispose(&in->line);
    hub_hf_written_dispose(&in->written);
    free(in);
}

/* ---- lines ---- */

static enum hub_status add_change(struct incoming_commit *in, enum hub_change_kind kind, const char *path,
                                  struct hub_change **out, struct hub_error *err)
{
    if (in->count == MOST_CHANGES)
        return hub_fail(err, HUB_TOO_BIG, "a commit has at most %d changes: push in several", MOST_CHANGES);
    HUB_TRY(hub_grow(&in->changes, in->count, &in->capacity, sizeof *in->changes, err));
    struct hub_change *change = &in->changes[in->count];
    *change = (struct hub_change){.kind = kind, .path = strdup(path)};
    HUB_TRY(hub_allocated(change->path, err));
    in->count++;
    *out = change;
    return HUB_OK;
}

/* What the repo has already takes no room again. */
static enum hub_status check_room(struct incoming_commit *in, const char *path, struct hub_view bytes,
                                  struct hub_error *err)
{
    struct hub_push_file known = {0};
    uint8_t sum[HUB_DIGEST_MAX];
    char what[320];
    if (!in->room.prefix)
        return HUB_OK;
    HUB_TRY(hub_digest_of(HUB_SHA256, bytes, sum, err));
    memcpy(known.sha256, sum, sizeof known.sha256);
    const enum hub_status st = hub_push_object_find(in->app->truth, in->written.row.id, &known, err);
    if (st != HUB_NOT_FOUND)
        return st;
    (void)snprintf(what, sizeof what, "'%.300s'", path);
    return hub_hf_room_take(&in->room, bytes.size, what, err);
}

/* The bytes of a line become an object at once: they lie in memory no longer than the line does. */
static enum hub_status keep_content(struct incoming_commit *in, const struct hub_hf_line *line,
                                    uint8_t *sha256, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(FILE_BYTES);
    HUB_CLEANUP(hub_deposit_abandon) struct hub_deposit deposit = HUB_DEPOSIT_INIT;
    struct hub_deposit_row row;
    HUB_TRY(hub_base64_decode(line->content, &bytes, err));
    HUB_TRY(check_room(in, line->path, hub_buf_view(&bytes), err));
    const struct hub_deposit_order order = {
        .root = in->written.row.root, .git = true, .who = in->written.who, .size = bytes.size};
    HUB_TRY(hub_deposit_begin(in->app->deposits, &order, &deposit, err));
    HUB_TRY(hub_deposit_write(&deposit, hub_buf_view(&bytes), err));
    HUB_TRY(hub_deposit_finish(&deposit, NULL, &row, err));
    memcpy(sha256, row.sha256, sizeof row.sha256);
    return HUB_OK;
}

static enum hub_status take_put(struct incoming_commit *in, const struct hub_hf_line *line,
                                struct hub_error *err)
{
    struct hub_change *change;
    uint8_t sha256[HUB_SHA256_BYTES];
    const bool lfs = line->kind == HUB_HF_LFS_FILE;
    if (hub_hf_is_ignored(hub_view_of(line->path)))
        return HUB_OK; /* as `shouldIgnore` said */
    HUB_TRY(hub_draft_path_check(hub_view_of(line->path), err));
    memcpy(sha256, line->sha256, sizeof sha256);
    if (!lfs)
        HUB_TRY(keep_content(in, line, sha256, err));
    HUB_TRY(add_change(in, HUB_CHANGE_PUT, line->path, &change, err));
    memcpy(change->sha256, sha256, sizeof change->sha256);
    change->lfs = lfs;
    return HUB_OK;
}

/* The first line is the header, which the order keeps. */
static enum hub_status take_line(struct incoming_commit *in, struct hub_view text, struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_line_dispose) struct hub_hf_line line = {0};
    struct hub_change *change;
    HUB_TRY(hub_hf_line_read(text, &line, err));
    switch (line.kind) {
    case HUB_HF_HEADER:
        hub_hf_line_dispose(&in->header);
        in->header = line;
        line = (struct hub_hf_line){0};
        return HUB_OK;
    case HUB_HF_FILE:
    case HUB_HF_LFS_FILE:
        return take_put(in, &line, err);
    case HUB_HF_DELETED_FILE:
        return add_change(in, HUB_CHANGE_DELETE, line.path, &change, err);
    case HUB_HF_DELETED_FOLDER:
        return add_change(in, HUB_CHANGE_EMPTY, line.path, &change, err);
    case HUB_HF_NOTHING:
        break;
    }
    return HUB_OK;
}

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    struct incoming_commit *in = (struct incoming_commit *)sink;
    for (const char *end; (end = memchr(bytes.data, '\n', bytes.size));) {
        const size_t size = (size_t)(end - bytes.data);
        HUB_TRY(hub_buf_add(&in->line, bytes.data, size, err));
        HUB_TRY(take_line(in, hub_buf_view(&in->line), err));
        in->line.size = 0;
        bytes = (struct hub_view){end + 1, bytes.size - size - 1};
    }
    return hub_buf_add_view(&in->line, bytes, err);
}

/* ---- the request ---- */

/* In the query of a route that takes whatever clients add there. */
static bool wants_pull_request(const struct hub_request *request)
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "create_pr") && hub_view_is(request->query[i].value, "1"))
            return true;
    return false;
}

static enum hub_status open_commit(struct hub_request *request, struct incoming_commit *in,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push head = {0};
    HUB_TRY(hub_hf_written_open(request, &in->written, err));
    HUB_TRY(hub_hf_branch(request, &in->branch, err));
    if (wants_pull_request(request))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                           "This hub has no pull requests: commit to a branch");
    HUB_TRY(hub_hf_room_find(request->app->truth, in->written.row.id, &in->room, err));
    return hub_push_named(request->app->truth, in->written.row.id, hub_view_of(in->branch), &head, err);
}

enum hub_status hub_hf_commit_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                   struct hub_error *err)
{
    struct incoming_commit *in;
    (void)size;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct incoming_commit){
        .sink = {take, free_incoming}, .app = request->app, .line = HUB_BUF_INIT(HUB_HF_LINE)};
    const enum hub_status st = open_commit(request, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

static enum hub_status add_push(const struct hub_request *request, struct incoming_commit *in,
                                struct hub_push *out, struct hub_error *err)
{
    const struct hub_push_order order = {.repo = in->written.row.id,
                                         .branch = in->branch,
                                         .who = in->written.who,
                                         .title = in->header.title,
                                         .message = in->header.message,
                                         .parent = in->header.parent,
                                         .changes = in->changes,
                                         .count = in->count,
                                         .root = in->written.row.root,
                                         .sharing = hub_hf_sharing(request)};
    HUB_TRY(hub_object_files_sync(in->app->deposits, in->written.row.root, err));
    HUB_TRY(hub_push_add(in->app->truth, &order, out, err));
    hub_pushes_wake(in->app->pushes);
    return strcmp(in->branch, "main") == 0 ? hub_push_await(in->app, in->written.row.id, VERDICT_MS, out, err)
                                           : HUB_OK;
}

static enum hub_status answer(const struct hub_request *request, const struct hub_push *push,
                              struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_buf_addf(&url, err, "%s/datasets/%s/%s/commit/%s", hub_base_url(request),
                         hub_request_capture(request, "org").data, hub_request_capture(request, "name").data,
                         push->id));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 32 * KIB), err);
    hub_json_object(&json);
    hub_json_put_bool(&json, "success", true);
    hub_json_put_text(&json, "commitOid", push->id);
    hub_json_put_text(&json, "commitUrl", url.data);
    hub_json_put_text(&json, "hookOutput", "");
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_hf_commit_done(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0};
    struct incoming_commit *in = (struct incoming_commit *)request->sink;
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    if (in->line.size) /* no line feed behind the last one */
        HUB_TRY(take_line(in, hub_buf_view(&in->line), err));
    in->line.size = 0;
    if (!in->header.document)
        return hub_fail(err, HUB_INVALID, "the commit has no line \"header\"");
    HUB_TRY(add_push(request, in, &push, err));
    HUB_TRY(hub_hf_warn(response, &in->written.row, &push, err));
    return answer(request, &push, response, err);
}
