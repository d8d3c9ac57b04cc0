/* Drafts in hub.db: see drafts.h. */
#include "storage/truth/drafts.h"

#include "storage/access/token.h"
#include "storage/io/boot.h"
#include "storage/truth/audit.h"
#include "storage/truth/fold.h"
#include "storage/truth/hook_events.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/quota_check.h"
#include "storage/truth/quotas.h"
#include "storage/truth/twins.h"

#include <stdio.h>
#include <stdlib.h>

const char *const hub_draft_states[] = {[HUB_DRAFT_OPEN] = "open",
                                        [HUB_DRAFT_COMMITTING] = "committing",
                                        [HUB_DRAFT_PUBLISHING] = "publishing",
                                        [HUB_DRAFT_PUBLISHED] = "published",
                                        [HUB_DRAFT_DROPPED] = "dropped",
                                        NULL};

#define COLUMNS "id, dataset, root, path, who, state, made, touched, commit_id, base, key"

void hub_draft_row_dispose(struct hub_draft_row *row)
{
    free(row->dataset);
    free(row->path);
    free(row->who);
    *row = (struct hub_draft_row){0};
}

static enum hub_status not_found(const char *id, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_NOT_FOUND, HUB_PROBLEM_DRAFT_NOT_FOUND,
        "there is no draft '%.40s': it was dropped, or has ended %d days after its last change", id,
        HUB_DRAFT_DAYS);
}

static enum hub_status busy(const char *id, struct hub_error *err)
{
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DRAFT_BUSY,
                       "the draft '%.40s' is being published, or was: it takes no more files", id);
}

/* ---- rows ---- */

static enum hub_draft_state state_of(const char *text)
{
    for (unsigned i = 0; hub_draft_states[i]; i++)
        if (strcmp(text, hub_draft_states[i]) == 0)
            return (enum hub_draft_state)i;
    return HUB_DRAFT_COMMITTING;
}

static enum hub_status read_row(const struct hub_truth *truth, struct hub_stmt *stmt,
                                struct hub_draft_row *out, struct hub_error *err)
{
    *out = (struct hub_draft_row){.root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 2)),
                                  .state = state_of(hub_stmt_text(stmt, 5)),
                                  .made_ms = hub_stmt_int(stmt, 6),
                                  .touched_ms = hub_stmt_int(stmt, 7)};
    snprintf(out->id, sizeof out->id, "%s", hub_stmt_text(stmt, 0));
    snprintf(out->commit, sizeof out->commit, "%s", hub_stmt_text(stmt, 8));
    snprintf(out->base, sizeof out->base, "%s", hub_stmt_text(stmt, 9));
    snprintf(out->key, sizeof out->key, "%s", hub_stmt_text(stmt, 10));
    HUB_TRY(hub_dup(&out->dataset, hub_stmt_text(stmt, 1), err));
    HUB_TRY(hub_dup(&out->path, hub_stmt_text(stmt, 3), err));
    return hub_dup(&out->who, hub_stmt_text(stmt, 4), err);
}

/* Random, so that it tells nothing of how many there are. */
static enum hub_status make_id(char out[HUB_DRAFT_ID + 1], struct hub_error *err)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    uint8_t random[HUB_DRAFT_ID];
    HUB_TRY(hub_secret_make(random, sizeof random, err));
    for (unsigned i = 0; i < HUB_DRAFT_ID; i++)
        out[i] = digits[random[i] & 31];
    out[HUB_DRAFT_ID] = '\0';
    return HUB_OK;
}

static enum hub_status check_room(struct hub_db *db, const char *who, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(
        db, "SELECT count(*) FROM drafts WHERE who = ?1 AND state IN ('open', 'committing', 'publishing')",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, who);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row && hub_stmt_int(stmt, 0) >= HUB_DRAFTS_OF_ONE
               ? hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_TOO_MANY_DRAFTS,
                             "%.80s has %d open drafts already: publish one, or drop it", who,
                             HUB_DRAFTS_OF_ONE)
               : HUB_OK;
}

/* An open one of the same key, dataset and base; `id` of the row is written where there is one. */
static enum hub_status find_keyed(struct hub_db *db, struct hub_draft_row *row, bool *found,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    if (!*row->key)
        return HUB_OK;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT id FROM drafts WHERE who = ?1 AND key = ?2 AND key <> '' AND dataset = ?3"
                           " AND base = ?4 AND state = 'open' ORDER BY id LIMIT 1",
                           &stmt, err));
    const char *const texts[] = {row->who, row->key, row->dataset, row->base};
    for (unsigned i = 0; i < HUB_COUNT(texts); i++)
        hub_stmt_bind_text(stmt, (int)i + 1, texts[i]);
    HUB_TRY(hub_stmt_step(stmt, found, err));
    if (*found)
        snprintf(row->id, sizeof row->id, "%s", hub_stmt_text(stmt, 0));
    return HUB_OK;
}

static enum hub_status insert_draft(struct hub_truth *held, const struct hub_draft_row *row,
                                    struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(
        held->db,
        "INSERT INTO drafts (id, dataset, root, path, who, base, key, state, made, touched, declared)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'open', " HUB_DB_NOW ", " HUB_DB_NOW ", ?8)",
        &stmt, err));
    const char *const texts[] = {row->id,   row->dataset, hub_roots_key(held->roots, row->root, number),
                                 row->path, row->who,     row->base,
                                 row->key};
    for (unsigned i = 0; i < HUB_COUNT(texts); i++)
        hub_stmt_bind_text(stmt, (int)i + 1, texts[i]);
    hub_stmt_bind_int(stmt, HUB_COUNT(texts) + 1, (int64_t)row->declared);
    return hub_stmt_run(stmt, err);
}

static enum hub_status add_draft(struct hub_truth *truth, struct hub_draft_row *row, bool *found,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(find_keyed(held->db, row, found, err));
    if (*found)
        return HUB_OK; /* nothing was written */
    HUB_TRY(check_room(held->db, row->who, err));
    HUB_TRY(insert_draft(held, row, err));
    if (row->declared)
        HUB_TRY(hub_quotas_check(held, row->dataset, err));
    return hub_db_commit(held->db, err);
}

/* Before a quota refuses, the disks are asked whether all that counts is still there. */
static bool is_less_by_now(struct hub_truth *truth, enum hub_status st)
{
    bool changed = false;
    return st == HUB_NO_SPACE && !hub_holdings_look(truth, &changed, NULL) && changed;
}

enum hub_status hub_draft_add_once(struct hub_truth *truth, struct hub_draft_row *row, bool *found,
                                   struct hub_error *err)
{
    *found = false;
    HUB_TRY(make_id(row->id, err));
    const enum hub_status st = add_draft(truth, row, found, err);
    return is_less_by_now(truth, st) ? add_draft(truth, row, found, err) : st;
}

enum hub_status hub_draft_add(struct hub_truth *truth, struct hub_draft_row *row, struct hub_error *err)
{
    bool found;
    return hub_draft_add_once(truth, row, &found, err);
}

enum hub_status hub_draft_find(struct hub_truth *truth, const char *id, struct hub_draft_row *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT " COLUMNS " FROM drafts WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? read_row(truth, stmt, out, err) : not_found(id, err);
}

enum hub_status hub_draft_count(struct hub_truth *truth, struct hub_draft_row *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool found = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT count(*), coalesce(sum(size), 0), count(nullif(length(sha256), 0))"
                           " FROM draft_files WHERE draft = ?1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, row->id);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (found) {
        row->files = (uint64_t)hub_stmt_int(stmt, 0);
        row->bytes = (uint64_t)hub_stmt_int(stmt, 1);
        row->complete = (uint64_t)hub_stmt_int(stmt, 2);
    }
    return HUB_OK;
}

static enum hub_status hand_out(struct hub_truth *truth, struct hub_stmt *stmt, hub_draft_each each,
                                void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_TRY(read_row(truth, stmt, &row, err));
    HUB_TRY(hub_draft_count(truth, &row, err));
    return each(user, &row, err);
}

enum hub_status hub_drafts_each(struct hub_truth *truth, hub_draft_each each, void *user,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT " COLUMNS " FROM drafts ORDER BY id", &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(hand_out(truth, stmt, each, user, err));
    }
}

enum hub_status hub_draft_forget(struct hub_truth *truth, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_run_texts(held->db, "DELETE FROM draft_verdicts WHERE draft = ?1", id, NULL, err));
    HUB_TRY(hub_db_run_texts(held->db, "DELETE FROM drafts WHERE id = ?1", id, NULL, err));
    HUB_TRY(hub_db_run_texts(held->db, "DELETE FROM draft_files WHERE draft = ?1", id, NULL, err));
    return hub_db_commit(held->db, err);
}

/* ---- states ---- */

/* Within a transaction. */
static enum hub_status turn(struct hub_db *db, const char *id, enum hub_draft_state from,
                            enum hub_draft_state to, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool turned = false;
    HUB_TRY(hub_db_prepare(db,
                           "UPDATE drafts SET state = ?3, touched = " HUB_DB_NOW
                           " WHERE id = ?1 AND state = ?2 RETURNING id",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, id);
    hub_stmt_bind_text(stmt, 2, hub_draft_states[from]);
    hub_stmt_bind_text(stmt, 3, hub_draft_states[to]);
    HUB_TRY(hub_stmt_step(stmt, &turned, err));
    return turned ? HUB_OK : busy(id, err);
}

enum hub_status hub_draft_turn(struct hub_truth *truth, const char *id, enum hub_draft_state from,
                               enum hub_draft_state to, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(turn(held->db, id, from, to, err));
    return hub_db_commit(held->db, err);
}

/* ---- files ---- */

enum { FOR_GOOD = -1 /* the start of the machine in which a file came that was on the disk already */ };

static enum hub_status put_file(struct hub_db *db, const char *draft, const struct hub_draft_file *file,
                                struct hub_view folded, int64_t boot, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO draft_files (draft, path, size, sha256, folded, boot, md5, crc32c)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (draft, path)"
                       " DO UPDATE SET size = ?3, sha256 = ?4, folded = ?5, boot = ?6, md5 = ?7, crc32c = ?8",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    hub_stmt_bind_text(stmt, 2, file->path);
    hub_stmt_bind_int(stmt, 3, (int64_t)file->size);
    hub_stmt_bind_blob(stmt, 4, file->sha256, file->complete ? sizeof file->sha256 : 0);
    hub_stmt_bind_view(stmt, 5, folded);
    hub_stmt_bind_int(stmt, 6, boot);
    hub_stmt_bind_blob(stmt, 7, file->md5, file->has_md5 ? sizeof file->md5 : 0);
    hub_stmt_bind_blob(stmt, 8, file->crc32c, file->has_crc32c ? sizeof file->crc32c : 0);
    return hub_stmt_run(stmt, err);
}

static enum hub_status state_file(struct hub_truth *truth, const char *draft,
                                  const struct hub_draft_file *file, struct hub_view folded,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(turn(held->db, draft, HUB_DRAFT_OPEN, HUB_DRAFT_OPEN, err));
    HUB_TRY(hub_twins_check(held->db, draft, file->path, folded, err));
    HUB_TRY(put_file(held->db, draft, file, folded, hub_boot(), err));
    if (!file->complete) /* one that is has been admitted, and its bytes are there */
        HUB_TRY(hub_quotas_check_draft(held, draft, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_draft_file_put(struct hub_truth *truth, const char *draft,
                                   const struct hub_draft_file *file, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folded = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_path_fold(hub_view_of(file->path), &folded, err));
    const enum hub_status st = state_file(truth, draft, file, hub_buf_view(&folded), err);
    return is_less_by_now(truth, st) ? state_file(truth, draft, file, hub_buf_view(&folded), err) : st;
}

enum hub_status hub_draft_files_take(struct hub_truth *truth, const char *draft,
                                     const struct hub_draft_file *files, uint32_t count,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(turn(held->db, draft, HUB_DRAFT_OPEN, HUB_DRAFT_OPEN, err));
    for (uint32_t i = 0; i < count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf folded = HUB_BUF_INIT(16 * KIB);
        HUB_TRY(hub_path_fold(hub_view_of(files[i].path), &folded, err));
        HUB_TRY(put_file(held->db, draft, &files[i], hub_buf_view(&folded), FOR_GOOD, err));
    }
    HUB_TRY(hub_quotas_check_draft(held, draft, err));
    return hub_db_commit(held->db, err);
}

static void read_file(struct hub_stmt *stmt, struct hub_draft_file *out)
{
    const struct hub_view sha256 = hub_stmt_blob(stmt, 2);
    *out = (struct hub_draft_file){.path = hub_stmt_text(stmt, 0),
                                   .size = (uint64_t)hub_stmt_int(stmt, 1),
                                   .complete = sha256.size == sizeof out->sha256};
    if (out->complete)
        memcpy(out->sha256, sha256.data, sha256.size);
    const struct hub_view md5 = hub_stmt_blob(stmt, 4), crc32c = hub_stmt_blob(stmt, 5);
    out->has_md5 = md5.size == sizeof out->md5;
    out->has_crc32c = crc32c.size == sizeof out->crc32c;
    if (out->has_md5)
        memcpy(out->md5, md5.data, md5.size);
    if (out->has_crc32c)
        memcpy(out->crc32c, crc32c.data, crc32c.size);
    const int64_t boot = hub_stmt_int(stmt, 3);
    out->doubtful = out->complete && boot != FOR_GOOD && boot != hub_boot();
}

enum hub_status hub_draft_file_find(struct hub_truth *truth, const char *draft, const char *path,
                                    struct hub_draft_file *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(
        db, "SELECT path, size, sha256, boot, md5, crc32c FROM draft_files WHERE draft = ?1 AND path = ?2",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    hub_stmt_bind_text(stmt, 2, path);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "the draft has no file '%.200s'", path);
    read_file(stmt, out);
    out->path = path;
    return HUB_OK;
}

enum hub_status hub_draft_file_forget(struct hub_truth *truth, const char *draft, const char *path,
                                      struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(turn(held->db, draft, HUB_DRAFT_OPEN, HUB_DRAFT_OPEN, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM draft_files WHERE draft = ?1 AND path = ?2", &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    hub_stmt_bind_text(stmt, 2, path);
    HUB_TRY(hub_stmt_run(stmt, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_draft_files_each(struct hub_truth *truth, const char *draft, const char *after,
                                     uint32_t limit, hub_draft_file_each each, void *user,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(
        db,
        "SELECT path, size, sha256, boot, md5, crc32c FROM draft_files WHERE draft = ?1 AND path > ?2"
        " ORDER BY path LIMIT ?3",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    hub_stmt_bind_text(stmt, 2, after ? after : "");
    hub_stmt_bind_int(stmt, 3, limit ? (int64_t)limit : -1);
    for (;;) {
        struct hub_draft_file file;
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        read_file(stmt, &file);
        HUB_TRY(each(user, &file, err));
    }
}

/* ---- publication ---- */

enum hub_status hub_draft_claim(struct hub_truth *truth, const struct hub_draft_row *row,
                                char commit[HUB_COMMIT_ID + 1], struct hub_error *err)
{
    if (!*commit)
        HUB_TRY(hub_commit_name(commit, err));
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_commit_expect_quiet(held->db, row->dataset, row->id, err));
    HUB_TRY(hub_commit_expect(held->db, row->dataset, row->base, err));
    HUB_TRY(turn(held->db, row->id, HUB_DRAFT_COMMITTING, HUB_DRAFT_PUBLISHING, err));
    HUB_TRY(
        hub_db_run_texts(held->db, "UPDATE drafts SET commit_id = ?2 WHERE id = ?1", row->id, commit, err));
    return hub_db_commit(held->db, err);
}

/* Whoever is to hear of it hears of it also after a kill. Too many that wait end no publication. */
static enum hub_status keep_event(struct hub_truth *held, const char *draft, const struct hub_commit *commit,
                                  struct hub_error *err)
{
    const struct hub_hook_event event = {.event = "publish",
                                         .dataset = commit->dataset,
                                         .draft = draft,
                                         .commit = commit->id,
                                         .who = commit->who,
                                         .files = commit->files,
                                         .bytes = commit->bytes};
    if (!atomic_load(&held->keeps_events))
        return HUB_OK;
    const enum hub_status st = hub_hook_event_insert(held->db, &event, err);
    if (st != HUB_TOO_BIG)
        return st;
    atomic_fetch_add(&held->events_dropped, 1);
    return HUB_OK;
}

enum hub_status hub_draft_publish(struct hub_truth *truth, const char *draft, const struct hub_commit *commit,
                                  bool keep_parent, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(turn(held->db, draft, HUB_DRAFT_PUBLISHING, HUB_DRAFT_PUBLISHED, err));
    HUB_TRY(hub_commit_insert(held, commit, keep_parent, err));
    HUB_TRY(hub_holding_put(held->db, draft, err));
    HUB_TRY(keep_event(held, draft, commit, err));
    return hub_commits_end(held, err);
}
