/* PATCH of a dataset: see rename.h. hub.db has the new id first; the files follow, now or at the next
 * start. */
#include "server/api/drafts/rename.h"

#include "server/api/drafts/base.h"
#include "server/api/drafts/draft.h"
#include "server/api/drafts/keep.h"
#include "server/api/drafts/listed.h"
#include "server/api/handlers.h"
#include "server/log/log.h"
#include "storage/drafts/kept.h"
#include "storage/ids/id.h"
#include "storage/ids/kept.h"
#include "storage/truth/aliases.h"
#include "storage/truth/digests.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- files ---- */

struct moving {
    struct hub_app *app;
    const char *root;
    const struct hub_move *move;
};

/* Else they are computed once more. */
static void move_digests(const struct moving *m, const char *from, const char *to)
{
    (void)!hub_digests_move(m->app->truth, m->move->root, &(struct hub_digest_move){from, to}, NULL, 0, NULL);
}

static enum hub_status move_kept(void *user, const struct hub_commit *commit, struct hub_error *err)
{
    const struct moving *m = user;
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf from = HUB_BUF_INIT(2 * PATH_MAX), to = HUB_BUF_INIT(2 * PATH_MAX);
    if (!commit->kept)
        return HUB_OK;
    const bool there = !hub_kept_find(m->root, m->move->from, commit->id, &from, NULL);
    HUB_TRY(hub_kept_rename(m->root, m->move->from, m->move->to, commit->id, err));
    if (there && !hub_kept_find(m->root, m->move->to, commit->id, &to, NULL))
        move_digests(m, from.data, to.data);
    return HUB_OK;
}

/* Each step that was done already is fine. */
static enum hub_status move_files(struct hub_app *app, const struct hub_move *move, struct hub_error *err)
{
    if (move->root >= app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING,
                           "the root of '%.200s' is not served any more", move->dataset);
    struct moving m = {app, app->roots->roots[move->root].path, move};
    HUB_TRY(hub_dataset_move(m.root, move->from, move->to, move->dataset, err));
    move_digests(&m, move->from, move->to);
    HUB_TRY(hub_commits_each(app->truth, move->dataset, move_kept, &m, err));
    HUB_TRY(hub_move_done(app->truth, move->number, err));
    hub_scanner_look(app->scanner, move->root, move->from);
    hub_scanner_look(app->scanner, move->root, move->to);
    hub_scanner_look(app->scanner, move->root, ".minari-hub/" HUB_KEPT);
    return HUB_OK;
}

static enum hub_status go_on(void *user, const struct hub_move *move, struct hub_error *err)
{
    (void)err;
    (void)!move_files(user, move, NULL);
    return HUB_OK;
}

void hub_renames_recover(struct hub_app *app)
{
    (void)!hub_moves_each(app->truth, go_on, app, NULL);
}

/* ---- the request ---- */

static enum hub_status read_id(const struct hub_request *request, json_t **body, const char **id,
                               struct hub_error *err)
{
    struct hub_error why = {0};
    if (hub_json_parse(request->body, request->body.size, body, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    *id = json_string_value(json_object_get(*body, "id"));
    if (!*id || json_object_size(*body) != 1)
        return hub_fail(err, HUB_INVALID, "the body is {\"id\": \"lab/arm-v1\"}, the new id");
    return hub_id_check(hub_view_of(*id), err);
}

/* It stays in its root: the new id is one of that. */
static enum hub_status find_place(struct hub_app *app, const struct hub_commit *head, const char *id,
                                  struct hub_move *move, struct hub_error *err)
{
    struct hub_draft_row row = {.dataset = (char *)id};
    const char *path;
    HUB_TRY(hub_draft_choose_root(app->roots, id, &row.root, &path, err));
    if (row.root != head->root)
        return hub_fail(
            err, HUB_INVALID,
            "'%.200s' belongs to another root than '%.200s': a dataset is renamed within its root", id,
            head->dataset);
    HUB_TRY(hub_draft_name_check(id, err));
    HUB_TRY(hub_head_check(app, head, err));
    HUB_TRY(hub_place_check(app->roots->roots[head->root].path, path, err));
    *move = (struct hub_move){.dataset = id, .root = head->root, .from = head->path, .to = path};
    return hub_draft_check_free(app, &row, err);
}

/* It is listed at neither id from the moment that hub.db has the new one until its files are found there. */
static enum hub_status rename_and_move(struct hub_app *app, const struct hub_commit *head, const char *who,
                                       struct hub_move *move, struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "renamed", NULL};
    struct hub_hold hold;
    hub_scanner_hold(app->scanner, head->root, head->dataset, head->path, &hold);
    enum hub_status st = hub_dataset_rename(app->truth, head, who, move, err);
    const bool renamed = !st;
    if (renamed) {
        hub_log_event(app->log, &event, "%s is %s now, by %s", head->dataset, move->dataset, who);
        hub_scanner_withdraw(app->scanner, &hold);
        st = move_files(app, move, err);
    }
    hub_scanner_release(app->scanner, &hold, renamed);
    return st;
}

enum hub_status hub_rename(struct hub_request *request, const char *id, const char *to, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    struct hub_move place;
    char who[HUB_WRITER_CHARS];
    HUB_TRY(hub_request_may_write(request, hub_view_of(to), err));
    HUB_TRY(hub_owned_head(request, hub_view_of(id), &head, err));
    hub_request_writer(request, who);
    enum hub_status st = find_place(request->app, &head, to, &place, err);
    if (!st)
        st = rename_and_move(request->app, &head, who, &place, err);
    if (st == HUB_EXISTS)
        hub_await_head(request->app, to);
    if (st) {
        const struct hub_draft_row row = {.dataset = (char *)to, .who = who};
        hub_draft_tell_quota(request->app, &row, "", err);
        return st;
    }
    hub_await_listing(request->app, to, true);
    return HUB_OK;
}

enum hub_status hub_dataset_patch(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    const struct hub_view id = hub_request_capture(request, "id");
    const char *to;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_request_may_write(request, id, err));
    HUB_TRY(read_id(request, &body, &to, err));
    HUB_TRY(hub_rename(request, id.data, to, err));
    response->status = 204;
    return hub_response_header(response, err, "Content-Location", "/api/v1/datasets/%s", to);
}
