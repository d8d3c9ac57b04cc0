/* Repos and their refs in hub.db: see repos.h. */
#include "storage/truth/repos.h"

#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"

#include <stdlib.h>

void hub_repo_row_dispose(struct hub_repo_row *row)
{
    free(row->id);
    free(row->path);
    free(row->who);
    *row = (struct hub_repo_row){0};
}

/* ---- repos ---- */

enum hub_status hub_repos_load(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool any = false;
    HUB_TRY(hub_db_prepare(truth->db, "SELECT 1 FROM repos LIMIT 1", &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &any, err));
    atomic_store(&truth->has_repos, any);
    return HUB_OK;
}

bool hub_repos_any(struct hub_truth *truth)
{
    return atomic_load_explicit(&truth->has_repos, memory_order_relaxed);
}

#define COLUMNS "SELECT id, path, who, root, made FROM repos"

static struct hub_repo_row read_row(const struct hub_truth *truth, struct hub_stmt *stmt)
{
    return (struct hub_repo_row){.id = (char *)hub_stmt_text(stmt, 0),
                                 .path = (char *)hub_stmt_text(stmt, 1),
                                 .who = (char *)hub_stmt_text(stmt, 2),
                                 .root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 3)),
                                 .made_ms = hub_stmt_int(stmt, 4)};
}

static enum hub_status own(struct hub_repo_row row, struct hub_repo_row *out, struct hub_error *err)
{
    *out = (struct hub_repo_row){.root = row.root, .made_ms = row.made_ms};
    enum hub_status st = hub_dup(&out->id, row.id, err);
    if (!st)
        st = hub_dup(&out->path, row.path, err);
    if (!st)
        st = hub_dup(&out->who, row.who, err);
    if (st)
        hub_repo_row_dispose(out);
    return st;
}

enum hub_status hub_repo_find(struct hub_truth *truth, const char *id, struct hub_repo_row *out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, COLUMNS " WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? own(read_row(truth, stmt), out, err)
               : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                             "there is no repo '%.200s': create it first", id);
}

enum hub_status hub_repos_each(struct hub_truth *truth, hub_repo_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, COLUMNS " ORDER BY id", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_repo_row repo = read_row(truth, stmt);
        HUB_TRY(each(user, &repo, err));
    }
}

static enum hub_status exists(const char *id, struct hub_error *err)
{
    return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS, "the repo '%.200s' exists already", id);
}

/* Run a statement whose first parameters are these texts, up to NULL. */
static enum hub_status run(struct hub_db *db, const char *sql, const char *const *texts,
                           struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    for (int i = 0; texts[i]; i++)
        hub_stmt_bind_text(stmt, i + 1, texts[i]);
    return hub_stmt_run(stmt, err);
}

static enum hub_status is_there(struct hub_db *db, const char *id, bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_prepare(db, "SELECT 1 FROM repos WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    return hub_stmt_step(stmt, out, err);
}

static enum hub_status insert(struct hub_truth *held, const struct hub_repo_row *row, struct hub_error *err)
{
    char commit[HUB_COMMIT_ID + 1], number[16];
    const char *const repo[] = {row->id, hub_roots_key(held->roots, row->root, number), row->path, row->who,
                                NULL};
    const char *const first[] = {row->id, commit, row->who, NULL};
    HUB_TRY(hub_commit_name(commit, err));
    HUB_TRY(run(held->db,
                "INSERT INTO repos (id, root, path, who, made) VALUES (?1, ?2, ?3, ?4, " HUB_DB_NOW ")", repo,
                err));
    HUB_TRY(run(held->db, "INSERT INTO repo_lines (repo) VALUES (?1)", (const char *const[]){row->id, NULL},
                err));
    HUB_TRY(run(held->db,
                "INSERT INTO repo_commits (id, line, parent, who, at, title, message, state) VALUES"
                " (?2, (SELECT max(line) FROM repo_lines WHERE repo = ?1), '', ?3, " HUB_DB_NOW
                ", 'initial commit', '', 'files')",
                first, err));
    return run(held->db,
               "INSERT INTO repo_refs (repo, kind, name, line, pushed) VALUES"
               " (?1, 'branch', 'main', (SELECT max(line) FROM repo_lines WHERE repo = ?1), ?2)",
               (const char *const[]){row->id, commit, NULL}, err);
}

enum hub_status hub_repo_add(struct hub_truth *truth, const struct hub_repo_row *row, struct hub_error *err)
{
    const struct hub_audit audit = {
        .who = row->who, .action = "repo-add", .object = row->id, .detail = "{}", .revision = ""};
    bool there = false;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(is_there(held->db, row->id, &there, err));
    if (there)
        return exists(row->id, err);
    HUB_TRY(insert(held, row, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    HUB_TRY(hub_db_commit(held->db, err));
    atomic_store(&truth->has_repos, true);
    return HUB_OK;
}

enum hub_status hub_repo_forget(struct hub_truth *truth, const char *id, const char *who,
                                struct hub_error *err)
{
    static const char *const statements[] = {
        "DELETE FROM repo_files WHERE line IN (SELECT line FROM repo_lines WHERE repo = ?1)",
        "DELETE FROM repo_commits WHERE line IN (SELECT line FROM repo_lines WHERE repo = ?1)",
        "DELETE FROM repo_refs WHERE repo = ?1", "DELETE FROM repo_lines WHERE repo = ?1",
        "DELETE FROM repos WHERE id = ?1"};
    const struct hub_audit audit = {
        .who = who, .action = "repo-delete", .object = id, .detail = "{}", .revision = ""};
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    for (unsigned i = 0; i < HUB_COUNT(statements); i++)
        HUB_TRY(run(held->db, statements[i], (const char *const[]){id, NULL}, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_repo_rename_in(struct hub_db *db, const char *id, const char *to, const char *path,
                                   struct hub_error *err)
{
    const char *const pair[] = {id, to, NULL}, *const place[] = {id, to, path, NULL};
    HUB_TRY(run(db, "UPDATE repos SET id = ?2, path = ?3 WHERE id = ?1", place, err));
    HUB_TRY(run(db, "UPDATE repo_lines SET repo = ?2 WHERE repo = ?1", pair, err));
    return run(db, "UPDATE repo_refs SET repo = ?2 WHERE repo = ?1", pair, err);
}

enum hub_status hub_repo_rename(struct hub_truth *truth, const char *id, const struct hub_repo_row *to,
                                struct hub_error *err)
{
    const struct hub_audit audit = {
        .who = to->who, .action = "repo-rename", .object = id, .detail = "{}", .revision = ""};
    bool there = false;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(is_there(held->db, to->id, &there, err));
    if (there)
        return exists(to->id, err);
    HUB_TRY(hub_repo_rename_in(held->db, id, to->id, to->path, err));
    HUB_TRY(hub_audit_write(held->db, &audit, err));
    return hub_db_commit(held->db, err);
}

/* ---- refs ---- */

enum hub_status hub_refs_each(struct hub_truth *truth, const char *repo, hub_ref_each each, void *user,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT kind, name, pushed FROM repo_refs WHERE repo = ?1 ORDER BY kind, name",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_ref ref = {hub_stmt_text(stmt, 0), hub_stmt_text(stmt, 1), hub_stmt_text(stmt, 2)};
        HUB_TRY(each(user, &ref, err));
    }
}

static enum hub_status find_ref(struct hub_db *db, const char *repo, const char *kind, const char *name,
                                bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_prepare(db, "SELECT 1 FROM repo_refs WHERE repo = ?1 AND kind = ?2 AND name = ?3", &stmt,
                           err));
    hub_stmt_bind_text(stmt, 1, repo);
    hub_stmt_bind_text(stmt, 2, kind);
    hub_stmt_bind_text(stmt, 3, name);
    return hub_stmt_step(stmt, out, err);
}

/* A branch has a line of its own, which begins with the files of the commit. */
static enum hub_status add_line(struct hub_db *db, const char *repo, const struct hub_push *at, int64_t *line,
                                struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(run(db, "INSERT INTO repo_lines (repo) VALUES (?1)", (const char *const[]){repo, NULL}, err));
    *line = hub_db_last_row(db);
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO repo_files (line, path, since, until, size, sha256, sha1, lfs)"
                       " SELECT ?1, path, ?3, 9223372036854775807, size, sha256, sha1, lfs FROM repo_files"
                       " WHERE line = ?2 AND since <= ?3 AND until > ?3",
                       &stmt, err));
    hub_stmt_bind_int(stmt, 1, *line);
    hub_stmt_bind_int(stmt, 2, at->line);
    hub_stmt_bind_int(stmt, 3, at->number);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_ref_add(struct hub_truth *truth, const char *repo, const char *kind, const char *name,
                            const struct hub_push *at, struct hub_error *err)
{
    struct hub_stmt *stmt;
    bool there = false;
    int64_t line = 0;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find_ref(held->db, repo, kind, name, &there, err));
    if (there)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS, "the %s '%.200s' exists already", kind, name);
    if (strcmp(kind, "branch") == 0)
        HUB_TRY(add_line(held->db, repo, at, &line, err));
    HUB_TRY(hub_db_prepare(held->db,
                           "INSERT INTO repo_refs (repo, kind, name, pushed, line)"
                           " VALUES (?1, ?2, ?3, ?4, ?5)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    hub_stmt_bind_text(stmt, 2, kind);
    hub_stmt_bind_text(stmt, 3, name);
    hub_stmt_bind_text(stmt, 4, at->id);
    hub_stmt_bind_int(stmt, 5, line);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_ref_remove(struct hub_truth *truth, const char *repo, const char *kind, const char *name,
                               struct hub_error *err)
{
    const char *const ref[] = {repo, kind, name, NULL};
    bool there = false;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find_ref(held->db, repo, kind, name, &there, err));
    if (!there)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_NOT_FOUND, "there is no %s '%.200s'",
                           kind, name);
    HUB_TRY(run(held->db, "DELETE FROM repo_refs WHERE repo = ?1 AND kind = ?2 AND name = ?3", ref, err));
    return hub_db_commit(held->db, err);
}
