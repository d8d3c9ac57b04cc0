/* Deposits in hub.db: see deposits.h. */
#include "storage/truth/deposits.h"

#include "storage/truth/hubdb.h"

/* Root and digest are the first two parameters of all statements here. */
static enum hub_status prepare(const struct hub_truth *truth, struct hub_db *db, const char *sql,
                               uint32_t root, const uint8_t *sha256, struct hub_stmt **out,
                               struct hub_error *err)
{
    char number[16];
    HUB_TRY(hub_db_prepare(db, sql, out, err));
    hub_stmt_bind_text(*out, 1, hub_roots_key(truth->roots, root, number));
    hub_stmt_bind_blob(*out, 2, sha256, HUB_SHA256_BYTES);
    return HUB_OK;
}

enum hub_status hub_deposits_room(struct hub_truth *truth, uint64_t beside, uint64_t more, uint64_t budget,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT bytes FROM deposited", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    const uint64_t held = beside + (row ? (uint64_t)hub_stmt_int(stmt, 0) : 0);
    if (held <= budget && budget - held >= more)
        return HUB_OK;
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
                       "%llu bytes wait for a commit already, and %llu more do not fit beside them "
                       "(--upload-cache): commit what was sent, or try again tomorrow",
                       (unsigned long long)held, (unsigned long long)more);
}

enum hub_status hub_deposit_add(struct hub_truth *truth, const struct hub_deposit_row *row,
                                struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    char number[16];
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db,
                           "INSERT INTO deposits (root, sha256, who, size, sha1, at) VALUES"
                           " (?1, ?2, ?3, ?4, ?5, " HUB_DB_NOW ") ON CONFLICT (root, sha256, who)"
                           " DO UPDATE SET sha1 = max(sha1, excluded.sha1), at = " HUB_DB_NOW,
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(held->roots, row->root, number));
    hub_stmt_bind_blob(stmt, 2, row->sha256, sizeof row->sha256);
    hub_stmt_bind_text(stmt, 3, row->who);
    hub_stmt_bind_int(stmt, 4, (int64_t)row->size);
    hub_stmt_bind_blob(stmt, 5, row->sha1, row->has_sha1 ? sizeof row->sha1 : 0);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_deposit_find(struct hub_truth *truth, struct hub_deposit_row *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(prepare(truth, db, "SELECT size, sha1 FROM deposits WHERE root = ?1 AND sha256 = ?2 AND who = ?3",
                    out->root, out->sha256, &stmt, err));
    hub_stmt_bind_text(stmt, 3, out->who);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "an object with that SHA-256 was not sent");
    const struct hub_view sha1 = hub_stmt_blob(stmt, 1);
    out->size = (uint64_t)hub_stmt_int(stmt, 0);
    out->has_sha1 = sha1.size == sizeof out->sha1;
    if (out->has_sha1)
        memcpy(out->sha1, sha1.data, sizeof out->sha1);
    return HUB_OK;
}

enum hub_status hub_deposits_expire(struct hub_truth *truth, int64_t before_ms, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM deposits WHERE at < ?1", &stmt, err));
    hub_stmt_bind_int(stmt, 1, before_ms);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_deposit_sweep(struct hub_truth *truth, uint32_t root,
                                  const uint8_t sha256[HUB_SHA256_BYTES], hub_deposit_remove remove,
                                  void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(prepare(held, held->db,
                    "SELECT 1 FROM deposits WHERE root = ?1 AND sha256 = ?2 UNION ALL"
                    " SELECT 1 FROM repo_files WHERE sha256 = ?2 LIMIT 1",
                    root, sha256, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        remove(user);
    return HUB_OK;
}
