/* See lay.h. */
#include "server/api/pushes/lay.h"

#include "server/api/drafts/publishing.h"
#include "storage/deposits/deposit.h"
#include "storage/transfer/spaces.h"

#include <stdio.h>
#include <stdlib.h>

struct laying {
    struct hub_laying *of;
    struct hub_publishing publishing;
    struct hub_draft_file *files;
    uint32_t count, capacity;
};

static void laying_dispose(struct laying *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free((char *)l->files[i].path);
    free(l->files);
    hub_publishing_dispose(&l->publishing);
}

/* ---- its place ---- */

/* What is there now is taken the place of, if it was published here. */
static enum hub_status find_place(struct laying *l, struct hub_commit *head, struct hub_error *err)
{
    const struct hub_laying *of = l->of;
    struct hub_draft_row *row = &l->publishing.row;
    row->dataset = hub_push_set_id(of->repo->id, of->set);
    row->path = hub_push_set_id(of->repo->path, of->set);
    row->root = of->repo->root;
    HUB_TRY(hub_allocated(row->dataset, err));
    HUB_TRY(hub_allocated(row->path, err));
    HUB_TRY(hub_dup(&row->who, of->push->who, err));
    const enum hub_status st = hub_commit_head(of->app->truth, row->dataset, head, NULL);
    if (st && st != HUB_NOT_FOUND)
        return hub_fail(err, st, "the commits of '%.200s' cannot be read", row->dataset);
    if (!st && head->kind != HUB_COMMIT_DELETE)
        memcpy(row->base, head->id, sizeof row->base);
    return hub_draft_check_free(of->app, row, err);
}

/* ---- its files ---- */

static enum hub_status add_file(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    struct laying *l = user;
    const struct hub_laying *of = l->of;
    const char *path = file->path + strlen(of->set->begins);
    if (hub_view_is(hub_view_behind(hub_view_of(path), '/'), hub_space_file))
        return HUB_OK; /* it says something of a namespace */
    HUB_TRY(hub_grow(&l->files, l->count, &l->capacity, sizeof *l->files, err));
    struct hub_draft_file *added = &l->files[l->count];
    *added = (struct hub_draft_file){.path = strdup(path), .size = file->size, .complete = true};
    HUB_TRY(hub_allocated(added->path, err));
    l->count++;
    memcpy(added->sha256, file->sha256, sizeof added->sha256);
    HUB_TRY(hub_draft_path_check(hub_view_of(path), err));
    return hub_object_file_link(of->app->deposits, of->repo->root, file->sha256, l->publishing.draft.tree,
                                path, err);
}

/* Whether what is there has the same files. */
static enum hub_status is_same(const struct laying *l, const struct hub_commit *head, bool *same,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_facts_dispose) struct hub_draft_facts facts = {0};
    *same = false;
    if (!*l->publishing.row.base)
        return HUB_OK;
    HUB_TRY(hub_draft_facts_read(l->of->app, &l->publishing.row, NULL, &facts, err));
    *same = strcmp(facts.tree, head->tree) == 0;
    return HUB_OK;
}

static enum hub_status publish(struct laying *l, const struct hub_commit *head, struct hub_error *err)
{
    struct hub_laying *of = l->of;
    struct hub_publishing *p = &l->publishing;
    bool same;
    HUB_TRY(hub_draft_open(of->app->roots->roots[p->row.root].path, p->row.id, true, &p->draft, err));
    HUB_TRY(hub_push_files_each(of->app->truth, of->push, of->set->begins, "", add_file, l, err));
    HUB_TRY(hub_draft_files_take(of->app->truth, p->row.id, l->files, l->count, err));
    HUB_TRY(is_same(l, head, &same, err));
    if (same)
        return HUB_OK;
    hub_draft_close(&p->draft);
    if (of->alone)
        memcpy(p->commit, of->push->id, sizeof p->commit);
    const enum hub_status st = hub_publishing_run(p, err);
    of->verdict = p->refused ? p->verdict.status : HUB_VERDICT_READY;
    if (p->refused) /* in words that fit a push: its draft goes */
        snprintf(err->detail, sizeof err->detail, "%.240s%s%.240s", p->verdict.reason,
                 *p->verdict.doubt ? "; " : "", p->verdict.doubt);
    snprintf(of->doubt.detail, sizeof of->doubt.detail, "%s", p->verdict.doubt);
    return st;
}

static void drop(const struct laying *l)
{
    const struct hub_publishing *p = &l->publishing;
    if (!p->made.id[0] &&
        hub_draft_turn(l->of->app->truth, p->row.id, HUB_DRAFT_OPEN, HUB_DRAFT_DROPPED, NULL) == HUB_OK)
        (void)!hub_draft_end(l->of->app, &p->row, NULL);
}

enum hub_status hub_push_lay(struct hub_laying *laying, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    HUB_CLEANUP(laying_dispose)
    struct laying l = {
        .of = laying,
        .publishing = {.app = laying->app, .draft = HUB_DRAFT_FOLDER_INIT, .message = laying->push->title}};
    laying->verdict = HUB_VERDICT_READY;
    if (laying->repo->root >= laying->app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING, "its root is not served any more");
    HUB_TRY(find_place(&l, &head, err));
    HUB_TRY(hub_draft_add(laying->app->truth, &l.publishing.row, err));
    const enum hub_status st = publish(&l, &head, err);
    drop(&l);
    return st;
}
