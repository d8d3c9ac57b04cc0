/* See tidy.h. */
#include "server/api/drafts/tidy.h"

#include "server/api/drafts/facts.h"
#include "server/log/log.h"
#include "storage/drafts/publish.h"
#include "storage/text/time.h"

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

static bool is_old(const struct hub_draft_row *row)
{
    const int64_t age_ms = hub_time_now_ns() / 1000000 - row->touched_ms;
    return (row->state == HUB_DRAFT_OPEN || row->state == HUB_DRAFT_PUBLISHED) &&
           age_ms > (int64_t)HUB_DRAFT_DAYS * 24 * HOUR_MS;
}

void hub_drafts_tidy(struct hub_app *app)
{
    HUB_CLEANUP(ids_dispose) struct ids old = {.wanted = is_old};
    const int64_t now_ms = hub_time_mono_ms();
    int_fast64_t last = atomic_load(&app->drafts_tidied_ms);
    if ((last && now_ms - last < HOUR_MS) ||
        !atomic_compare_exchange_strong(&app->drafts_tidied_ms, &last, now_ms))
        return;
    if (hub_drafts_each(app->truth, gather, &old, NULL))
        return;
    for (uint32_t i = 0; i < old.count; i++)
        (void)!hub_draft_end(app, &old.rows[i], NULL);
}

/* ---- at a start ---- */

static bool is_between(const struct hub_draft_row *row)
{
    return row->state == HUB_DRAFT_COMMITTING || row->state == HUB_DRAFT_DROPPED;
}

/* Its tree has gone to its place, or is still in the draft. */
static void recover(struct hub_app *app, const struct hub_draft_row *row)
{
    static const struct hub_log_event event = {HUB_LOG_WARNING, "draft-recovered", NULL};
    HUB_CLEANUP(hub_draft_facts_dispose) struct hub_draft_facts facts = {0};
    struct hub_commit commit = {.dataset = row->dataset, .who = row->who, .message = ""};
    if (row->root >= app->roots->count)
        return;
    if (row->state == HUB_DRAFT_DROPPED) {
        (void)!hub_draft_end(app, row, NULL);
        return;
    }
    if (!hub_draft_is_in_place(app->roots->roots[row->root].path, row->id, row->path)) {
        (void)!hub_draft_turn(app->truth, row->id, HUB_DRAFT_COMMITTING, HUB_DRAFT_OPEN, NULL);
        return;
    }
    if (hub_draft_facts_read(app, row, NULL, &facts, NULL))
        return;
    memcpy(commit.tree, facts.tree, sizeof commit.tree);
    if (hub_draft_publish(app->truth, row->id, &commit, NULL) == HUB_OK)
        hub_log_event(app->log, &event, "'%s' was published when the hub ended: commit %s", row->dataset,
                      commit.id);
}

void hub_drafts_recover(struct hub_app *app)
{
    HUB_CLEANUP(ids_dispose) struct ids between = {.wanted = is_between};
    if (hub_drafts_each(app->truth, gather, &between, NULL))
        return;
    for (uint32_t i = 0; i < between.count; i++)
        recover(app, &between.rows[i]);
}
