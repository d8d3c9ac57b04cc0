/* Rows of the audit: see audit.h. */
#include "storage/truth/audit.h"

#include "storage/truth/hubdb.h"

enum hub_status hub_audit_write(struct hub_db *db, const struct hub_audit *audit, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db,
                           "INSERT INTO audit (at, who, action, object, detail, revision)"
                           " VALUES (" HUB_DB_NOW ", ?1, ?2, ?3, ?4, ?5)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, audit->who);
    hub_stmt_bind_text(stmt, 2, audit->action);
    hub_stmt_bind_text(stmt, 3, audit->object);
    hub_stmt_bind_text(stmt, 4, audit->detail);
    hub_stmt_bind_text(stmt, 5, audit->revision ? audit->revision : "");
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_audit_each(struct hub_truth *truth, const struct hub_audit_query *query,
                               hub_audit_each_fn each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT id, at, who, action, object, detail, revision FROM audit"
                           " WHERE id > ?1 AND at >= ?2 ORDER BY id LIMIT ?3",
                           &stmt, err));
    hub_stmt_bind_int(stmt, 1, query->after_id);
    hub_stmt_bind_int(stmt, 2, query->since_ms);
    hub_stmt_bind_int(stmt, 3, query->limit ? (int64_t)query->limit : -1);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_audit audit = {.id = hub_stmt_int(stmt, 0),
                                        .at_ms = hub_stmt_int(stmt, 1),
                                        .who = hub_stmt_text(stmt, 2),
                                        .action = hub_stmt_text(stmt, 3),
                                        .object = hub_stmt_text(stmt, 4),
                                        .detail = hub_stmt_text(stmt, 5),
                                        .revision = hub_stmt_text(stmt, 6)};
        HUB_TRY(each(user, &audit, err));
    }
}

enum hub_status hub_audit_prune(struct hub_truth *truth, uint64_t keep_ms, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    return hub_db_run(held->db, "DELETE FROM audit WHERE at < " HUB_DB_NOW " - ?", (int64_t)keep_ms, err);
}
