/* Commits of a dataset: the list of them, and the deletion of the dataset, which is one. */

#include "server/api/drafts/base.h"
#include "server/api/drafts/keep.h"
#include "server/api/handlers.h"
#include "server/api/put.h"
#include "server/api/visible.h"
#include "server/log/log.h"

enum { LIST_BYTES = 16 * MIB };

/* ---- the list ---- */

static enum hub_status write_commit(void *user, const struct hub_commit *commit, struct hub_error *err)
{
    struct hub_json *json = user;
    (void)err;
    const bool there = !commit->ended_ms && commit->kind != HUB_COMMIT_DELETE;
    hub_json_object(json);
    hub_json_put_text(json, "commit", commit->id);
    hub_put_if_set(json, "parent", commit->parent);
    hub_json_put_text(json, "kind", hub_commit_kinds[commit->kind]);
    hub_put_if_set(json, "content", commit->tree);
    hub_put_time(json, "at", commit->at_ms * 1000000);
    hub_json_put_text(json, "who", commit->who);
    hub_put_if_set(json, "message", commit->message);
    hub_json_put_uint(json, "files", commit->files);
    hub_json_put_uint(json, "bytes", commit->bytes);
    hub_json_put_text(json, "state", there ? "current" : commit->kept ? "kept" : "removed");
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status none(struct hub_request *request, struct hub_view id, struct hub_error *err)
{
    HUB_TRY(hub_request_absent(request, id, err));
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "id", id.data,
                          "no dataset '%.200s' was published by this hub", id.data);
}

enum hub_status hub_revisions_list(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    const struct hub_view id = hub_request_capture(request, "id");
    if (!request->may_block)
        return HUB_AGAIN;
    const enum hub_status st = hub_request_commits_readable(request, id, err);
    if (st)
        return st == HUB_NOT_FOUND ? none(request, id, err) : st;
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", LIST_BYTES), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "id", id.data);
    hub_json_put_array(&json, "items");
    HUB_TRY(hub_commits_each(request->app->truth, id.data, write_commit, &json, err));
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

/* ---- deletion ---- */

enum hub_status hub_owned_head(struct hub_request *request, struct hub_view id, struct hub_commit *out,
                               struct hub_error *err)
{
    const enum hub_status st = hub_commit_head(request->app->truth, id.data, out, err);
    const bool gone = st == HUB_NOT_FOUND || (!st && out->kind == HUB_COMMIT_DELETE);
    if (!gone)
        return st;
    hub_await_head(request->app, id.data);
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *all = hub_request_snapshot(request);
    if (!hub_snapshot_find(all, id))
        return none(request, id, err);
    return hub_fail_as(
        err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
        "'%.200s' was not published by this hub: whoever put its files there removes them, or an "
        "admin runs `minari-hub adopt %.200s` first",
        id.data, id.data);
}

enum hub_status hub_dataset_delete(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "deleted", NULL};
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    const struct hub_view id = hub_request_capture(request, "id");
    char who[HUB_WRITER_CHARS];
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_request_may_write(request, id, err));
    HUB_TRY(hub_owned_head(request, id, &head, err));
    hub_request_writer(request, who);
    HUB_TRY(hub_delete_commit(request->app, &head, who, err));
    hub_log_event(request->app->log, &event, "%s by %s: its files are kept as %s@%.7s", id.data, who, id.data,
                  head.id);
    hub_await_listing(request->app, id.data, false);
    response->status = 204;
    return HUB_OK;
}
