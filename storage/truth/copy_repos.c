/* Repos in a copy of hub.db: see copy_repos.h. */
#include "storage/truth/copy_repos.h"

#define LOST                                                                                                 \
    "CREATE TEMP TABLE IF NOT EXISTS lost (root TEXT NOT NULL, sha256 BLOB NOT NULL,"                        \
    " PRIMARY KEY (sha256, root)) WITHOUT ROWID;"

enum hub_status hub_copy_object_lose(struct hub_db *db, const struct hub_named_object *object,
                                     struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_exec(db, LOST, err));
    HUB_TRY(hub_db_prepare(db, "INSERT OR IGNORE INTO temp.lost (root, sha256) VALUES (?1, ?2)", &stmt, err));
    hub_stmt_bind_text(stmt, 1, object->root);
    hub_stmt_bind_blob(stmt, 2, object->sha256, sizeof object->sha256);
    return hub_stmt_run(stmt, err);
}

/* A span is where a file that is lost was there: all commits of it are broken. The rest of their files goes
 * later, as of any commit that is forgotten (hub_pushes_trim). */
static const char forget[] = LOST
    "CREATE TEMP TABLE spans AS SELECT DISTINCT f.line AS line, f.since AS since, f.until AS until FROM"
    " temp.lost o JOIN repo_files f ON f.sha256 = o.sha256 JOIN repo_lines l ON l.line = f.line JOIN repos r"
    " ON r.id = l.repo AND r.root = o.root;"
    "CREATE TEMP TABLE broken AS SELECT DISTINCT c.number AS number, c.id AS id, l.repo AS repo FROM"
    " temp.spans s JOIN repo_commits c ON c.line = s.line AND c.number >= s.since AND c.number < s.until"
    " JOIN repo_lines l ON l.line = c.line WHERE c.kept = 1;"
    "CREATE TEMP TABLE cut AS SELECT repo, kind || ' ' || name AS ref FROM repo_refs WHERE pushed IN"
    " (SELECT id FROM temp.broken) ORDER BY repo, kind, name;"
    "UPDATE repo_commits SET kept = 0 WHERE number IN (SELECT number FROM temp.broken);"
    "DELETE FROM repo_refs WHERE pushed IN (SELECT id FROM temp.broken);"
    "DELETE FROM repo_files WHERE sha256 IN (SELECT sha256 FROM temp.lost) AND (line, since, until) IN"
    " (SELECT line, since, until FROM temp.spans);"
    "DELETE FROM repos WHERE id NOT IN (SELECT repo FROM repo_refs WHERE kind = 'branch' AND name = 'main');"
    "DELETE FROM repo_refs WHERE repo NOT IN (SELECT id FROM repos);"
    "DELETE FROM repo_lines WHERE repo NOT IN (SELECT id FROM repos);"
    "DELETE FROM repo_commits WHERE line NOT IN (SELECT line FROM repo_lines);"
    "DELETE FROM repo_files WHERE line NOT IN (SELECT line FROM repo_lines)";

enum hub_status hub_copy_objects_forget(struct hub_db *db, hub_lost_commits_each each, void *user,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_exec(db, forget, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT repo, count(*), repo NOT IN (SELECT id FROM repos), coalesce((SELECT"
                           " group_concat(ref, ', ') FROM temp.cut WHERE cut.repo = broken.repo), '') FROM"
                           " temp.broken GROUP BY repo ORDER BY repo",
                           &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_lost_commits lost = {.repo = hub_stmt_text(stmt, 0),
                                              .commits = (uint32_t)hub_stmt_int(stmt, 1),
                                              .all = hub_stmt_int(stmt, 2) != 0,
                                              .refs = hub_stmt_text(stmt, 3)};
        HUB_TRY(each(user, &lost, err));
    }
}
