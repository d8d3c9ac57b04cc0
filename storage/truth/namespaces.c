/* Namespaces in hub.db: see namespaces.h. */
#include "storage/truth/namespaces.h"

#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"

static enum hub_status put(struct hub_truth *held, const struct hub_namespace_row *row, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db,
                           "INSERT INTO namespaces (name, root, who, changed)"
                           " VALUES (?1, ?2, ?3, " HUB_DB_NOW ") ON CONFLICT (name)"
                           " DO UPDATE SET root = ?2, who = ?3, changed = " HUB_DB_NOW,
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, row->name);
    hub_stmt_bind_text(stmt, 2, hub_roots_key(held->roots, row->root, number));
    hub_stmt_bind_text(stmt, 3, row->who);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_namespace_set(struct hub_truth *truth, const struct hub_namespace_row *row, bool made,
                                  struct hub_error *err)
{
    const struct hub_audit audit = {.who = row->who,
                                    .action = made ? "namespace-add" : "namespace-set",
                                    .object = row->name,
                                    .detail = "{}"};
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(put(held, row, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_namespace_forget(struct hub_truth *truth, const char *name, const char *who,
                                     struct hub_error *err)
{
    const struct hub_audit audit = {.who = who, .action = "namespace-delete", .object = name, .detail = "{}"};
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM namespaces WHERE name = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_namespaces_each(struct hub_truth *truth, hub_namespace_each_fn each, void *user,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT name, root, who FROM namespaces ORDER BY name", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_namespace_row item = {.name = hub_stmt_text(stmt, 0),
                                               .root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 1)),
                                               .who = hub_stmt_text(stmt, 2)};
        HUB_TRY(each(user, &item, err));
    }
}

enum hub_status hub_namespace_root(struct hub_truth *truth, const char *name, uint32_t *root,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT root FROM namespaces WHERE name = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *root = row ? hub_roots_number(truth->roots, hub_stmt_text(stmt, 0)) : UINT32_MAX;
    return HUB_OK;
}
