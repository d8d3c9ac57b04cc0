/* See adopt.h. */
#include "server/api/pushes/adopt.h"

#include "server/api/drafts/base.h"
#include "storage/deposits/deposit.h"
#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/transfer/record.h"
#include "storage/truth/push.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum hub_status hub_repo_is_current(const struct hub_app *app, const struct hub_repo_row *repo, bool *out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0}, main = {0};
    *out = true;
    const enum hub_status st = hub_commit_head(app->truth, repo->id, &head, NULL);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK
                                   : hub_fail(err, st, "the commits of '%.200s' cannot be read", repo->id);
    if (hub_push_named(app->truth, repo->id, hub_view_of(head.id), &push, NULL) == HUB_OK)
        return HUB_OK; /* it came of one */
    HUB_TRY(hub_push_named(app->truth, repo->id, HUB_VIEW("main"), &main, err));
    *out = head.at_ms < main.at_ms;
    return HUB_OK;
}

/* ---- its files ---- */

struct adopting {
    const struct hub_app *app;
    const char *id, *who, *shown;
    struct hub_commit *heads; /* of its datasets; texts of their own */
    uint32_t head_count, head_capacity;
    struct hub_change *changes;
    uint32_t count, capacity;
};

static void adopting_dispose(struct adopting *a)
{
    for (uint32_t i = 0; i < a->head_count; i++)
        hub_commit_dispose(&a->heads[i]);
    for (uint32_t i = 0; i < a->count; i++)
        free((char *)a->changes[i].path);
    free(a->heads);
    free(a->changes);
}

static enum hub_status note_head(void *user, const struct hub_commit *row, struct hub_error *err)
{
    struct adopting *a = user;
    if (row->kind == HUB_COMMIT_DELETE || !hub_path_below(row->dataset, a->id))
        return HUB_OK;
    HUB_TRY(hub_grow(&a->heads, a->head_count, &a->head_capacity, sizeof *a->heads, err));
    struct hub_commit *copy = &a->heads[a->head_count];
    *copy = *row;
    copy->dataset = copy->path = copy->who = copy->message = NULL;
    a->head_count++;
    HUB_TRY(hub_dup((char **)&copy->dataset, row->dataset, err));
    return hub_dup((char **)&copy->path, row->path, err);
}

static enum hub_status add_change(struct adopting *a, enum hub_change_kind kind, char *path,
                                  struct hub_change **out, struct hub_error *err)
{
    const enum hub_status st =
        path ? hub_grow(&a->changes, a->count, &a->capacity, sizeof *a->changes, err) : HUB_NO_MEMORY;
    if (st) {
        free(path);
        return hub_fail(err, st, "no memory for the files of '%.200s'", a->id);
    }
    *out = &a->changes[a->count++];
    **out = (struct hub_change){.kind = kind, .path = path};
    return HUB_OK;
}

static enum hub_status take_file(struct adopting *a, const struct hub_commit *head, int directory,
                                 const struct hub_file_facts *file, struct hub_error *err)
{
    struct hub_deposit_row row = {.root = head->root, .who = a->who, .size = file->size};
    struct hub_change *change;
    struct stat st;
    if (!file->has_sha256 || fstatat(directory, file->path, &st, AT_SYMLINK_NOFOLLOW) ||
        !hub_stat_is_owned(&st) || (uint64_t)st.st_size != file->size)
        return hub_fail_as(
            err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
            "'%.300s' of '%.200s' was changed by hand: publish the dataset again, or move it away",
            file->path, head->dataset);
    memcpy(row.sha256, file->sha256, sizeof row.sha256);
    HUB_TRY(hub_object_file_take(a->app->deposits, head->root, directory, file->path, file->sha256, err));
    HUB_TRY(hub_deposit_add(a->app->truth, &row, err));
    const char *below = hub_path_below(head->dataset, a->id);
    HUB_TRY(add_change(a, HUB_CHANGE_PUT, *below ? hub_path_join(below, file->path) : strdup(file->path),
                       &change, err));
    memcpy(change->sha256, file->sha256, sizeof change->sha256);
    change->lfs = true; /* known by its SHA-256 */
    return HUB_OK;
}

static enum hub_status take_dataset(struct adopting *a, const struct hub_commit *head, struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_CLEANUP(hub_closep) int directory = -1;
    HUB_TRY(hub_commit_check_root(a->app, head, err));
    HUB_TRY(hub_buf_addf(&folder, err, "%s/%s", a->app->roots->roots[head->root].path, head->path));
    HUB_TRY(hub_record_read(folder.data, &record, err));
    directory = open(folder.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    for (size_t i = 0; i < record.count; i++)
        HUB_TRY(take_file(a, head, directory, &record.files[i], err));
    return HUB_OK;
}

/* ---- the commit ---- */

static enum hub_status make_repo(const struct adopting *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row there = {0};
    const struct hub_commit *head = &a->heads[0];
    const char *below = hub_path_below(head->dataset, a->id);
    const size_t size = strlen(head->path) - (*below ? strlen(below) + 1 : 0);
    HUB_CLEANUP(hub_freep) char *path = strndup(head->path, size);
    HUB_TRY(hub_allocated(path, err));
    if (hub_repo_find(a->app->truth, a->id, &there, NULL) == HUB_OK)
        return HUB_OK;
    const struct hub_repo_row row = {
        .id = (char *)a->id, .path = path, .who = (char *)a->who, .root = head->root};
    return hub_repo_add(a->app->truth, &row, err);
}

static enum hub_status commit(struct adopting *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0};
    const struct hub_push_order order = {.repo = a->id,
                                         .branch = "main",
                                         .who = a->who,
                                         .title = "What was published by other means",
                                         .message = "",
                                         .name = a->shown,
                                         .changes = a->changes,
                                         .count = a->count,
                                         .root = a->heads[0].root};
    HUB_TRY(make_repo(a, err));
    HUB_TRY(hub_object_files_sync(a->app->deposits, order.root, err));
    HUB_TRY(hub_push_add(a->app->truth, &order, &push, err));
    return hub_push_turn(a->app->truth, push.number, HUB_PUSH_READY, "", err);
}

enum hub_status hub_repo_adopt(const struct hub_app *app, const char *id, const char *who, const char *shown,
                               struct hub_error *err)
{
    HUB_CLEANUP(adopting_dispose) struct adopting a = {.app = app, .id = id, .who = who, .shown = shown};
    struct hub_change *all;
    HUB_TRY(hub_commits_heads(app->truth, note_head, &a, err));
    if (!a.head_count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "Repository not found: %.200s",
                           id);
    HUB_TRY(add_change(&a, HUB_CHANGE_EMPTY, strdup(""), &all, err));
    for (uint32_t i = 0; i < a.head_count; i++)
        HUB_TRY(take_dataset(&a, &a.heads[i], err));
    return commit(&a, err);
}
