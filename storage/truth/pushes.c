/* Commits of repos and their files in hub.db: see repos.h. */
#include "storage/truth/repos.h"

#include "storage/truth/hubdb.h"
#include "storage/truth/push_row.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEWEST = 7 /* digits that git takes for a commit */ };

const char *const hub_push_states[] = {[HUB_PUSH_WAITING] = "waiting",
                                       [HUB_PUSH_READY] = "ready",
                                       [HUB_PUSH_BROKEN] = "broken",
                                       [HUB_PUSH_FILES] = "files",
                                       [HUB_PUSH_REFUSED] = "refused",
                                       [HUB_PUSH_PASSED] = "passed",
                                       NULL};

void hub_push_dispose(struct hub_push *push)
{
    free(push->who);
    free(push->title);
    free(push->message);
    free(push->reason);
    *push = (struct hub_push){0};
}

/* ---- commits ---- */

static enum hub_push_state state_of(const char *text)
{
    for (unsigned i = 0; hub_push_states[i]; i++)
        if (strcmp(text, hub_push_states[i]) == 0)
            return (enum hub_push_state)i;
    return HUB_PUSH_REFUSED;
}

/* Its texts are the statement's. */
static struct hub_push read_push(struct hub_stmt *stmt)
{
    struct hub_push push = {.line = hub_stmt_int(stmt, 2),
                            .number = hub_stmt_int(stmt, 3),
                            .who = (char *)hub_stmt_text(stmt, 4),
                            .title = (char *)hub_stmt_text(stmt, 5),
                            .message = (char *)hub_stmt_text(stmt, 6),
                            .reason = (char *)hub_stmt_text(stmt, 7),
                            .at_ms = hub_stmt_int(stmt, 8),
                            .state = state_of(hub_stmt_text(stmt, 9))};
    snprintf(push.id, sizeof push.id, "%s", hub_stmt_text(stmt, 0));
    snprintf(push.parent, sizeof push.parent, "%s", hub_stmt_text(stmt, 1));
    return push;
}

static enum hub_status own(struct hub_push row, struct hub_push *out, struct hub_error *err)
{
    char *const from[] = {row.who, row.title, row.message, row.reason};
    char *owned[HUB_COUNT(from)] = {NULL};
    enum hub_status st = HUB_OK;
    for (unsigned i = 0; !st && i < HUB_COUNT(from); i++)
        st = hub_dup(&owned[i], from[i], err);
    row.who = owned[0];
    row.title = owned[1];
    row.message = owned[2];
    row.reason = owned[3];
    *out = row;
    if (st)
        hub_push_dispose(out);
    return st;
}

enum hub_status hub_push_named_in(struct hub_db *db, const char *repo, struct hub_view name,
                                  struct hub_push *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT " HUB_PUSH_COLUMNS
                           " FROM repo_refs r JOIN repo_commits c ON c.id = r.pushed"
                           " WHERE r.repo = ?1 AND r.name = ?2 ORDER BY r.kind LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    hub_stmt_bind_view(stmt, 2, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (row)
        return own(read_push(stmt), out, err);
    hub_stmt_resetp(&stmt);
    if (name.size < FEWEST)
        return hub_push_none(repo, name, err);
    HUB_TRY(hub_db_prepare(db,
                           "SELECT " HUB_PUSH_COLUMNS
                           " FROM repo_lines l JOIN repo_commits c ON c.line = l.line"
                           " WHERE l.repo = ?1 AND substr(c.id, 1, length(?2)) = ?2 AND c.kept = 1 LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    hub_stmt_bind_view(stmt, 2, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? own(read_push(stmt), out, err) : hub_push_none(repo, name, err);
}

enum hub_status hub_push_none(const char *repo, struct hub_view name, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_NOT_FOUND,
                       "Invalid rev id: '%.200s' has no branch, tag or commit '%.*s'", repo,
                       (int)HUB_MIN(name.size, 100), name.data);
}

enum hub_status hub_push_named(struct hub_truth *truth, const char *repo, struct hub_view name,
                               struct hub_push *out, struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return hub_push_named_in(db, repo, name, out, err);
}

enum hub_status hub_push_published(struct hub_truth *truth, const char *repo, struct hub_push *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT " HUB_PUSH_COLUMNS
                           " FROM repo_refs r JOIN repo_commits c ON c.line = r.line"
                           " WHERE r.repo = ?1 AND r.kind = 'branch' AND r.name = 'main' AND"
                           " c.state = 'ready' ORDER BY c.number DESC LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, repo);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? own(read_push(stmt), out, err) : HUB_NOT_FOUND;
}

enum hub_status hub_pushes_each(struct hub_truth *truth, const struct hub_push *from, uint32_t limit,
                                hub_push_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_query(db,
                         "SELECT " HUB_PUSH_COLUMNS
                         " FROM repo_commits c WHERE c.line = ?1 AND c.number <= ?2"
                         " ORDER BY c.number DESC LIMIT ?3",
                         from->line, &stmt, err));
    hub_stmt_bind_int(stmt, 2, from->number);
    hub_stmt_bind_int(stmt, 3, limit);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_push push = read_push(stmt);
        HUB_TRY(each(user, &push, err));
    }
}

enum hub_status hub_push_turn(struct hub_truth *truth, int64_t number, enum hub_push_state state,
                              const char *reason, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_query(held->db, "UPDATE repo_commits SET state = ?2, reason = ?3 WHERE number = ?1",
                         number, &stmt, err));
    hub_stmt_bind_text(stmt, 2, hub_push_states[state]);
    hub_stmt_bind_text(stmt, 3, reason);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

/* Only the heads of main are inspected. */
static enum hub_status pass(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_exec(held->db,
                        "UPDATE repo_commits SET state = 'passed' WHERE state = 'waiting' AND id NOT IN"
                        " (SELECT pushed FROM repo_refs WHERE kind = 'branch' AND name = 'main')",
                        err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_push_next(struct hub_truth *truth, struct hub_repo_row *repo, struct hub_push *out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(pass(truth, err));
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT " HUB_PUSH_COLUMNS ", l.repo FROM repo_commits c JOIN repo_lines l"
                           " ON l.line = c.line WHERE c.state = 'waiting' ORDER BY c.number LIMIT 1",
                           &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return HUB_NOT_FOUND;
    HUB_TRY(hub_repo_find(truth, hub_stmt_text(stmt, 10), repo, err));
    const enum hub_status st = own(read_push(stmt), out, err);
    if (st)
        hub_repo_row_dispose(repo);
    return st;
}

enum hub_status hub_pushes_trim(struct hub_truth *truth, uint64_t keep, int64_t before_ms,
                                struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_query(held->db,
                         "UPDATE repo_commits SET kept = 0 WHERE kept = 1 AND at < ?1 AND id NOT IN"
                         " (SELECT pushed FROM repo_refs) AND (line NOT IN (SELECT line FROM repo_refs) OR"
                         " (SELECT count(*) FROM repo_commits n WHERE n.line = repo_commits.line AND"
                         " n.number > repo_commits.number) > ?2)",
                         before_ms, &stmt, err));
    hub_stmt_bind_int(stmt, 2, (int64_t)HUB_MIN(keep, (uint64_t)INT64_MAX));
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(
        hub_db_exec(held->db,
                    "DELETE FROM repo_files WHERE (until < 9223372036854775807 OR line NOT IN"
                    " (SELECT line FROM repo_refs)) AND NOT EXISTS (SELECT 1 FROM repo_commits c WHERE"
                    " c.line = repo_files.line AND c.kept = 1 AND c.number >= since AND c.number < until)",
                    err));
    return hub_db_commit(held->db, err);
}

/* ---- files ---- */

static void read_file(struct hub_stmt *stmt, int first, struct hub_push_file *out)
{
    const struct hub_view sha256 = hub_stmt_blob(stmt, first + 1), sha1 = hub_stmt_blob(stmt, first + 2);
    out->size = (uint64_t)hub_stmt_int(stmt, first);
    memset(out->sha256, 0, sizeof out->sha256);
    memset(out->sha1, 0, sizeof out->sha1);
    memcpy(out->sha256, sha256.data, HUB_MIN(sha256.size, sizeof out->sha256));
    out->has_sha1 = sha1.size == sizeof out->sha1;
    if (out->has_sha1)
        memcpy(out->sha1, sha1.data, sizeof out->sha1);
    out->lfs = hub_stmt_int(stmt, first + 3) != 0;
}

enum hub_status hub_push_file_in(struct hub_db *db, const struct hub_push *push, const char *path,
                                 struct hub_push_file *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_query(db,
                         "SELECT size, sha256, sha1, lfs FROM repo_files WHERE line = ?1 AND path = ?3 AND"
                         " since <= ?2 AND until > ?2",
                         push->line, &stmt, err));
    hub_stmt_bind_int(stmt, 2, push->number);
    hub_stmt_bind_text(stmt, 3, path);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "Entry not found: %.500s", path);
    *out = (struct hub_push_file){.path = path};
    read_file(stmt, 0, out);
    return HUB_OK;
}

enum hub_status hub_push_file_find(struct hub_truth *truth, const struct hub_push *push, const char *path,
                                   struct hub_push_file *out, struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return hub_push_file_in(db, push, path, out, err);
}

enum hub_status hub_push_files_each(struct hub_truth *truth, const struct hub_push *push, const char *begins,
                                    const char *from, hub_push_file_each each, void *user,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_query(db,
                         "SELECT path, size, sha256, sha1, lfs FROM repo_files WHERE line = ?1 AND"
                         " path >= ?3 AND since <= ?2 AND until > ?2 ORDER BY path",
                         push->line, &stmt, err));
    hub_stmt_bind_int(stmt, 2, push->number);
    hub_stmt_bind_text(stmt, 3, strcmp(from, begins) > 0 ? from : begins);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        const char *path = row ? hub_stmt_text(stmt, 0) : "";
        if (!row || strncmp(path, begins, strlen(begins)) != 0)
            return HUB_OK;
        struct hub_push_file file = {.path = path};
        read_file(stmt, 1, &file);
        const enum hub_status st = each(user, &file, err);
        if (st)
            return st == HUB_CANCELLED ? HUB_OK : st;
    }
}

enum hub_status hub_push_changes(struct hub_truth *truth, const struct hub_push *push, const char *begins,
                                 bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(
        hub_db_query(db,
                     "WITH last (n) AS (SELECT coalesce(max(number), 0) FROM repo_commits WHERE line = ?1"
                     " AND number < ?2 AND state = 'ready') SELECT 1 FROM repo_files, last WHERE line = ?1"
                     " AND substr(path, 1, length(?3)) = ?3 AND ((since > n AND since <= ?2) OR"
                     " (until > n AND until <= ?2)) LIMIT 1",
                     push->line, &stmt, err));
    hub_stmt_bind_int(stmt, 2, push->number);
    hub_stmt_bind_text(stmt, 3, begins);
    return hub_stmt_step(stmt, out, err);
}

enum hub_status hub_push_object_in(struct hub_db *db, const char *repo, struct hub_push_file *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT f.size, f.sha256, f.sha1, f.lfs FROM repo_files f JOIN repo_lines l"
                           " ON l.line = f.line WHERE f.sha256 = ?1 AND l.repo = ?2"
                           " ORDER BY length(f.sha1) DESC LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_blob(stmt, 1, out->sha256, sizeof out->sha256);
    hub_stmt_bind_text(stmt, 2, repo);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return HUB_NOT_FOUND;
    read_file(stmt, 0, out);
    return HUB_OK;
}

enum hub_status hub_push_object_find(struct hub_truth *truth, const char *repo, struct hub_push_file *out,
                                     struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return hub_push_object_in(db, repo, out, err);
}

enum hub_status hub_push_object_shared_in(struct hub_db *db, const char *root,
                                          struct hub_repo_sharing sharing, struct hub_push_file *out,
                                          struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = sharing.may != NULL;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT f.size, f.sha256, f.sha1, f.lfs, l.repo FROM repo_files f JOIN repo_lines"
                           " l ON l.line = f.line JOIN repos r ON r.id = l.repo WHERE f.sha256 = ?1 AND"
                           " r.root = ?2 GROUP BY l.repo",
                           &stmt, err));
    hub_stmt_bind_blob(stmt, 1, out->sha256, sizeof out->sha256);
    hub_stmt_bind_text(stmt, 2, root);
    while (row) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (row && sharing.may(sharing.user, hub_stmt_text(stmt, 4))) {
            read_file(stmt, 0, out);
            return HUB_OK;
        }
    }
    return HUB_NOT_FOUND;
}

enum hub_status hub_push_object_shared(struct hub_truth *truth, uint32_t root,
                                       struct hub_repo_sharing sharing, struct hub_push_file *out,
                                       struct hub_error *err)
{
    struct hub_db *db;
    char number[16];
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return hub_push_object_shared_in(db, hub_roots_key(truth->roots, root, number), sharing, out, err);
}
