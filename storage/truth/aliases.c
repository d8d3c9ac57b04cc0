/* See aliases.h. */
#include "storage/truth/aliases.h"

#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/quota_check.h"
#include "storage/truth/quotas.h"

#include <stdio.h>

/* ---- former ids ---- */

enum hub_status hub_aliases_load(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool any = false;
    HUB_TRY(hub_db_prepare(truth->db, "SELECT 1 FROM aliases LIMIT 1", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &any, err));
    atomic_store(&truth->has_aliases, any);
    return HUB_OK;
}

bool hub_alias_any(struct hub_truth *truth)
{
    return atomic_load_explicit(&truth->has_aliases, memory_order_relaxed);
}

enum hub_status hub_alias_find(struct hub_truth *truth, const char *id, struct hub_buf *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    if (!hub_alias_any(truth))
        return HUB_NOT_FOUND;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT dataset FROM aliases WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? hub_buf_add_text(out, hub_stmt_text(stmt, 0), err) : HUB_NOT_FOUND;
}

/* ---- renaming ---- */

static enum hub_status expect_unused(struct hub_db *db, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT 1 FROM commits WHERE dataset = ?1 LIMIT 1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                             "'%.200s' is taken: a dataset of this id was published here, or was deleted", id)
               : HUB_OK;
}

static enum hub_status insert_move(struct hub_truth *truth, struct hub_move *move, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    bool row = false;
    HUB_TRY(hub_db_prepare(truth->db,
                           "INSERT INTO moves (dataset, root, path_from, path_to) VALUES (?1, ?2, ?3, ?4)"
                           " RETURNING number",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, move->dataset);
    hub_stmt_bind_text(stmt, 2, hub_roots_key(truth->roots, move->root, number));
    hub_stmt_bind_text(stmt, 3, move->from);
    hub_stmt_bind_text(stmt, 4, move->to);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    move->number = row ? hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

static enum hub_status rename_rows(struct hub_truth *truth, const struct hub_commit *head,
                                   struct hub_move *move, struct hub_error *err)
{
    struct hub_db *db = truth->db;
    const char *old = head->dataset, *new = move->dataset;
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db, "UPDATE commits SET dataset = ?2, path = ?3 WHERE dataset = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, old);
    hub_stmt_bind_text(stmt, 2, new);
    hub_stmt_bind_text(stmt, 3, move->to);
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(hub_db_prepare(db, "UPDATE OR REPLACE holdings SET dataset = ?2, path = ?3 WHERE dataset = ?1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, old);
    hub_stmt_bind_text(stmt, 2, new);
    hub_stmt_bind_text(stmt, 3, move->to);
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(hub_repo_rename_in(db, old, new, move->to, err));
    HUB_TRY(hub_db_run_texts(db, "DELETE FROM aliases WHERE id = ?1", new, NULL, err));
    HUB_TRY(hub_db_run_texts(db, "UPDATE aliases SET dataset = ?2 WHERE dataset = ?1", old, new, err));
    HUB_TRY(hub_db_run_texts(
        db, "INSERT OR REPLACE INTO aliases (id, dataset, at) VALUES (?1, ?2, " HUB_DB_NOW ")", old, new,
        err));
    return insert_move(truth, move, err);
}

static enum hub_status rename_dataset(struct hub_truth *truth, const struct hub_commit *head, const char *who,
                                      struct hub_move *move, struct hub_error *err)
{
    char detail[1024];
    snprintf(detail, sizeof detail, "{\"to\":\"%.900s\"}", move->dataset);
    const struct hub_audit audit = {
        .who = who, .action = "rename", .object = head->dataset, .detail = detail, .revision = head->id};
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_commit_expect(held->db, head->dataset, head->id, err));
    HUB_TRY(hub_commit_expect_quiet(held->db, head->dataset, "", err));
    HUB_TRY(hub_commit_expect_quiet(held->db, move->dataset, "", err));
    HUB_TRY(expect_unused(held->db, move->dataset, err));
    HUB_TRY(rename_rows(held, head, move, err));
    HUB_TRY(hub_quotas_check_move(held, head->dataset, move->dataset, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    HUB_TRY(hub_commits_end(held, err));
    atomic_store(&truth->has_aliases, true);
    return HUB_OK;
}

enum hub_status hub_dataset_rename(struct hub_truth *truth, const struct hub_commit *head, const char *who,
                                   struct hub_move *move, struct hub_error *err)
{
    bool changed = false;
    const enum hub_status st = rename_dataset(truth, head, who, move, err);
    /* before a quota refuses, the disks are asked whether all that counts is still there */
    if (st != HUB_NO_SPACE || hub_holdings_look(truth, &changed, NULL) || !changed)
        return st;
    return rename_dataset(truth, head, who, move, err);
}

/* ---- moves ---- */

enum hub_status hub_move_done(struct hub_truth *truth, int64_t number, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM moves WHERE number = ?1", &stmt, err));
    hub_stmt_bind_int(stmt, 1, number);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_moves_each(struct hub_truth *truth, hub_move_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT number, dataset, root, path_from, path_to FROM moves ORDER BY number",
                           &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_move move = {.number = hub_stmt_int(stmt, 0),
                                      .dataset = hub_stmt_text(stmt, 1),
                                      .root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 2)),
                                      .from = hub_stmt_text(stmt, 3),
                                      .to = hub_stmt_text(stmt, 4)};
        HUB_TRY(each(user, &move, err));
    }
}
