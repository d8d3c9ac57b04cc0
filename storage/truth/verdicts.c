/* Verdicts of drafts in hub.db: see verdicts.h. */
#include "storage/truth/verdicts.h"

#include "storage/truth/hubdb.h"

#include <stdlib.h>

void hub_kept_verdict_dispose(struct hub_kept_verdict *verdict)
{
    free(verdict->texts);
    *verdict = (struct hub_kept_verdict){0};
}

enum hub_status hub_verdict_keep(struct hub_truth *truth, const char *draft,
                                 const struct hub_kept_verdict *verdict, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_prepare(held->db,
                           "INSERT INTO draft_verdicts (draft, verdict, reason, problems, at)"
                           " VALUES (?1, ?2, ?3, ?4, " HUB_DB_NOW ") ON CONFLICT (draft)"
                           " DO UPDATE SET verdict = ?2, reason = ?3, problems = ?4, at = " HUB_DB_NOW,
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    hub_stmt_bind_text(stmt, 2, verdict->verdict);
    hub_stmt_bind_text(stmt, 3, verdict->reason);
    hub_stmt_bind_text(stmt, 4, verdict->problems);
    return hub_stmt_run(stmt, err);
}

/* Three texts, one behind another. */
static enum hub_status copy(struct hub_stmt *stmt, struct hub_kept_verdict *out, struct hub_error *err)
{
    const char *texts[3], **const places[3] = {&out->verdict, &out->reason, &out->problems};
    size_t size = 0, at = 0;
    for (int i = 0; i < 3; i++) {
        texts[i] = hub_stmt_text(stmt, i);
        size += strlen(texts[i]) + 1;
    }
    HUB_TRY(hub_new(&out->texts, size, 1, err));
    for (int i = 0; i < 3; i++) {
        *places[i] = strcpy(out->texts + at, texts[i]);
        at += strlen(texts[i]) + 1;
    }
    out->at_ms = hub_stmt_int(stmt, 3);
    return HUB_OK;
}

enum hub_status hub_verdict_find(struct hub_truth *truth, const char *draft, struct hub_kept_verdict *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT verdict, reason, problems, at FROM draft_verdicts WHERE draft = ?1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? copy(stmt, out, err) : hub_fail(err, HUB_NOT_FOUND, "'%.40s' was not looked at", draft);
}
