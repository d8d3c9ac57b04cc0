/* Where mirrored datasets came from: see upstream.h. */
#include "storage/truth/upstream.h"

#include "storage/truth/hubdb.h"

#include <stdlib.h>

enum { MAX_TEXT_BYTES = 1 << 30 };

void hub_upstream_dispose(struct hub_upstream *upstream)
{
    free(upstream->files);
    free(upstream->texts);
    *upstream = (struct hub_upstream){0};
}

static void bind_dataset(const struct hub_truth *truth, struct hub_stmt *stmt, uint32_t root,
                         const char *path, char number[16])
{
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, root, number));
    hub_stmt_bind_text(stmt, 2, path);
}

/* ---- reading ---- */

/* Texts lie behind each other in a buffer that moves while it grows: they are found in it when it is
 * whole. */
static enum hub_status keep_text(struct hub_buf *texts, const char *text, struct hub_error *err)
{
    return hub_buf_add(texts, text ? text : "", text ? strlen(text) + 1 : 1, err);
}

static const char *next_text(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static void read_digest(struct hub_view blob, uint8_t *out, size_t size)
{
    if (blob.size == size)
        memcpy(out, blob.data, size);
}

static enum hub_status read_files(struct hub_stmt *stmt, struct hub_buf *texts, struct hub_upstream *out,
                                  struct hub_error *err)
{
    uint32_t capacity = 0;
    bool row = false;
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(hub_grow(&out->files, out->file_count, &capacity, sizeof *out->files, err));
        struct hub_file_facts *file = &out->files[out->file_count++];
        *file = (struct hub_file_facts){.size = (uint64_t)hub_stmt_int(stmt, 2),
                                        .generation = (uint64_t)hub_stmt_int(stmt, 3),
                                        .modified_ns = hub_stmt_int(stmt, 4),
                                        .other = (uint8_t)hub_stmt_int(stmt, 6)};
        const struct hub_view sha256 = hub_stmt_blob(stmt, 5);
        file->has_sha256 = sha256.size == sizeof file->sha256;
        read_digest(sha256, file->sha256, sizeof file->sha256);
        read_digest(hub_stmt_blob(stmt, 7), file->sum, sizeof file->sum);
        HUB_TRY(keep_text(texts, hub_stmt_text(stmt, 0), err));
        HUB_TRY(keep_text(texts, hub_stmt_text(stmt, 1), err));
    }
}

/* Files of a copy: those of the folder `below` in it, whose name ends with a slash; "": all. */
struct copied_part {
    uint32_t root;
    const char *path, *below;
};

/* What follows all of a folder has '0' in the place of the slash at its end. */
static enum hub_status find_files(const struct hub_truth *truth, struct hub_db *db,
                                  const struct copied_part *part, struct hub_buf *texts,
                                  struct hub_upstream *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    HUB_TRY(
        hub_db_prepare(db,
                       "SELECT path, etag, size, generation, modified, sha256, other, sum FROM origin_files"
                       " WHERE root = ? AND dataset = ? AND path >= ?3 AND"
                       " (?3 = '' OR path < substr(?3, 1, length(?3) - 1) || '0') ORDER BY path",
                       &stmt, err));
    bind_dataset(truth, stmt, part->root, part->path, number);
    hub_stmt_bind_text(stmt, 3, part->below);
    return read_files(stmt, texts, out, err);
}

static enum hub_status read_upstream(struct hub_stmt *stmt, struct hub_buf *texts, struct hub_upstream *out,
                                     struct hub_error *err)
{
    for (int i = 0; i < 5; i++)
        HUB_TRY(keep_text(texts, hub_stmt_text(stmt, i), err));
    out->synced_ms = hub_stmt_int(stmt, 5);
    out->changed_ms = hub_stmt_int(stmt, 6);
    out->gone_ms = hub_stmt_int(stmt, 7);
    out->added = (uint64_t)hub_stmt_int(stmt, 8);
    out->replaced = (uint64_t)hub_stmt_int(stmt, 9);
    out->removed = (uint64_t)hub_stmt_int(stmt, 10);
    out->stale = hub_stmt_int(stmt, 11) != 0;
    out->unlisted_ms = hub_stmt_int(stmt, 12);
    return HUB_OK;
}

static enum hub_status find(const struct hub_truth *truth, struct hub_db *db, uint32_t root, const char *path,
                            struct hub_buf *texts, struct hub_upstream *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    bool row = false;
    HUB_TRY(hub_db_prepare(
        db,
        "SELECT rule, remote, remote_id, revision, was, synced, changed, gone, added, replaced,"
        " removed, seen > synced, unlisted FROM origins WHERE root = ? AND path = ?",
        &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "'%.200s' was not mirrored", path);
    return read_upstream(stmt, texts, out, err);
}

/* @param below  NULL: no files */
static enum hub_status find_whole(const struct hub_truth *truth, struct hub_db *db, uint32_t root,
                                  const char *path, const char *below, struct hub_upstream *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf texts = HUB_BUF_INIT(MAX_TEXT_BYTES);
    *out = (struct hub_upstream){0};
    enum hub_status st = find(truth, db, root, path, &texts, out, err);
    if (!st && below)
        st = find_files(truth, db, &(struct copied_part){root, path, below}, &texts, out, err);
    if (st) {
        hub_upstream_dispose(out);
        return st;
    }
    const char **const members[] = {&out->rule, &out->remote, &out->id, &out->revision, &out->was};
    const char *at = texts.data;
    for (size_t i = 0; i < HUB_COUNT(members); i++)
        *members[i] = next_text(&at);
    for (uint32_t i = 0; i < out->file_count; i++) {
        out->files[i].path = next_text(&at);
        out->files[i].etag = next_text(&at);
    }
    out->texts = texts.data;
    texts = (struct hub_buf){0};
    return HUB_OK;
}

enum hub_status hub_upstream_find(struct hub_truth *truth, uint32_t root, const char *path, bool with_files,
                                  struct hub_upstream *out, struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    return find_whole(truth, db, root, path, with_files ? "" : NULL, out, err);
}

static enum hub_status has_files(const struct hub_truth *truth, struct hub_db *db, uint32_t root,
                                 const char *path, const char *below, bool *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    HUB_TRY(hub_db_prepare(db,
                           "SELECT 1 FROM origin_files WHERE root = ? AND dataset = ? AND path >= ?3 AND"
                           " path < substr(?3, 1, length(?3) - 1) || '0' LIMIT 1",
                           &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    hub_stmt_bind_text(stmt, 3, below);
    return hub_stmt_step(stmt, out, err);
}

enum hub_status hub_upstream_around(struct hub_truth *truth, uint32_t root, const char *path, bool with_files,
                                    struct hub_upstream *out, struct hub_view *below, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(16 * KIB);
    struct hub_db *db;
    bool found = false;
    *below = HUB_VIEW("");
    enum hub_status st = hub_upstream_find(truth, root, path, with_files, out, err);
    HUB_TRY(hub_truth_reader(truth, &db, err));
    for (const char *end = path + strlen(path); st == HUB_NOT_FOUND && end > path; end--) {
        if (*end != '/')
            continue;
        HUB_CLEANUP(hub_freep) char *copy = strndup(path, (size_t)(end - path));
        HUB_TRY(hub_allocated(copy, err));
        folder.size = 0;
        HUB_TRY(hub_buf_addf(&folder, err, "%s/", end + 1));
        HUB_TRY(has_files(truth, db, root, copy, folder.data, &found, err));
        if (found)
            st = find_whole(truth, db, root, copy, with_files ? folder.data : NULL, out, err);
        if (!st)
            *below = hub_view_of(end + 1);
    }
    return st;
}

enum hub_status hub_upstream_pieces(struct hub_truth *truth, uint32_t root, const char *dataset,
                                    const char *path, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    char number[16];
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT pieces FROM origin_files WHERE root = ? AND dataset = ? AND path = ?",
                           &stmt, err));
    bind_dataset(truth, stmt, root, dataset, number);
    hub_stmt_bind_text(stmt, 3, path);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? hub_buf_add_view(out, hub_stmt_blob(stmt, 0), err) : HUB_OK;
}

/* ---- writing ---- */

/* By both SHA-256, or where one is not known by what the remote states. */
static bool is_same(const struct hub_file_facts *a, const struct hub_file_facts *b)
{
    if (a->has_sha256 && b->has_sha256)
        return memcmp(a->sha256, b->sha256, sizeof a->sha256) == 0;
    return a->other && a->other == b->other && a->size == b->size &&
           memcmp(a->sum, b->sum, sizeof a->sum) == 0;
}

/* What the new list has and the old has not, and so on. Both are sorted. */
static void compare(const struct hub_upstream *old, const struct hub_upstream *new, uint64_t out[3])
{
    uint32_t i = 0, k = 0;
    memset(out, 0, 3 * sizeof *out);
    while (i < old->file_count || k < new->file_count) {
        const int order = i == old->file_count   ? 1
                          : k == new->file_count ? -1
                                                 : strcmp(old->files[i].path, new->files[k].path);
        out[0] += order > 0;
        out[1] += order == 0 && !is_same(&old->files[i], &new->files[k]);
        out[2] += order < 0;
        i += order <= 0;
        k += order >= 0;
    }
}

static enum hub_status put_dataset(const struct hub_truth *truth, struct hub_db *db, uint32_t root,
                                   const char *path, const struct hub_upstream *new,
                                   const struct hub_upstream *old, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    uint64_t counts[3];
    compare(old, new, counts);
    const bool changed = old->files && counts[0] + counts[1] + counts[2];
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO origins (root, path, rule, remote, remote_id, revision, synced, seen, read)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, " HUB_DB_NOW
        ", coalesce((SELECT begun FROM rules WHERE name = ?3), 0), " HUB_DB_NOW
        ") ON CONFLICT (root, path) DO UPDATE SET"
        " rule = excluded.rule, remote = excluded.remote, remote_id = excluded.remote_id, synced = "
        "excluded.synced,"
        " seen = excluded.seen, gone = 0, unlisted = 0, was = CASE WHEN ?7 THEN revision ELSE was END,"
        " changed = CASE WHEN ?7 THEN excluded.synced ELSE changed END,"
        " added = CASE WHEN ?7 THEN ?8 ELSE added END, replaced = CASE WHEN ?7 THEN ?9 ELSE replaced END,"
        " removed = CASE WHEN ?7 THEN ?10 ELSE removed END, revision = excluded.revision",
        &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    hub_stmt_bind_text(stmt, 3, new->rule);
    hub_stmt_bind_text(stmt, 4, new->remote);
    hub_stmt_bind_text(stmt, 5, new->id);
    hub_stmt_bind_text(stmt, 6, new->revision);
    hub_stmt_bind_int(stmt, 7, changed);
    for (int i = 0; i < 3; i++)
        hub_stmt_bind_int(stmt, 8 + i, (int64_t)counts[i]);
    return hub_stmt_run(stmt, err);
}

/* A statement about a dataset, or one file of it. */
static enum hub_status run_about(const struct hub_truth *truth, struct hub_db *db, const char *sql,
                                 uint32_t root, const char *path, const char *file, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    if (file)
        hub_stmt_bind_text(stmt, 3, file);
    return hub_stmt_run(stmt, err);
}

static enum hub_status put_file(const struct hub_truth *truth, struct hub_db *db, uint32_t root,
                                const char *path, const struct hub_file_facts *file, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    /* linked files have no new pieces: copy those of the old file */
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO origin_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (root, dataset, path)"
        " DO UPDATE SET size = excluded.size, modified = excluded.modified, generation = excluded.generation,"
        " etag = excluded.etag, sha256 = excluded.sha256, other = excluded.other, sum = excluded.sum, pieces "
        "="
        " CASE WHEN excluded.pieces IS NULL AND size = excluded.size AND (sha256 <> x'' AND sha256 = "
        "excluded.sha256"
        " OR other <> 0 AND other = excluded.other AND sum = excluded.sum) THEN pieces ELSE excluded.pieces "
        "END",
        &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    hub_stmt_bind_text(stmt, 3, file->path);
    hub_stmt_bind_int(stmt, 4, (int64_t)file->size);
    hub_stmt_bind_int(stmt, 5, file->modified_ns);
    hub_stmt_bind_int(stmt, 6, (int64_t)file->generation);
    hub_stmt_bind_text(stmt, 7, file->etag ? file->etag : "");
    hub_stmt_bind_blob(stmt, 8, file->sha256, file->has_sha256 ? sizeof file->sha256 : 0);
    hub_stmt_bind_int(stmt, 9, file->other);
    hub_stmt_bind_blob(stmt, 10, file->sum, sizeof file->sum);
    hub_stmt_bind_blob(stmt, 11, file->pieces.data, file->pieces.size);
    return hub_stmt_run(stmt, err);
}

/* Both are sorted. */
static enum hub_status put_files(const struct hub_truth *truth, struct hub_db *db, uint32_t root,
                                 const char *path, const struct hub_upstream *new,
                                 const struct hub_upstream *old, struct hub_error *err)
{
    for (uint32_t i = 0, k = 0; i < old->file_count; i++) {
        while (k < new->file_count && strcmp(new->files[k].path, old->files[i].path) < 0)
            k++;
        if (k == new->file_count || strcmp(new->files[k].path, old->files[i].path) != 0)
            HUB_TRY(run_about(truth, db,
                              "DELETE FROM origin_files WHERE root = ? AND dataset = ? AND path = ?", root,
                              path, old->files[i].path, err));
    }
    for (uint32_t i = 0; i < new->file_count; i++)
        HUB_TRY(put_file(truth, db, root, path, &new->files[i], err));
    return HUB_OK;
}

enum hub_status hub_upstream_store(struct hub_truth *truth, struct hub_lease lease, uint32_t root,
                                   const char *path, const struct hub_upstream *upstream,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_upstream_dispose) struct hub_upstream old = {0};
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_db *db = held->db;
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(hub_lease_check(db, lease, err));
    const enum hub_status st = find_whole(truth, db, root, path, "", &old, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    HUB_TRY(put_dataset(truth, db, root, path, upstream, &old, err));
    HUB_TRY(put_files(truth, db, root, path, upstream, &old, err));
    HUB_TRY(hub_db_commit(db, err));
    atomic_fetch_add(&truth->upstream_stored, 1);
    return HUB_OK;
}

enum hub_status hub_upstream_seen(struct hub_truth *truth, const char *rule, int64_t begun_ms, uint32_t root,
                                  const struct hub_upstream_seen *seen, size_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    char number[16];
    HUB_TRY(hub_db_begin(held->db, err));
    for (size_t i = 0; i < count; i++) {
        struct hub_stmt *stmt;
        HUB_TRY(hub_db_prepare(
            held->db,
            "UPDATE origins SET seen = ?4, gone = 0, unlisted = 0, synced = CASE WHEN ?3 THEN " HUB_DB_NOW
            " ELSE synced END WHERE root = ?1 AND path = ?2 AND rule = ?5",
            &stmt, err));
        bind_dataset(truth, stmt, root, seen[i].path, number);
        hub_stmt_bind_int(stmt, 3, seen[i].same);
        hub_stmt_bind_int(stmt, 4, begun_ms);
        hub_stmt_bind_text(stmt, 5, rule);
        HUB_TRY(hub_stmt_run(stmt, err));
    }
    HUB_TRY(hub_db_commit(held->db, err));
    atomic_fetch_add(&truth->upstream_stored, 1);
    return HUB_OK;
}

enum hub_status hub_upstream_unseen_each(struct hub_truth *truth, const char *rule, int64_t begun_ms,
                                         hub_upstream_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT root, path, remote, remote_id, gone > 0, unlisted > 0 FROM origins"
                           " WHERE rule = ? AND seen <> ? ORDER BY path",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, rule);
    hub_stmt_bind_int(stmt, 2, begun_ms);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_upstream_unseen copy = {.root =
                                                     hub_roots_number(truth->roots, hub_stmt_text(stmt, 0)),
                                                 .path = hub_stmt_text(stmt, 1),
                                                 .remote = hub_stmt_text(stmt, 2),
                                                 .id = hub_stmt_text(stmt, 3),
                                                 .gone = hub_stmt_int(stmt, 4) != 0,
                                                 .unlisted = hub_stmt_int(stmt, 5) != 0};
        HUB_TRY(each(user, &copy, err));
    }
}

enum hub_status hub_upstream_mark(struct hub_truth *truth, uint32_t root, const char *path, bool gone,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db,
                           "UPDATE origins SET gone = CASE WHEN NOT ?3 THEN 0 WHEN gone THEN gone ELSE "
                           "" HUB_DB_NOW " END,"
                           " unlisted = CASE WHEN ?3 THEN 0 WHEN unlisted THEN unlisted ELSE " HUB_DB_NOW
                           " END WHERE root = ?1 AND path = ?2",
                           &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    hub_stmt_bind_int(stmt, 3, gone);
    HUB_TRY(hub_stmt_run(stmt, err));
    atomic_fetch_add(&truth->upstream_stored, 1);
    return HUB_OK;
}

enum hub_status hub_upstream_forget(struct hub_truth *truth, uint32_t root, const char *path,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_db *db = held->db;
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(run_about(truth, db, "DELETE FROM origins WHERE root = ? AND path = ?", root, path, NULL, err));
    HUB_TRY(run_about(truth, db, "DELETE FROM origin_files WHERE root = ? AND dataset = ?", root, path, NULL,
                      err));
    HUB_TRY(hub_db_commit(db, err));
    atomic_fetch_add(&truth->upstream_stored, 1);
    return HUB_OK;
}

/* ---- copies ---- */

enum hub_status hub_copies_each(struct hub_truth *truth, const char *rule, hub_copy_each each, void *user,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(
        hub_db_prepare(db,
                       "SELECT root, path, remote_id, read, seen, seen > synced, gone OR unlisted, (SELECT"
                       " coalesce(sum(size), 0) FROM origin_files f WHERE f.root = o.root AND"
                       " f.dataset = o.path) FROM origins o WHERE rule = ?",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, rule);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const struct hub_copy copy = {.root = hub_roots_number(truth->roots, hub_stmt_text(stmt, 0)),
                                      .path = hub_stmt_text(stmt, 1),
                                      .remote_id = hub_stmt_text(stmt, 2),
                                      .read_ms = hub_stmt_int(stmt, 3),
                                      .seen_ms = hub_stmt_int(stmt, 4),
                                      .stale = hub_stmt_int(stmt, 5) != 0,
                                      .gone = hub_stmt_int(stmt, 6) != 0,
                                      .size = (uint64_t)hub_stmt_int(stmt, 7)};
        HUB_TRY(each(user, &copy, err));
    }
}

enum hub_status hub_copy_read(struct hub_truth *truth, uint32_t root, const char *path, int64_t read_ms,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db, "UPDATE origins SET read = max(read, ?3) WHERE root = ?1 AND path = ?2",
                           &stmt, err));
    bind_dataset(truth, stmt, root, path, number);
    hub_stmt_bind_int(stmt, 3, read_ms);
    return hub_stmt_run(stmt, err);
}

uint64_t hub_upstream_generation(const struct hub_truth *truth)
{
    return atomic_load(&truth->upstream_stored);
}
