/* Events that wait: see hook_events.h. */
#include "storage/truth/hook_events.h"

#include "storage/truth/hubdb.h"

#include <stdlib.h>

void hub_hook_event_dispose(struct hub_hook_event *event)
{
    free((char *)event->event);
    free((char *)event->dataset);
    free((char *)event->draft);
    free((char *)event->commit);
    free((char *)event->who);
    free((char *)event->reason);
    *event = (struct hub_hook_event){0};
}

void hub_hook_events_keep(struct hub_truth *truth)
{
    atomic_store(&truth->keeps_events, true);
}

/* ---- adding ---- */

static enum hub_status count_in(struct hub_db *db, uint64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT count(*) FROM hook_events", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *out = row ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

enum hub_status hub_hook_event_insert(struct hub_db *db, const struct hub_hook_event *event,
                                      struct hub_error *err)
{
    const char *const texts[] = {event->event,  event->dataset, event->draft,
                                 event->commit, event->who,     event->reason};
    struct hub_stmt *stmt;
    uint64_t count = 0;
    HUB_TRY(count_in(db, &count, err));
    if (count >= HUB_HOOK_EVENTS_MOST)
        return hub_fail(err, HUB_TOO_BIG, "%d events wait to be delivered already", HUB_HOOK_EVENTS_MOST);
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO hook_events (event, dataset, draft, pushed, who, reason, files, bytes,"
                       " at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, " HUB_DB_NOW ")",
                       &stmt, err));
    for (unsigned i = 0; i < HUB_COUNT(texts); i++)
        hub_stmt_bind_text(stmt, (int)i + 1, texts[i] ? texts[i] : "");
    hub_stmt_bind_int(stmt, 7, (int64_t)event->files);
    hub_stmt_bind_int(stmt, 8, (int64_t)event->bytes);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_hook_event_add(struct hub_truth *truth, const struct hub_hook_event *event,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_hook_event_insert(held->db, event, err));
    return hub_db_commit(held->db, err);
}

/* ---- those that wait ---- */

enum hub_status hub_hook_events_count(struct hub_truth *truth, uint64_t *out, struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return count_in(db, out, err);
}

uint64_t hub_hook_events_dropped(const struct hub_truth *truth)
{
    return atomic_load(&truth->events_dropped);
}

static enum hub_status own(struct hub_stmt *stmt, struct hub_hook_event *out, struct hub_error *err)
{
    const char **const to[] = {&out->event,  &out->dataset, &out->draft,
                               &out->commit, &out->who,     &out->reason};
    *out = (struct hub_hook_event){.number = hub_stmt_int(stmt, 0),
                                   .at_ms = hub_stmt_int(stmt, 1),
                                   .tries = (unsigned)hub_stmt_int(stmt, 2),
                                   .files = (uint64_t)hub_stmt_int(stmt, 3),
                                   .bytes = (uint64_t)hub_stmt_int(stmt, 4)};
    enum hub_status st = HUB_OK;
    for (unsigned i = 0; !st && i < HUB_COUNT(to); i++)
        st = hub_dup((char **)to[i], hub_stmt_text(stmt, (int)i + 5), err);
    if (st)
        hub_hook_event_dispose(out);
    return st;
}

enum hub_status hub_hook_event_next(struct hub_truth *truth, int64_t after, struct hub_hook_event *out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_query(db,
                         "SELECT number, at, tries, files, bytes, event, dataset, draft, pushed, who, reason"
                         " FROM hook_events WHERE number > ?1 ORDER BY number LIMIT 1",
                         after, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? own(stmt, out, err) : HUB_NOT_FOUND;
}

/* ---- what came of a try ---- */

static enum hub_status turn(struct hub_truth *truth, const char *sql, const struct hub_hook_event *event,
                            struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_query(held->db, sql, event->number, &stmt, err));
    hub_stmt_bind_int(stmt, 2, event->tries);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_hook_event_failed(struct hub_truth *truth, const struct hub_hook_event *event,
                                      struct hub_error *err)
{
    return turn(truth, "UPDATE hook_events SET tries = tries + 1 WHERE number = ?1 AND tries = ?2", event,
                err);
}

enum hub_status hub_hook_event_done(struct hub_truth *truth, const struct hub_hook_event *event,
                                    struct hub_error *err)
{
    return turn(truth, "DELETE FROM hook_events WHERE number = ?1 AND tries = ?2", event, err);
}
