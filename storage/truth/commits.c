/* Commits in hub.db: see commits.h. */
#include "storage/truth/commits.h"

#include "storage/access/token.h"
#include "storage/truth/audit.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/quota_check.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEWEST = 7 /* digits that git takes for a commit */ };

const char *const hub_commit_kinds[] = {
    [HUB_COMMIT_PUBLISH] = "publish", [HUB_COMMIT_DELETE] = "delete", [HUB_COMMIT_ADOPT] = "adopt", NULL};

#define COLUMNS                                                                                              \
    "id, parent, tree, kind, dataset, who, message, root, path, files, bytes, at, ended, kept, added,"       \
    " changed, removed, episodes,"                                                                           \
    " coalesce((SELECT p.episodes FROM commits AS p WHERE p.id = commits.parent), -1)"

void hub_commit_dispose(struct hub_commit *commit)
{
    free((char *)commit->dataset);
    free((char *)commit->who);
    free((char *)commit->message);
    free((char *)commit->path);
    *commit = (struct hub_commit){0};
}

/* ---- reading ---- */

static enum hub_commit_kind kind_of(const char *text)
{
    for (unsigned i = 0; hub_commit_kinds[i]; i++)
        if (strcmp(text, hub_commit_kinds[i]) == 0)
            return (enum hub_commit_kind)i;
    return HUB_COMMIT_PUBLISH;
}

/* Its texts are the statement's. */
static struct hub_commit read_row(const struct hub_truth *truth, struct hub_stmt *stmt)
{
    struct hub_commit commit = {.kind = kind_of(hub_stmt_text(stmt, 3)),
                                .dataset = hub_stmt_text(stmt, 4),
                                .who = hub_stmt_text(stmt, 5),
                                .message = hub_stmt_text(stmt, 6),
                                .root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 7)),
                                .path = hub_stmt_text(stmt, 8),
                                .files = (uint64_t)hub_stmt_int(stmt, 9),
                                .bytes = (uint64_t)hub_stmt_int(stmt, 10),
                                .at_ms = hub_stmt_int(stmt, 11),
                                .ended_ms = hub_stmt_int(stmt, 12),
                                .kept = hub_stmt_int(stmt, 13) != 0,
                                .episodes = hub_stmt_int(stmt, 17),
                                .parent_episodes = hub_stmt_int(stmt, 18)};
    if (hub_stmt_int(stmt, 14) >= 0)
        commit.changes =
            (struct hub_commit_changes){true, (uint64_t)hub_stmt_int(stmt, 14),
                                        (uint64_t)hub_stmt_int(stmt, 15), (uint64_t)hub_stmt_int(stmt, 16)};
    snprintf(commit.id, sizeof commit.id, "%s", hub_stmt_text(stmt, 0));
    snprintf(commit.parent, sizeof commit.parent, "%s", hub_stmt_text(stmt, 1));
    snprintf(commit.tree, sizeof commit.tree, "%s", hub_stmt_text(stmt, 2));
    return commit;
}

static enum hub_status own_texts(struct hub_commit row, struct hub_commit *out, struct hub_error *err)
{
    const char *const from[] = {row.dataset, row.who, row.message, row.path};
    char *owned[HUB_COUNT(from)] = {NULL};
    enum hub_status st = HUB_OK;
    for (unsigned i = 0; !st && i < HUB_COUNT(from); i++)
        st = hub_dup(&owned[i], from[i], err);
    row.dataset = owned[0];
    row.who = owned[1];
    row.message = owned[2];
    row.path = owned[3];
    *out = row;
    if (st)
        hub_commit_dispose(out);
    return st;
}

/* The first row of a query of the dataset, ?1, and a text, ?2. */
static enum hub_status find_row(struct hub_truth *truth, const char *sql, const char *dataset,
                                struct hub_view name, struct hub_commit *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    hub_stmt_bind_text(stmt, 1, dataset);
    hub_stmt_bind_view(stmt, 2, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "'%.200s' has no commit%s%.*s", dataset, name.size ? " " : "",
                        (int)HUB_MIN(name.size, 64), name.data);
    return own_texts(read_row(truth, stmt), out, err);
}

enum hub_status hub_commit_head(struct hub_truth *truth, const char *dataset, struct hub_commit *out,
                                struct hub_error *err)
{
    return find_row(truth,
                    "SELECT " COLUMNS " FROM commits WHERE dataset = ?1 AND ?2 = ''"
                    " ORDER BY number DESC LIMIT 1",
                    dataset, (struct hub_view){"", 0}, out, err);
}

enum hub_status hub_commit_named(struct hub_truth *truth, const char *dataset, struct hub_view name,
                                 struct hub_commit *out, struct hub_error *err)
{
    if (name.size < FEWEST)
        return hub_fail(err, HUB_NOT_FOUND, "a commit is named by at least %d of its digits", FEWEST);
    return find_row(truth,
                    "SELECT " COLUMNS " FROM commits WHERE dataset = ?1 AND"
                    " (tree = ?2 OR substr(id, 1, length(?2)) = ?2) ORDER BY number DESC LIMIT 1",
                    dataset, name, out, err);
}

/* Each row of a query; `dataset` NULL: it has no parameter. */
static enum hub_status each_row(struct hub_truth *truth, const char *sql, const char *dataset,
                                hub_commit_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    if (dataset)
        hub_stmt_bind_text(stmt, 1, dataset);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_commit commit = read_row(truth, stmt);
        HUB_TRY(each(user, &commit, err));
    }
}

enum hub_status hub_commits_each(struct hub_truth *truth, const char *dataset, hub_commit_each each,
                                 void *user, struct hub_error *err)
{
    return each_row(truth, "SELECT " COLUMNS " FROM commits WHERE dataset = ?1 ORDER BY number DESC", dataset,
                    each, user, err);
}

enum hub_status hub_commits_heads(struct hub_truth *truth, hub_commit_each each, void *user,
                                  struct hub_error *err)
{
    return each_row(truth,
                    "SELECT " COLUMNS " FROM commits WHERE number IN"
                    " (SELECT max(number) FROM commits GROUP BY dataset) ORDER BY dataset",
                    NULL, each, user, err);
}

enum hub_status hub_commits_with_files(struct hub_truth *truth, hub_commit_each each, void *user,
                                       struct hub_error *err)
{
    return each_row(truth,
                    "SELECT " COLUMNS " FROM commits WHERE kind <> 'delete' AND ((kept AND ended <> 0) OR"
                    " number IN (SELECT max(number) FROM commits GROUP BY dataset))"
                    " ORDER BY dataset, number DESC",
                    NULL, each, user, err);
}

/* ---- writing ---- */

enum hub_status hub_commit_name(char out[HUB_COMMIT_ID + 1], struct hub_error *err)
{
    uint8_t id[HUB_COMMIT_ID / 2];
    HUB_TRY(hub_secret_make(id, sizeof id, err));
    hub_hex(id, sizeof id, out);
    return HUB_OK;
}

enum hub_status hub_commit_expect(struct hub_db *db, const char *dataset, const char *head,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT CASE kind WHEN 'delete' THEN '' ELSE id END FROM commits"
                           " WHERE dataset = ?1 ORDER BY number DESC LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, dataset);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    const char *now = row ? hub_stmt_text(stmt, 0) : "";
    if (strcmp(now, head) == 0)
        return HUB_OK;
    if (!*now)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
                           "'%.200s' was deleted or renamed meanwhile: begin again without `base`", dataset);
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
                       "'%.200s' was changed meanwhile: its commit is now %s, and not %s; look at what "
                       "changed, and begin again with this one as `base`",
                       dataset, now, *head ? head : "none");
}

enum hub_status hub_commit_expect_quiet(struct hub_db *db, const char *dataset, const char *draft,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool other = false;
    HUB_TRY(hub_db_prepare(
        db, "SELECT id FROM drafts WHERE dataset = ?1 AND id <> ?2 AND state = 'publishing'", &stmt, err));
    hub_stmt_bind_text(stmt, 1, dataset);
    hub_stmt_bind_text(stmt, 2, draft);
    HUB_TRY(hub_stmt_step(stmt, &other, err));
    return other ? hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_DRAFT_BUSY,
                               "a draft of '%.200s' is being published: try again in a moment", dataset)
                 : HUB_OK;
}

enum hub_status hub_commit_is_at_rest(struct hub_truth *truth, const struct hub_commit *head,
                                      struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_commit_expect_quiet(db, head->dataset, "", err));
    return hub_commit_expect(db, head->dataset, head->id, err);
}

static enum hub_status insert(struct hub_truth *truth, const struct hub_commit *commit, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(truth->db,
                           "INSERT INTO commits (id, dataset, tree, parent, who, at, message, kind, root,"
                           " path, files, bytes, added, changed, removed, episodes) VALUES (?1, ?2, ?3, "
                           "coalesce((SELECT id FROM commits WHERE"
                           " dataset = ?2 ORDER BY number DESC LIMIT 1), ''), ?4, " HUB_DB_NOW
                           ", ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                           &stmt, err));
    const char *const texts[] = {commit->id,
                                 commit->dataset,
                                 commit->tree,
                                 commit->who,
                                 commit->message,
                                 hub_commit_kinds[commit->kind],
                                 hub_roots_key(truth->roots, commit->root, number),
                                 commit->path};
    for (unsigned i = 0; i < HUB_COUNT(texts); i++)
        hub_stmt_bind_text(stmt, (int)i + 1, texts[i]);
    hub_stmt_bind_int(stmt, 9, (int64_t)commit->files);
    hub_stmt_bind_int(stmt, 10, (int64_t)commit->bytes);
    const struct hub_commit_changes *changes = &commit->changes;
    hub_stmt_bind_int(stmt, 11, changes->known ? (int64_t)changes->added : -1);
    hub_stmt_bind_int(stmt, 12, changes->known ? (int64_t)changes->changed : -1);
    hub_stmt_bind_int(stmt, 13, changes->known ? (int64_t)changes->removed : -1);
    hub_stmt_bind_int(stmt, 14, commit->episodes);
    return hub_stmt_run(stmt, err);
}

static enum hub_status end_parent(struct hub_db *db, const struct hub_commit *commit, bool keep,
                                  struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db,
                           "UPDATE commits SET ended = " HUB_DB_NOW ", kept = ?3"
                           " WHERE dataset = ?1 AND id = ?2",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, commit->dataset);
    hub_stmt_bind_text(stmt, 2, commit->parent);
    hub_stmt_bind_int(stmt, 3, keep);
    return hub_stmt_run(stmt, err);
}

/* What is only kept counts for no quota. */
static enum hub_status end_holding(struct hub_db *db, const char *dataset, struct hub_error *err)
{
    return hub_db_run_texts(db, "UPDATE holdings SET gone = 1 WHERE dataset = ?1", dataset, NULL, err);
}

enum hub_status hub_commit_insert(struct hub_truth *truth, const struct hub_commit *commit, bool keep_parent,
                                  struct hub_error *err)
{
    const struct hub_audit audit = {.who = commit->who,
                                    .action = hub_commit_kinds[commit->kind],
                                    .object = commit->dataset,
                                    .detail = "{}",
                                    .revision = commit->id};
    HUB_TRY(hub_commit_expect(truth->db, commit->dataset, commit->parent, err));
    if (commit->parent[0])
        HUB_TRY(end_parent(truth->db, commit, keep_parent, err));
    if (commit->kind == HUB_COMMIT_DELETE)
        HUB_TRY(end_holding(truth->db, commit->dataset, err));
    HUB_TRY(insert(truth, commit, err));
    return hub_audit_write(truth->db, &audit, err);
}

enum hub_status hub_commit_add(struct hub_truth *truth, const struct hub_commit *commit, bool keep_parent,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_commit_expect_quiet(held->db, commit->dataset, "", err));
    HUB_TRY(hub_commit_insert(held, commit, keep_parent, err));
    return hub_commits_end(held, err);
}

enum hub_status hub_commits_end(struct hub_truth *held, struct hub_error *err)
{
    HUB_TRY(hub_db_commit(held->db, err));
    atomic_fetch_add(&held->commits_changed, 1);
    return HUB_OK;
}

uint64_t hub_commits_generation(const struct hub_truth *truth)
{
    return atomic_load(&truth->commits_changed);
}

enum hub_status hub_commit_adopt(struct hub_truth *truth, const struct hub_commit *commit,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_commit_expect_quiet(held->db, commit->dataset, "", err));
    HUB_TRY(hub_commit_insert(held, commit, false, err));
    HUB_TRY(hub_holding_set(held, commit->dataset, commit->root, commit->path, commit->bytes, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_commit_keep(struct hub_truth *truth, const char *id, bool kept, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "UPDATE commits SET kept = ?2 WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    hub_stmt_bind_int(stmt, 2, kept);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}
