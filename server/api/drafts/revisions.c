/* Commits of a dataset: the list of them, and the deletion of the dataset, which is one. */

#include "server/api/cursor.h"
#include "server/api/drafts/base.h"
#include "server/api/drafts/keep.h"
#include "server/api/drafts/listed.h"
#include "server/api/handlers.h"
#include "server/api/put.h"
#include "server/api/visible.h"
#include "server/log/log.h"

#include <stdio.h>

enum { LIST_BYTES = 16 * MIB };

/* ---- the list ---- */

struct revisions {
    const struct hub_page_query *page;
    struct hub_json json;
    uint32_t first, at; /* of the page; the next one */
    bool found;         /* the commit that the cursor stands at */
    struct hub_page_ends ends;
};

/* How many there are, and where the cursor stands. */
static enum hub_status count(void *user, const struct hub_commit *commit, struct hub_error *err)
{
    struct revisions *l = user;
    (void)err;
    if (l->page->goes_on && strcmp(commit->id, l->page->after.key) == 0) {
        l->found = true;
        l->first = (uint32_t)l->ends.total + !l->page->after.back;
    }
    l->ends.total++;
    return HUB_OK;
}

static enum hub_status find_page(struct hub_request *request, struct hub_view id, struct revisions *l,
                                 struct hub_error *err)
{
    HUB_TRY(hub_commits_each(request->app->truth, id.data, count, l, err));
    if (l->page->goes_on && !l->found)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_CURSOR, "cursor", l->page->after.key,
                              "this cursor was made for another dataset; start again without one");
    l->first = hub_page_first(l->page, l->first);
    return HUB_OK;
}

/* Left out where it is not known. */
static void write_changes(struct hub_json *json, const struct hub_commit *commit)
{
    if (commit->changes.known) {
        hub_json_put_object(json, "changes");
        hub_json_put_uint(json, "added", commit->changes.added);
        hub_json_put_uint(json, "changed", commit->changes.changed);
        hub_json_put_uint(json, "removed", commit->changes.removed);
        hub_json_end_object(json);
    }
    if (commit->episodes >= 0)
        hub_json_put_int(json, "episodes", commit->episodes);
    if (commit->parent_episodes >= 0)
        hub_json_put_int(json, "episodes_before", commit->parent_episodes);
}

static void write_commit(struct hub_json *json, const struct hub_commit *commit)
{
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
    write_changes(json, commit);
    hub_json_put_text(json, "state", there ? "current" : commit->kept ? "kept" : "removed");
    hub_json_end_object(json);
}

static enum hub_status put(void *user, const struct hub_commit *commit, struct hub_error *err)
{
    struct revisions *l = user;
    const uint32_t at = l->at++;
    (void)err;
    if (at < l->first || at - l->first >= l->page->limit)
        return HUB_OK;
    write_commit(&l->json, commit);
    if (at == l->first)
        snprintf(l->ends.prev.key, sizeof l->ends.prev.key, "%s", commit->id);
    snprintf(l->ends.next.key, sizeof l->ends.next.key, "%s", commit->id);
    return hub_json_status(&l->json);
}

static enum hub_status write_page(struct hub_request *request, struct hub_view id,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf more = HUB_BUF_INIT(KIB);
    struct revisions l = {.page = page};
    struct hub_json members = hub_json_to(&more, err);
    hub_json_put_text(&members, "id", id.data);
    HUB_TRY(hub_json_status(&members));
    HUB_TRY(find_page(request, id, &l, err));
    l.json = hub_page_begin(page, response, LIST_BYTES, err);
    HUB_TRY(hub_commits_each(request->app->truth, id.data, put, &l, err));
    hub_page_span(&l.ends, l.first, HUB_MIN(l.at, l.first + page->limit));
    l.ends.more = more;
    HUB_TRY(hub_page_close(request, page, response, &l.json, &l.ends, err));
    return hub_response_header(response, err, "Cache-Control", "no-store");
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
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, &page, err));
    if (!request->may_block)
        return HUB_AGAIN;
    const enum hub_status st = hub_request_commits_readable(request, id, err);
    if (st)
        return st == HUB_NOT_FOUND ? none(request, id, err) : st;
    return write_page(request, id, &page, response, err);
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
    response->status = 204;
    return HUB_OK;
}
