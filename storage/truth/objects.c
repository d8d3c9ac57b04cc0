/* Objects by the rows that name them: see objects.h. */
#include "storage/truth/objects.h"

#include "storage/truth/hubdb.h"

enum hub_status hub_named_objects_in(struct hub_db *db, hub_named_object_each each, void *user,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT DISTINCT r.id, r.root, f.sha256, f.size FROM repos r JOIN repo_lines l ON"
                           " l.repo = r.id JOIN repo_files f ON f.line = l.line ORDER BY r.id, f.sha256",
                           &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        struct hub_named_object object = {.repo = hub_stmt_text(stmt, 0),
                                          .root = hub_stmt_text(stmt, 1),
                                          .size = (uint64_t)hub_stmt_int(stmt, 3)};
        const struct hub_view sha256 = hub_stmt_blob(stmt, 2);
        memcpy(object.sha256, sha256.data, HUB_MIN(sha256.size, sizeof object.sha256));
        HUB_TRY(each(user, &object, err));
    }
}

enum hub_status hub_named_objects_each(struct hub_truth *truth, hub_named_object_each each, void *user,
                                       struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return hub_named_objects_in(db, each, user, err);
}

enum hub_status hub_object_need(struct hub_truth *truth, const char *repo,
                                const uint8_t sha256[HUB_SHA256_BYTES], struct hub_buf *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(
        hub_db_prepare(db,
                       "SELECT c.id, f.path FROM repo_files f JOIN repo_lines l ON l.line = f.line JOIN"
                       " repo_commits c ON c.line = f.line AND c.number >= f.since AND c.number < f.until"
                       " WHERE f.sha256 = ?2 AND l.repo = ?1 AND c.kept = 1 ORDER BY c.number DESC LIMIT 1",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    hub_stmt_bind_blob(stmt, 2, sha256, HUB_SHA256_BYTES);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "no commit of '%.200s' has the object", repo);
    return hub_buf_addf(out, err, "commit %.7s has it as '%.300s'", hub_stmt_text(stmt, 0),
                        hub_stmt_text(stmt, 1));
}

enum hub_status hub_object_is_named(struct hub_truth *truth, uint32_t root,
                                    const uint8_t sha256[HUB_SHA256_BYTES], bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    char number[16];
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT 1 FROM deposits WHERE root = ?1 AND sha256 = ?2 UNION ALL"
                           " SELECT 1 FROM repo_files WHERE sha256 = ?2 LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, root, number));
    hub_stmt_bind_blob(stmt, 2, sha256, HUB_SHA256_BYTES);
    return hub_stmt_step(stmt, out, err);
}
