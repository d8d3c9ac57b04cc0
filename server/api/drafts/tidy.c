/* See tidy.h. */
#include "server/api/drafts/tidy.h"

#include "server/api/drafts/facts.h"
#include "server/api/drafts/keep.h"
#include "server/api/hooks.h"
#include "server/log/log.h"
#include "storage/drafts/kept.h"
#include "storage/drafts/publish.h"
#include "storage/text/time.h"

#include <limits.h>
#include <stdlib.h>

enum { HOUR_MS = 3600 * 1000 };

struct ids {
    struct hub_draft_row *rows;
    uint32_t count, capacity;
    bool (*wanted)(const struct hub_draft_row *row);
};

static void ids_dispose(struct ids *ids)
{
    for (uint32_t i = 0; i < ids->count; i++)
        hub_draft_row_dispose(&ids->rows[i]);
    free(ids->rows);
}

static enum hub_status gather(void *user, const struct hub_draft_row *row, struct hub_error *err)
{
    struct ids *ids = user;
    if (!ids->wanted(row))
        return HUB_OK;
    HUB_TRY(hub_grow(&ids->rows, ids->count, &ids->capacity, sizeof *ids->rows, err));
    struct hub_draft_row *copy = &ids->rows[ids->count];
    *copy = *row;
    copy->dataset = copy->path = copy->who = NULL;
    ids->count++;
    HUB_TRY(hub_dup(&copy->dataset, row->dataset, err));
    HUB_TRY(hub_dup(&copy->path, row->path, err));
    return hub_dup(&copy->who, row->who, err);
}

static const char *root_of(const struct hub_app *app, const struct hub_draft_row *row)
{
    return row->root < app->roots->count ? app->roots->roots[row->root].path : NULL;
}

static bool is_old(const struct hub_draft_row *row)
{
    const int64_t age_ms = hub_time_now_ns() / 1000000 - row->touched_ms;
    return row->state != HUB_DRAFT_COMMITTING && row->state != HUB_DRAFT_PUBLISHING &&
           age_ms > (int64_t)HUB_DRAFT_DAYS * 24 * HOUR_MS;
}

/* However large it is, nobody waits until its files are removed. */
static void discard(const struct hub_app *app, const struct hub_draft_row *row)
{
    const char *root = root_of(app, row);
    if (!root || hub_draft_discard(root, row->id, NULL) == HUB_OK)
        (void)!hub_draft_forget(app->truth, row->id, NULL);
}

void hub_drafts_tidy(struct hub_app *app, const atomic_bool *stop)
{
    HUB_CLEANUP(ids_dispose) struct ids old = {.wanted = is_old};
    hub_revisions_tidy_all(app, stop);
    if (hub_drafts_each(app->truth, gather, &old, NULL))
        return;
    for (uint32_t i = 0; i < old.count && !atomic_load(stop); i++) {
        const struct hub_draft_row *row = &old.rows[i];
        /* nobody publishes, or goes on with, what is removed */
        if (row->state == HUB_DRAFT_DROPPED ||
            hub_draft_turn(app->truth, row->id, row->state, HUB_DRAFT_DROPPED, NULL) == HUB_OK)
            discard(app, row);
    }
}

/* ---- at a start ---- */

static bool is_unfinished(const struct hub_draft_row *row)
{
    return row->state != HUB_DRAFT_PUBLISHED;
}

/* The hub may have ended between its row and its folder: nobody was answered, but it is listed. */
static void make_folder(const struct hub_app *app, const struct hub_draft_row *row)
{
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    if (!hub_draft_open(app->roots->roots[row->root].path, row->id, true, &draft, NULL))
        hub_draft_drop_old_parts(&draft);
}

static bool is_in_place(const struct hub_app *app, const struct hub_draft_row *row)
{
    const struct hub_draft_place place = hub_draft_place_of(row);
    const char *root = root_of(app, row);
    return root && hub_draft_is_in_place(root, &place);
}

/* Its base has gone to the kept ones by now. */
static void compare(const struct hub_app *app, const struct hub_draft_row *row, struct hub_draft_facts *facts)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf kept = HUB_BUF_INIT(2 * PATH_MAX);
    if (!*row->base)
        hub_draft_facts_compare(app, row, "", facts);
    else if (!hub_kept_find(root_of(app, row), row->path, row->base, &kept, NULL))
        hub_draft_facts_compare(app, row, kept.data, facts);
}

/* Its tree has gone to its place: say so, and keep what was there. */
static enum hub_status say_published(struct hub_app *app, const struct hub_draft_row *row,
                                     struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "draft-recovered", NULL};
    HUB_CLEANUP(hub_draft_facts_dispose) struct hub_draft_facts facts = {0};
    const struct hub_draft_place place = hub_draft_place_of(row);
    const char *root = root_of(app, row);
    struct hub_commit commit;
    HUB_TRY(hub_draft_keep_base(root, row->id, &place, err));
    HUB_TRY(hub_draft_sync_place(root, row->path, err));
    HUB_TRY(hub_draft_facts_read(app, row, NULL, &facts, err));
    compare(app, row, &facts);
    hub_draft_commit_of(row, &facts, "", &commit);
    HUB_TRY(hub_draft_publish(app->truth, row->id, &commit, true, err));
    hub_hooks_wake(app->hooks);
    hub_log_event(app->log, &event, "'%s' was published, though nobody was answered: commit %s", row->dataset,
                  commit.id);
    (void)!hub_draft_remove(root, row->id, NULL); /* else when it is old */
    return HUB_OK;
}

/* Whoever tried to publish it failed, and could not even write that. */
static enum hub_status reopen(struct hub_app *app, struct hub_draft_row *row, struct hub_error *err)
{
    HUB_TRY(hub_draft_turn(app->truth, row->id, row->state, HUB_DRAFT_OPEN, err));
    row->state = HUB_DRAFT_OPEN;
    return HUB_OK;
}

enum hub_status hub_draft_finish(struct hub_app *app, struct hub_draft_row *row, struct hub_error *err)
{
    struct hub_draft_row now = {0};
    if (!is_in_place(app, row))
        return reopen(app, row, err);
    HUB_TRY(say_published(app, row, err));
    HUB_TRY(hub_draft_find(app->truth, row->id, &now, err));
    hub_draft_row_dispose(row);
    *row = now;
    return HUB_OK;
}

void hub_draft_reopen(struct hub_app *app, const struct hub_draft_row *row)
{
    if (is_in_place(app, row))
        return;
    if (hub_draft_turn(app->truth, row->id, HUB_DRAFT_COMMITTING, HUB_DRAFT_OPEN, NULL))
        (void)!hub_draft_turn(app->truth, row->id, HUB_DRAFT_PUBLISHING, HUB_DRAFT_OPEN, NULL);
}

static void recover(struct hub_app *app, const struct hub_draft_row *row)
{
    if (!root_of(app, row))
        return;
    if (row->state == HUB_DRAFT_DROPPED)
        discard(app, row);
    else if (row->state == HUB_DRAFT_OPEN)
        make_folder(app, row);
    else if (is_in_place(app, row))
        (void)!say_published(app, row, NULL);
    else
        hub_draft_reopen(app, row);
}

void hub_drafts_recover(struct hub_app *app)
{
    HUB_CLEANUP(ids_dispose) struct ids unfinished = {.wanted = is_unfinished};
    if (hub_drafts_each(app->truth, gather, &unfinished, NULL))
        return;
    for (uint32_t i = 0; i < unfinished.count; i++)
        recover(app, &unfinished.rows[i]);
}
