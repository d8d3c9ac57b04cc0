/* How long the files of earlier commits are kept: see keep.h; and deletion. */
#include "server/api/drafts/keep.h"

#include "server/api/drafts/base.h"

#include "storage/drafts/kept.h"
#include "storage/ids/id.h"
#include "storage/text/time.h"
#include "storage/truth/digests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOVED_MS = 600000, AGAIN_MS = 600000 };
enum { DAY_MS = 24 * 3600 * 1000, MOST_COMMITS = 100000 };

/* Copies of rows: their texts are not needed but for path and dataset. */
struct commits {
    struct hub_commit *rows;
    uint32_t count, capacity;
};

static void commits_dispose(struct commits *commits)
{
    for (uint32_t i = 0; i < commits->count; i++)
        hub_commit_dispose(&commits->rows[i]);
    free(commits->rows);
}

static enum hub_status gather(void *user, const struct hub_commit *row, struct hub_error *err)
{
    struct commits *commits = user;
    if (commits->count == MOST_COMMITS)
        return HUB_OK;
    HUB_TRY(hub_grow(&commits->rows, commits->count, &commits->capacity, sizeof *commits->rows, err));
    struct hub_commit *copy = &commits->rows[commits->count];
    *copy = *row;
    copy->who = copy->message = copy->path = copy->dataset = NULL;
    commits->count++;
    HUB_TRY(hub_dup((char **)&copy->dataset, row->dataset, err));
    return hub_dup((char **)&copy->path, row->path, err);
}

/* ---- what goes ---- */

/* Somebody reads by its name what is kept; who read it before the hub was started last has some minutes to go
 * on. */
static bool was_read(struct hub_app *app, const struct hub_commit *commit, int64_t now_ms)
{
    char id[HUB_MAX_ID + HUB_COMMIT_ID + 2];
    snprintf(id, sizeof id, "%s@%s", commit->dataset, commit->id);
    const struct hub_snapshot *all = hub_catalog_snapshot(app->catalog);
    const struct hub_summary *summary = hub_snapshot_find(all, hub_view_of(id));
    const int64_t read_ms = summary ? hub_summary_read_ms(summary) : 0;
    hub_snapshot_put(all);
    return now_ms - HUB_MAX(read_ms, commit->ended_ms) < DAY_MS || now_ms - app->started_ms < AGAIN_MS;
}

/* Files that somebody removed by hand, or that a backup did not have, are kept no longer. */
static bool is_lost(const struct hub_app *app, const struct hub_commit *commit, int64_t now_ms)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    /* it is moved there after hub.db says so */
    return now_ms - commit->ended_ms > MOVED_MS && commit->root < app->roots->count &&
           hub_kept_find(app->roots->roots[commit->root].path, commit->path, commit->id, &path, NULL) ==
               HUB_NOT_FOUND;
}

static void remove_files(struct hub_app *app, const struct hub_commit *commit)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    const char *root;
    if (commit->root >= app->roots->count)
        return;
    root = app->roots->roots[commit->root].path;
    const bool there = !hub_kept_find(root, commit->path, commit->id, &path, NULL);
    if (hub_kept_remove(root, commit->path, commit->id, NULL) == HUB_OK &&
        hub_commit_keep(app->truth, commit->id, false, NULL) == HUB_OK && there) {
        (void)!hub_digests_move(app->truth, commit->root, &(struct hub_digest_move){path.data, NULL}, NULL, 0,
                                NULL);
        hub_scanner_look(app->scanner, commit->root, path.data);
    }
}

static bool is_over(const struct hub_app *app, const struct hub_commit *head, uint64_t newer, int64_t now_ms)
{
    if (head->kind == HUB_COMMIT_DELETE)
        return now_ms - head->at_ms >= (int64_t)app->keeping.trash_ms;
    return newer >= app->keeping.revisions;
}

void hub_revisions_tidy(struct hub_app *app, const char *dataset)
{
    HUB_CLEANUP(commits_dispose) struct commits commits = {0};
    const int64_t now_ms = hub_time_now_ns() / 1000000;
    uint64_t newer = 0;
    if (hub_commits_each(app->truth, dataset, gather, &commits, NULL))
        return;
    for (uint32_t i = 0; i < commits.count; i++) {
        const struct hub_commit *commit = &commits.rows[i];
        if (!commit->kept)
            continue;
        if (is_lost(app, commit, now_ms)) {
            (void)!hub_commit_keep(app->truth, commit->id, false, NULL);
            continue;
        }
        if (is_over(app, &commits.rows[0], newer, now_ms) &&
            (commits.rows[0].kind == HUB_COMMIT_DELETE || !was_read(app, commit, now_ms)))
            remove_files(app, commit);
        newer++;
    }
}

void hub_revisions_tidy_all(struct hub_app *app, const atomic_bool *stop)
{
    HUB_CLEANUP(commits_dispose) struct commits heads = {0};
    if (hub_commits_heads(app->truth, gather, &heads, NULL))
        return;
    for (uint32_t i = 0; i < heads.count && !atomic_load(stop); i++)
        hub_revisions_tidy(app, heads.rows[i].dataset);
}

/* ---- deletion ---- */

void hub_revisions_look(struct hub_app *app, uint32_t root, const char *path, const char *commit)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf kept = HUB_BUF_INIT(2 * PATH_MAX);
    if (hub_kept_find(app->roots->roots[root].path, path, commit, &kept, NULL) == HUB_OK)
        hub_scanner_look(app->scanner, root, kept.data);
}

/* Files of another commit were put there by hand, unless it is the head by now, or about to be. */
enum hub_status hub_head_check(struct hub_app *app, const struct hub_commit *head, struct hub_error *err)
{
    struct hub_error why = {0};
    HUB_TRY(hub_commit_check_root(app, head, err));
    const enum hub_status st = hub_kept_check(app->roots->roots[head->root].path, head->path, head->id, &why);
    if (st == HUB_EXISTS)
        HUB_TRY(hub_commit_is_at_rest(app->truth, head, err));
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

/* The files of the commit before a deletion; moved already is fine. */
static enum hub_status move_away(struct hub_app *app, const struct hub_commit *was, struct hub_error *err)
{
    if (was->root >= app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING,
                           "the root of '%.200s' is not served any more", was->dataset);
    const char *root = app->roots->roots[was->root].path;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf kept = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(hub_kept_move(root, was->path, was->id, err));
    if (hub_kept_find(root, was->path, was->id, &kept, NULL))
        return HUB_OK;
    (void)!hub_digests_move(app->truth, was->root, &(struct hub_digest_move){was->path, kept.data}, NULL, 0,
                            NULL);
    hub_scanner_look(app->scanner, was->root, kept.data);
    return HUB_OK;
}

enum hub_status hub_delete_commit(struct hub_app *app, const struct hub_commit *head, const char *who,
                                  struct hub_error *err)
{
    struct hub_commit deletion = {.kind = HUB_COMMIT_DELETE,
                                  .dataset = head->dataset,
                                  .who = who,
                                  .message = "",
                                  .root = head->root,
                                  .path = head->path,
                                  .changes = {.known = true, .removed = head->files}};
    struct hub_hold hold;
    memcpy(deletion.parent, head->id, sizeof deletion.parent);
    HUB_TRY(hub_head_check(app, head, err));
    HUB_TRY(hub_commit_name(deletion.id, err));
    hub_scanner_hold(app->scanner, head->root, head->dataset, head->path, &hold);
    enum hub_status st = hub_commit_add(app->truth, &deletion, true, err);
    const bool deleted = !st;
    if (deleted) {
        hub_scanner_withdraw(app->scanner, &hold);
        st = move_away(app, head, err);
    }
    hub_scanner_release(app->scanner, &hold, deleted);
    return st;
}

void hub_revisions_recover(struct hub_app *app)
{
    HUB_CLEANUP(commits_dispose) struct commits heads = {0};
    if (hub_commits_heads(app->truth, gather, &heads, NULL))
        return;
    for (uint32_t i = 0; i < heads.count; i++) {
        HUB_CLEANUP(hub_commit_dispose) struct hub_commit was = {0};
        const struct hub_commit *head = &heads.rows[i];
        if (head->kind == HUB_COMMIT_DELETE && head->root < app->roots->count &&
            hub_commit_named(app->truth, head->dataset, hub_view_of(head->parent), &was, NULL) == HUB_OK)
            (void)!hub_kept_move(app->roots->roots[head->root].path, was.path, was.id, NULL);
    }
}
