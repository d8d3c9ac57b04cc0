/* Copies of hub.db: see copy.h. */
#include "storage/truth/copy.h"

#include "storage/sqlite/open_db.h"
#include "storage/truth/hubdb.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_TABLES = 64, NAME_BYTES = 64 };

static void closep(struct hub_db **db)
{
    hub_db_close(*db);
}

enum hub_status hub_truth_copy(const char *state, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(closep) struct hub_db *db = NULL;
    char from[4096];
    snprintf(from, sizeof from, "%s/hub.db", state);
    if (access(from, F_OK))
        return hub_fail(err, HUB_NOT_FOUND,
                        "there is no hub.db in %s: name the state directory of the hub with --state DIR",
                        state);
    HUB_TRY(hub_db_open(from, HUB_DB_READ, &db, err));
    return hub_db_copy(db, path, err);
}

/* ---- reading ---- */

static enum hub_status check_version(struct hub_db *db, struct hub_error *err)
{
    int have = 0;
    const int newest = hub_truth_newest();
    HUB_TRY(hub_db_user_version(db, &have, err));
    if (have > newest)
        return hub_fail(
            err, HUB_UNSUPPORTED,
            "hub.db was written by a newer minari-hub (version %d; this one supports %d): use that "
            "one",
            have, newest);
    return have == newest ? HUB_OK
                          : hub_fail(err, HUB_UNSUPPORTED,
                                     "hub.db was written by an older minari-hub (version %d; this one writes "
                                     "%d): use that one, or start this one once",
                                     have, newest);
}

static enum hub_status each_pushed(struct hub_db *db, hub_owned_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(
        hub_db_prepare(db,
                       "SELECT dataset, id, tree, root, path, kept AND ended <> 0 FROM commits WHERE"
                       " kind <> 'delete' AND ((kept AND ended <> 0) OR number IN"
                       " (SELECT max(number) FROM commits GROUP BY dataset)) ORDER BY dataset, number DESC",
                       &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_owned owned = {.dataset = hub_stmt_text(stmt, 0),
                                        .commit = hub_stmt_text(stmt, 1),
                                        .tree = hub_stmt_text(stmt, 2),
                                        .root = hub_stmt_text(stmt, 3),
                                        .path = hub_stmt_text(stmt, 4),
                                        .kept = hub_stmt_int(stmt, 5) != 0};
        HUB_TRY(each(user, &owned, err));
    }
}

static enum hub_status each_mirrored(struct hub_db *db, hub_owned_each each, void *user,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT root, path, remote, remote_id FROM origins ORDER BY root, path", &stmt,
                           err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_owned owned = {.root = hub_stmt_text(stmt, 0),
                                        .path = hub_stmt_text(stmt, 1),
                                        .remote = hub_stmt_text(stmt, 2),
                                        .remote_id = hub_stmt_text(stmt, 3)};
        HUB_TRY(each(user, &owned, err));
    }
}

enum hub_status hub_truth_copy_owned(const char *path, hub_owned_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(closep) struct hub_db *db = NULL;
    HUB_TRY(hub_db_open(path, HUB_DB_READ, &db, err));
    HUB_TRY(check_version(db, err));
    HUB_TRY(each_pushed(db, each, user, err));
    return each_mirrored(db, each, user, err);
}

/* ---- another place ---- */

/* All tables that name a root have a column that is called so. */
static enum hub_status find_tables(struct hub_db *db, char (*out)[NAME_BYTES], size_t *count,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT s.name FROM sqlite_schema AS s JOIN pragma_table_info(s.name) AS c"
                           " WHERE s.type = 'table' AND c.name = 'root'",
                           &stmt, err));
    for (*count = 0;; ++*count) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        if (*count == MOST_TABLES)
            return hub_fail(err, HUB_TOO_BIG, "hub.db has more than %d tables", MOST_TABLES);
        snprintf(out[*count], NAME_BYTES, "%s", hub_stmt_text(stmt, 0));
    }
}

static enum hub_status rename_root(struct hub_db *db, char (*tables)[NAME_BYTES], size_t count,
                                   struct hub_root_move move, struct hub_error *err)
{
    char sql[3 * NAME_BYTES];
    for (size_t i = 0; i < count; i++) {
        snprintf(sql, sizeof sql, "UPDATE OR REPLACE \"%s\" SET root = ?2 WHERE root = ?1", tables[i]);
        HUB_TRY(hub_db_run_texts(db, sql, move.from, move.to, err));
    }
    return hub_db_run_texts(
        db,
        "UPDATE rules SET spec = json_set(spec, '$.root', ?2) WHERE json_extract(spec, '$.root') "
        "= ?1",
        move.from, move.to, err);
}

/* By way of names that no root has, as two may have changed places. */
static enum hub_status rename_roots(struct hub_db *db, const struct hub_root_move *moves, size_t count,
                                    struct hub_error *err)
{
    char tables[MOST_TABLES][NAME_BYTES], between[32];
    size_t table_count;
    HUB_TRY(find_tables(db, tables, &table_count, err));
    for (size_t i = 0; i < count; i++) {
        snprintf(between, sizeof between, "\n%zu", i);
        HUB_TRY(rename_root(db, tables, table_count, (struct hub_root_move){moves[i].from, between}, err));
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(between, sizeof between, "\n%zu", i);
        HUB_TRY(rename_root(db, tables, table_count, (struct hub_root_move){between, moves[i].to}, err));
    }
    return HUB_OK;
}

/* Files that came for drafts, objects that no commit names and how the roots looked belong to the other place
 * alone. */
static const char forget[] = "DELETE FROM draft_files WHERE draft IN"
                             " (SELECT id FROM drafts WHERE state IN ('open', 'committing'));"
                             "DELETE FROM drafts WHERE state IN ('open', 'committing');"
                             "DELETE FROM deposits; DELETE FROM hook_events; DELETE FROM roots";

static enum hub_status fit(struct hub_db *db, const char *path, const struct hub_root_move *moves,
                           size_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *open = db;
    HUB_TRY(hub_truth_migrate(open, path, true, err));
    HUB_TRY(hub_db_begin(open, err));
    HUB_TRY(rename_roots(open, moves, count, err));
    HUB_TRY(hub_db_exec(open, forget, err));
    return hub_db_commit(open, err);
}

enum hub_status hub_truth_copy_stamp(struct hub_db *db, const char *root, const char *path,
                                     const struct hub_stamp *stamp, const char *sha256, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db,
                           "UPDATE digests SET size = ?4, mtime_ns = ?5, tag = ?6"
                           " WHERE root = ?1 AND path = ?2 AND sha256 = ?3",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, root);
    hub_stmt_bind_text(stmt, 2, path);
    hub_stmt_bind_text(stmt, 3, sha256);
    hub_stmt_bind_int(stmt, 4, (int64_t)stamp->size);
    hub_stmt_bind_int(stmt, 5, (int64_t)stamp->mtime_ns);
    hub_stmt_bind_int(stmt, 6, (int64_t)stamp->tag);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_truth_copy_fit(const char *path, const struct hub_root_move *moves, size_t count,
                                   struct hub_error *err)
{
    struct hub_db *db = NULL;
    HUB_TRY(hub_db_open(path, HUB_DB_TRUTH, &db, err));
    const enum hub_status st = fit(db, path, moves, count, err);
    hub_db_close(db);
    return st;
}
