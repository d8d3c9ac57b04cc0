/* See base.h. */
#include "server/api/drafts/base.h"

#include "server/api/drafts/listed.h"
#include "server/api/visible.h"
#include "storage/drafts/kept.h"

#include <stdlib.h>

/* ---- what it takes the place of ---- */

static enum hub_status listed_revision(const struct hub_app *app, const char *id, const char *revision,
                                       bool *same)
{
    const struct hub_snapshot *all = hub_catalog_snapshot(app->catalog);
    const struct hub_summary *summary = hub_snapshot_find(all, hub_view_of(id));
    *same = summary && *summary->revision && strcmp(summary->revision, revision) == 0;
    hub_snapshot_put(all);
    return HUB_OK;
}

/* Whether the name that the request has for its base means the head. */
static enum hub_status is_head(const struct hub_app *app, const struct hub_commit *head, const char *base,
                               bool *same, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit named = {0};
    const enum hub_status st = hub_commit_named(app->truth, head->dataset, hub_view_of(base), &named, err);
    if (st == HUB_NOT_FOUND) /* a revision means the newest commit with that tree */
        return listed_revision(app, head->dataset, base, same);
    *same = !st && strcmp(named.id, head->id) == 0;
    return st;
}

static enum hub_status conflict(const char *id, const char *now, const char *base, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
        "the commit of '%.200s' is now %s, and not %.64s: look at what changed, and begin again "
        "with this one as `base`",
        id, now, base);
}

enum hub_status hub_commit_check_root(const struct hub_app *app, const struct hub_commit *commit,
                                      struct hub_error *err)
{
    if (commit->root >= app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING,
                           "the root of '%.200s' is not served any more: serve it again with --root",
                           commit->dataset);
    return app->roots->roots[commit->root].read_only
               ? hub_fail(err, HUB_DENIED, "the root of '%.200s' is read-only in the configuration (:ro)",
                          commit->dataset)
               : HUB_OK;
}

static enum hub_status take_head(const struct hub_app *app, const struct hub_commit *head,
                                 struct hub_draft_row *row, struct hub_error *err)
{
    HUB_TRY(hub_commit_check_root(app, head, err));
    memcpy(row->base, head->id, sizeof row->base);
    row->root = head->root;
    free(row->path);
    return hub_dup(&row->path, head->path, err);
}

static enum hub_status find_base(const struct hub_request *request, const char *base,
                                 struct hub_draft_row *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    bool same = false;
    const enum hub_status st = hub_commit_head(request->app->truth, row->dataset, &head, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    const bool there = !st && head.kind != HUB_COMMIT_DELETE;
    if (!base)
        return there
                   ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                                 "'%.200s' exists already: choose the next version, or name its commit %s as "
                                 "`base` to take its place",
                                 row->dataset, head.id)
                   : HUB_OK;
    if (!there)
        return hub_fail_as(
            err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
            "'%.200s' has no commit now: it was deleted or renamed, or was not published by this "
            "hub; begin again without `base`, or have an admin run `minari-hub adopt %.200s` where it is "
            "there",
            row->dataset, row->dataset);
    HUB_TRY(is_head(request->app, &head, base, &same, err));
    return same ? take_head(request->app, &head, row, err) : conflict(row->dataset, head.id, base, err);
}

enum hub_status hub_draft_find_base(const struct hub_request *request, const char *base,
                                    struct hub_draft_row *row, struct hub_error *err)
{
    const enum hub_status st = find_base(request, base, row, err);
    if (st || !base)
        hub_await_head(request->app, row->dataset);
    return st;
}

/* ---- whose files it begins with ---- */

enum hub_status hub_request_commits_readable(const struct hub_request *request, struct hub_view id,
                                             struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    if (!hub_request_may_read(request, id))
        return hub_fail(err, HUB_NOT_FOUND, "'%.200s' has no commit", id.data);
    HUB_TRY(hub_commit_head(request->app->truth, id.data, &head, err));
    return head.kind != HUB_COMMIT_DELETE || hub_request_level(request, id) >= HUB_LEVEL_WRITE
               ? HUB_OK
               : hub_fail(err, HUB_NOT_FOUND, "'%.200s' was deleted", id.data);
}

static enum hub_status none(const char *name, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_NOT_FOUND,
                       "there is no commit '%.300s' that was published here", name);
}

enum hub_status hub_commit_of(const struct hub_request *request, const char *name, struct hub_commit *out,
                              struct hub_error *err)
{
    const char *at = strrchr(name, '@');
    const size_t digits = at ? strspn(at + 1, "0123456789abcdef") : 0;
    const bool has_commit = at && digits >= 7 && at[1 + digits] == '\0';
    HUB_CLEANUP(hub_freep) char *id = strndup(name, has_commit ? (size_t)(at - name) : strlen(name));
    HUB_TRY(hub_allocated(id, err));
    enum hub_status st = hub_request_commits_readable(request, hub_view_of(id), err);
    if (!st)
        st = has_commit ? hub_commit_named(request->app->truth, id, hub_view_of(at + 1), out, err)
                        : hub_commit_head(request->app->truth, id, out, err);
    return st == HUB_NOT_FOUND ? none(name, err) : st;
}

/* Where its files lie, below the root. */
static enum hub_status find_files(const struct hub_app *app, const struct hub_commit *commit,
                                  struct hub_buf *out, struct hub_error *err)
{
    if (!commit->ended_ms && commit->kind != HUB_COMMIT_DELETE)
        return hub_buf_add_text(out, commit->path, err);
    return hub_kept_find(app->roots->roots[commit->root].path, commit->path, commit->id, out, err);
}

struct beginning {
    const struct hub_app *app;
    struct hub_draft_file *files;
    uint32_t count, capacity;
};

static enum hub_status add_file(void *user, const struct hub_file_facts *file, struct hub_error *err)
{
    struct beginning *b = user;
    HUB_TRY(hub_grow(&b->files, b->count, &b->capacity, sizeof *b->files, err));
    struct hub_draft_file *added = &b->files[b->count];
    *added = (struct hub_draft_file){.path = strdup(file->path), .size = file->size, .complete = true};
    memcpy(added->sha256, file->sha256, sizeof added->sha256);
    HUB_TRY(hub_allocated(added->path, err));
    b->count++;
    return HUB_OK;
}

static void beginning_dispose(struct beginning *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        free((char *)b->files[i].path);
    free(b->files);
}

enum hub_status hub_draft_begin_from(const struct hub_request *request, const char *from,
                                     const struct hub_draft_row *row, const struct hub_draft_folder *draft,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit commit = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf directory = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_CLEANUP(beginning_dispose) struct beginning files = {.app = request->app};
    HUB_TRY(hub_commit_of(request, from, &commit, err));
    if (commit.root != row->root || commit.root >= request->app->roots->count)
        return hub_fail(err, HUB_INVALID,
                        "'%.300s' lies in another root than the draft: its files cannot be "
                        "shared",
                        from);
    HUB_TRY(find_files(request->app, &commit, &directory, err));
    HUB_TRY(hub_draft_begin_with(draft, directory.data, add_file, &files, err));
    return hub_draft_files_take(request->app->truth, row->id, files.files, files.count, err);
}
