/* A commit that is added: see push.h. */
#include "storage/truth/push.h"

#include "storage/truth/hubdb.h"
#include "storage/truth/push_row.h"

#include <stdio.h>

/* A commit in its transaction. */
struct adding {
    struct hub_truth *held;
    struct hub_db *db;
    const struct hub_push_order *order;
    struct hub_push head;
    int64_t line, number; /* of the branch and of the new commit */
    bool changed;
};

static enum hub_status is_some(struct adding *a, const char *sql, const char *path, const char *to, bool *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_query(a->db, sql, a->line, &stmt, err));
    hub_stmt_bind_text(stmt, 2, path);
    if (to)
        hub_stmt_bind_text(stmt, 3, to);
    return hub_stmt_step(stmt, out, err);
}

#define NOW " AND until = 9223372036854775807"

/* ---- what goes ---- */

/* Rows of this commit vanish, those of earlier ones end. */
static enum hub_status end_rows(struct adding *a, const char *sql, const char *path, const char *to,
                                struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(a->db, sql, a->line, &stmt, err));
    hub_stmt_bind_text(stmt, 2, path);
    hub_stmt_bind_text(stmt, 3, to);
    hub_stmt_bind_int(stmt, 4, a->number);
    return hub_stmt_run(stmt, err);
}

/* All from one path to before another. */
static enum hub_status take_away(struct adding *a, const char *path, const char *to, struct hub_error *err)
{
    bool some = false;
    HUB_TRY(is_some(a, "SELECT 1 FROM repo_files WHERE line = ?1 AND path >= ?2 AND path < ?3" NOW " LIMIT 1",
                    path, to, &some, err));
    if (!some)
        return HUB_OK;
    a->changed = true;
    HUB_TRY(end_rows(a,
                     "DELETE FROM repo_files WHERE line = ?1 AND path >= ?2 AND path < ?3 AND since = ?4" NOW,
                     path, to, err));
    return end_rows(a, "UPDATE repo_files SET until = ?4 WHERE line = ?1 AND path >= ?2 AND path < ?3" NOW,
                    path, to, err);
}

/* No text comes between a path and the same with the first character behind it. */
static enum hub_status take_file(struct adding *a, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf to = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_buf_addf(&to, err, "%s\x01", path));
    return take_away(a, path, to.data, err);
}

/* '0' follows '/'. */
static enum hub_status empty_folder(struct adding *a, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf from = HUB_BUF_INIT(64 * KIB), to = HUB_BUF_INIT(64 * KIB);
    if (!*path)
        return take_away(a, "", "\x7f", err);
    HUB_TRY(hub_buf_addf(&from, err, "%s/", path));
    HUB_TRY(hub_buf_addf(&to, err, "%s0", path));
    return take_away(a, from.data, to.data, err);
}

/* ---- what comes ---- */

static enum hub_status clashes(const char *path, struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID, "'%.300s' cannot be a file and a folder at once", path);
}

/* Neither may a file lie above it, nor files below it. */
static enum hub_status check_folders(struct adding *a, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf from = HUB_BUF_INIT(64 * KIB), to = HUB_BUF_INIT(64 * KIB);
    bool some = false;
    HUB_TRY(hub_buf_addf(&from, err, "%s/", path));
    HUB_TRY(hub_buf_addf(&to, err, "%s0", path));
    HUB_TRY(is_some(a, "SELECT 1 FROM repo_files WHERE line = ?1 AND path >= ?2 AND path < ?3" NOW " LIMIT 1",
                    from.data, to.data, &some, err));
    if (some)
        return clashes(path, err);
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        from.size = 0;
        HUB_TRY(hub_buf_add(&from, path, (size_t)(slash - path), err));
        HUB_TRY(is_some(a, "SELECT 1 FROM repo_files WHERE line = ?1 AND path = ?2" NOW, from.data, NULL,
                        &some, err));
        if (some)
            return clashes(from.data, err);
    }
    return HUB_OK;
}

static enum hub_status insert_file(struct adding *a, const struct hub_push_file *file, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(a->db,
                         "INSERT INTO repo_files (line, path, since, until, size, sha256, sha1, lfs) VALUES"
                         " (?1, ?2, ?3, 9223372036854775807, ?4, ?5, ?6, ?7)",
                         a->line, &stmt, err));
    hub_stmt_bind_text(stmt, 2, file->path);
    hub_stmt_bind_int(stmt, 3, a->number);
    hub_stmt_bind_int(stmt, 4, (int64_t)file->size);
    hub_stmt_bind_blob(stmt, 5, file->sha256, sizeof file->sha256);
    hub_stmt_bind_blob(stmt, 6, file->sha1, file->has_sha1 ? sizeof file->sha1 : 0);
    hub_stmt_bind_int(stmt, 7, file->lfs);
    return hub_stmt_run(stmt, err);
}

static enum hub_status put_file(struct adding *a, const struct hub_push_file *file, struct hub_error *err)
{
    struct hub_push_file now;
    const struct hub_push at = {.line = a->line, .number = a->number};
    const enum hub_status st = hub_push_file_in(a->db, &at, file->path, &now, NULL);
    if (st && st != HUB_NOT_FOUND)
        return hub_fail(err, st, "the files of the repo cannot be read");
    if (!st && memcmp(now.sha256, file->sha256, sizeof now.sha256) == 0 && now.lfs == file->lfs)
        return HUB_OK;
    if (st)
        HUB_TRY(check_folders(a, file->path, err));
    HUB_TRY(take_file(a, file->path, err));
    a->changed = true;
    return insert_file(a, file, err);
}

/* A digest alone proves nothing: who names it sent the bytes, or can read them. */
static enum hub_status find_object(struct adding *a, const struct hub_change *change,
                                   struct hub_push_file *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16], hex[2 * HUB_SHA256_BYTES + 1];
    bool row = false;
    HUB_TRY(hub_db_prepare(
        a->db, "SELECT size, sha1 FROM deposits WHERE root = ?1 AND sha256 = ?2 AND who = ?3", &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(a->held->roots, a->order->root, number));
    hub_stmt_bind_blob(stmt, 2, change->sha256, sizeof change->sha256);
    hub_stmt_bind_text(stmt, 3, a->order->who);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (row) {
        const struct hub_view sha1 = hub_stmt_blob(stmt, 1);
        out->size = (uint64_t)hub_stmt_int(stmt, 0);
        out->has_sha1 = sha1.size == sizeof out->sha1;
        if (out->has_sha1)
            memcpy(out->sha1, sha1.data, sizeof out->sha1);
        return HUB_OK;
    }
    enum hub_status st = hub_push_object_in(a->db, a->order->repo, out, err);
    if (st == HUB_NOT_FOUND)
        st = hub_push_object_shared_in(a->db, hub_roots_key(a->held->roots, a->order->root, number),
                                       a->order->sharing, out, err);
    hub_hex(change->sha256, sizeof change->sha256, hex);
    return st == HUB_NOT_FOUND
               ? hub_fail(err, HUB_INVALID, "'%.300s' names the object %s, which was not sent", change->path,
                          hex)
               : st;
}

static enum hub_status put(struct adding *a, const struct hub_change *change, struct hub_error *err)
{
    struct hub_push_file file = {.path = change->path};
    memcpy(file.sha256, change->sha256, sizeof file.sha256);
    HUB_TRY(find_object(a, change, &file, err));
    file.lfs = change->lfs;
    return put_file(a, &file, err);
}

static enum hub_status apply(struct adding *a, const struct hub_change *change, struct hub_error *err)
{
    switch (change->kind) {
    case HUB_CHANGE_PUT:
        return put(a, change, err);
    case HUB_CHANGE_DELETE:
        return take_file(a, change->path, err);
    case HUB_CHANGE_EMPTY:
        return empty_folder(a, change->path, err);
    }
    return HUB_OK;
}

/* ---- the commit ---- */

static enum hub_status find_head(struct adding *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_view branch = hub_view_of(a->order->branch);
    bool row = false;
    HUB_TRY(hub_db_prepare(
        a->db, "SELECT pushed, line FROM repo_refs WHERE repo = ?1 AND kind = 'branch' AND name = ?2", &stmt,
        err));
    hub_stmt_bind_text(stmt, 1, a->order->repo);
    hub_stmt_bind_view(stmt, 2, branch);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_push_none(a->order->repo, branch, err);
    a->line = hub_stmt_int(stmt, 1);
    return hub_push_named_in(a->db, a->order->repo, hub_stmt_view(stmt, 0), &a->head, err);
}

/* The one it is to have, unless another commit has it. */
static enum hub_status name_commit(struct adding *a, char id[HUB_COMMIT_ID + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const char *name = a->order->name;
    bool row = true;
    if (name && strlen(name) == HUB_COMMIT_ID) {
        HUB_TRY(hub_db_prepare(a->db, "SELECT 1 FROM repo_commits WHERE id = ?1", &stmt, err));
        hub_stmt_bind_text(stmt, 1, name);
        HUB_TRY(hub_stmt_step(stmt, &row, err));
    }
    if (row)
        return hub_commit_name(id, err);
    memcpy(id, name, HUB_COMMIT_ID + 1);
    return HUB_OK;
}

static enum hub_status insert_commit(struct adding *a, char id[HUB_COMMIT_ID + 1], struct hub_error *err)
{
    const struct hub_push_order *order = a->order;
    struct hub_stmt *stmt;
    HUB_TRY(name_commit(a, id, err));
    HUB_TRY(hub_db_query(a->db,
                         "INSERT INTO repo_commits (line, id, parent, who, title, message, at) VALUES"
                         " (?1, ?2, ?3, ?4, ?5, ?6, " HUB_DB_NOW ")",
                         a->line, &stmt, err));
    const char *const texts[] = {id, a->head.id, order->who, order->title, order->message};
    for (unsigned i = 0; i < HUB_COUNT(texts); i++)
        hub_stmt_bind_text(stmt, (int)i + 2, texts[i]);
    HUB_TRY(hub_stmt_run(stmt, err));
    a->number = hub_db_last_row(a->db);
    return HUB_OK;
}

static enum hub_status move_branch(struct adding *a, const char *id, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        a->db, "UPDATE repo_refs SET pushed = ?3 WHERE repo = ?1 AND kind = 'branch' AND name = ?2", &stmt,
        err));
    hub_stmt_bind_text(stmt, 1, a->order->repo);
    hub_stmt_bind_text(stmt, 2, a->order->branch);
    hub_stmt_bind_text(stmt, 3, id);
    return hub_stmt_run(stmt, err);
}

/* What a commit took waits for none. */
static enum hub_status take_deposits(struct adding *a, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_query(a->db,
                         "DELETE FROM deposits WHERE who = ?2 AND root = ?3 AND sha256 IN (SELECT sha256 FROM"
                         " repo_files WHERE line = ?1 AND since = ?4)",
                         a->line, &stmt, err));
    hub_stmt_bind_text(stmt, 2, a->order->who);
    hub_stmt_bind_text(stmt, 3, hub_roots_key(a->held->roots, a->order->root, number));
    hub_stmt_bind_int(stmt, 4, a->number);
    return hub_stmt_run(stmt, err);
}

static enum hub_status check_parent(const struct adding *a, struct hub_error *err)
{
    const char *parent = a->order->parent;
    const bool lost = !a->changed && parent && strcmp(a->head.parent, parent) == 0;
    if (!parent || lost || strcmp(parent, a->head.id) == 0)
        return HUB_OK;
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_COMMIT_CONFLICT,
                       "A commit has happened since: the head of '%.100s' is %s, and not %.40s. Please "
                       "refresh and try again.",
                       a->order->branch, a->head.id, parent);
}

static enum hub_status add(struct adding *a, struct hub_push *out, struct hub_error *err)
{
    char id[HUB_COMMIT_ID + 1];
    HUB_TRY(find_head(a, err));
    HUB_TRY(insert_commit(a, id, err));
    for (uint32_t i = 0; i < a->order->count; i++)
        HUB_TRY(apply(a, &a->order->changes[i], err));
    HUB_TRY(check_parent(a, err));
    if (!a->changed && !a->order->name) {
        hub_db_rollback(a->db);
        return hub_push_named_in(a->db, a->order->repo, hub_view_of(a->head.id), out, err);
    }
    HUB_TRY(move_branch(a, id, err));
    HUB_TRY(take_deposits(a, err));
    HUB_TRY(hub_push_named_in(a->db, a->order->repo, hub_view_of(id), out, err));
    const enum hub_status st = hub_db_commit(a->db, err);
    if (st)
        hub_push_dispose(out);
    return st;
}

enum hub_status hub_push_add(struct hub_truth *truth, const struct hub_push_order *order,
                             struct hub_push *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct adding a = {.held = held, .db = held->db, .order = order};
    HUB_TRY(hub_db_begin(held->db, err));
    const enum hub_status st = add(&a, out, err);
    hub_push_dispose(&a.head);
    return st;
}
