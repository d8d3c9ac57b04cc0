/* Verified digests in hub.db, each with the stamp of its file at that moment, and a bounded memory of what
 * was asked lately (also that nothing is known), so that a listing of files asks SQLite once. */
#include "storage/truth/digests.h"

#include "storage/truth/hubdb.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PATH_BYTES = 4096 };

void hub_digests_stated(const struct hub_file_facts *facts, struct hub_file_digests *out)
{
    if (facts->has_sha256)
        hub_hex(facts->sha256, HUB_SHA256_BYTES, out->sha256);
    if (facts->other == HUB_BY_CRC32C)
        hub_hex(facts->sum, 4, out->crc32c);
    if (facts->other == HUB_BY_MD5)
        hub_hex(facts->sum, HUB_MD5_BYTES, out->md5);
}

enum hub_file_digest hub_digests_kind(const struct hub_file_digests *stored)
{
    return *stored->crc32c && !*stored->md5 ? HUB_BY_CRC32C : HUB_BY_MD5;
}

enum hub_status hub_digests_end(struct hub_file_hasher *hasher, struct hub_file_digests *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_sums_dispose) struct hub_sums sums = {0};
    HUB_TRY(hub_file_hasher_end(hasher, &sums, err));
    hub_hex(sums.sha256, HUB_SHA256_BYTES, out->sha256);
    hub_hex(sums.crc32c, sizeof sums.crc32c, out->crc32c);
    if (sums.kind == HUB_BY_MD5)
        hub_hex(sums.other, HUB_MD5_BYTES, out->md5);
    return HUB_OK;
}

static bool agrees(const char *stored, const char *is)
{
    return !*stored || strcmp(stored, is) == 0;
}

bool hub_digests_agree(const struct hub_file_digests *stored, const struct hub_file_digests *is)
{
    return agrees(stored->sha256, is->sha256) && agrees(stored->md5, is->md5) &&
           agrees(stored->crc32c, is->crc32c);
}

/* What hub.db said of one file at one stamp. */
struct digest_entry {
    struct hub_lru_item item; /* first */
    struct hub_stamp stamp;
    struct hub_file_digests digests;
    bool known;
    uint32_t root;
    char path[];
};

static void entry_free(struct hub_lru_item *item)
{
    free(item);
}

static struct hub_lru_key key_of(uint32_t root, const char *path)
{
    return (struct hub_lru_key){0, root, hub_text_hash(hub_view_of(path))};
}

static void remember(struct hub_truth *truth, uint32_t root, const char *path, const struct hub_stamp *stamp,
                     const struct hub_file_digests *digests)
{
    const size_t size = strlen(path) + 1;
    struct digest_entry *entry = calloc(1, sizeof *entry + size);
    if (!entry)
        return;
    entry->item.key = key_of(root, path);
    entry->item.bytes = sizeof *entry + size;
    entry->item.free = entry_free;
    atomic_init(&entry->item.refs, 1);
    entry->stamp = *stamp;
    entry->root = root;
    entry->known = digests != NULL;
    if (digests)
        entry->digests = *digests;
    memcpy(entry->path, path, size);
    hub_lru_replace(truth->digests, &entry->item);
    hub_lru_put(&entry->item);
}

/* True when the memory answers, then *known says what. */
static bool recall(struct hub_truth *truth, uint32_t root, const char *path, const struct hub_stamp *stamp,
                   struct hub_file_digests *out, bool *known)
{
    const struct hub_lru_key key = key_of(root, path);
    struct hub_lru_item *item = hub_lru_get(truth->digests, &key);
    const struct digest_entry *entry = (const struct digest_entry *)item;
    const bool hit = entry && entry->root == root && strcmp(entry->path, path) == 0 &&
                     hub_stamp_equal(&entry->stamp, stamp);
    *known = hit && entry->known;
    if (*known)
        *out = entry->digests;
    hub_lru_put(item);
    return hit;
}

static void get_text(struct hub_stmt *stmt, int column, char *out, size_t size)
{
    const struct hub_view text = hub_stmt_view(stmt, column);
    const size_t n = HUB_MIN(text.size, size - 1);
    if (n)
        memcpy(out, text.data, n);
    out[n] = '\0';
}

/* The columns from `first` on. */
static void get_digests(struct hub_stmt *stmt, int first, struct hub_file_digests *out)
{
    get_text(stmt, first, out->sha256, sizeof out->sha256);
    get_text(stmt, first + 1, out->md5, sizeof out->md5);
    get_text(stmt, first + 2, out->crc32c, sizeof out->crc32c);
}

/* Parameters 1 to 5 of both statements: which file, in which state. */
static void bind_file(struct hub_stmt *stmt, const char *root, const char *path,
                      const struct hub_stamp *stamp)
{
    hub_stmt_bind_text(stmt, 1, root);
    hub_stmt_bind_text(stmt, 2, path);
    hub_stmt_bind_int(stmt, 3, (int64_t)stamp->size);
    hub_stmt_bind_int(stmt, 4, (int64_t)stamp->mtime_ns);
    hub_stmt_bind_int(stmt, 5, (int64_t)stamp->tag);
}

static enum hub_status look_up(struct hub_truth *truth, uint32_t root, const char *path,
                               const struct hub_stamp *stamp, struct hub_file_digests *out, bool *known,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT sha256, md5, crc32c FROM digests WHERE root = ? AND path = ? AND size = ?"
                           " AND mtime_ns = ? AND tag = ?",
                           &stmt, err));
    bind_file(stmt, hub_roots_key(truth->roots, root, number), path, stamp);
    HUB_TRY(hub_stmt_step(stmt, known, err));
    if (*known)
        get_digests(stmt, 0, out);
    return HUB_OK;
}

enum hub_status hub_digest_find(struct hub_truth *truth, uint32_t root, const char *path,
                                const struct hub_stamp *stamp, struct hub_file_digests *out,
                                struct hub_error *err)
{
    bool known = false;
    memset(out, 0, sizeof *out);
    if (!recall(truth, root, path, stamp, out, &known)) {
        const uint64_t stored = atomic_load(&truth->digests_stored);
        HUB_TRY(look_up(truth, root, path, stamp, out, &known, err));
        if (known || stored == atomic_load(&truth->digests_stored)) /* else they may have come meanwhile */
            remember(truth, root, path, stamp, known ? out : NULL);
    }
    return known ? HUB_OK : hub_fail(err, HUB_NOT_FOUND, "the digests of %s are unknown", path);
}

enum hub_status hub_digest_recall(struct hub_truth *truth, uint32_t root, const char *path,
                                  const struct hub_stamp *stamp, struct hub_file_digests *out)
{
    bool known = false;
    memset(out, 0, sizeof *out);
    if (!recall(truth, root, path, stamp, out, &known))
        return HUB_AGAIN;
    return known ? HUB_OK : HUB_NOT_FOUND;
}

/* Both go through their paths in the same order. */
static enum hub_status merge(struct hub_stmt *stmt, size_t prefix, const struct hub_dataset_file *files,
                             uint32_t count, struct hub_file_digests *out, struct hub_error *err)
{
    uint32_t at = 0;
    for (;;) {
        bool row;
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const char *path = hub_stmt_text(stmt, 0) + prefix;
        int order = 1;
        while (at < count && (order = strcmp(files[at].path, path)) < 0)
            at++;
        const struct hub_stamp stamp = {.size = (uint64_t)hub_stmt_int(stmt, 1),
                                        .mtime_ns = (uint64_t)hub_stmt_int(stmt, 2),
                                        .tag = (uint64_t)hub_stmt_int(stmt, 3)};
        if (at < count && order == 0 && hub_stamp_equal(&files[at].stamp, &stamp))
            get_digests(stmt, 4, &out[at]);
    }
}

/* Between which texts the paths below a folder are. */
struct path_range {
    char first[MAX_PATH_BYTES + 2], last[MAX_PATH_BYTES + 2];
    size_t size; /* of `first` */
};

static enum hub_status find_range(const char *path, struct path_range *out, struct hub_error *err)
{
    out->size = (size_t)snprintf(out->first, sizeof out->first, "%s%s", path, *path ? "/" : "");
    if (out->size >= sizeof out->first)
        return hub_fail(err, HUB_TOO_BIG, "a path of over %d bytes", MAX_PATH_BYTES);
    strcpy(out->last, *path ? out->first : "\xff"); /* behind all that begin so: no text has this byte */
    if (*path)
        out->last[out->size - 1] = '/' + 1;
    return HUB_OK;
}

/* Parameters 1 to 3. */
static void bind_range(struct hub_stmt *stmt, const char *root, const struct path_range *folder)
{
    hub_stmt_bind_text(stmt, 1, root);
    hub_stmt_bind_text(stmt, 2, folder->first);
    hub_stmt_bind_text(stmt, 3, folder->last);
}

enum hub_status hub_digest_list(struct hub_truth *truth, uint32_t root, const char *path,
                                const struct hub_dataset_file *files, uint32_t count,
                                struct hub_file_digests *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    struct path_range folder;
    struct hub_db *db;
    memset(out, 0, count * sizeof *out);
    HUB_TRY(find_range(path, &folder, err));
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT path, size, mtime_ns, tag, sha256, md5, crc32c FROM digests"
                           " WHERE root = ? AND path >= ? AND path < ? ORDER BY path",
                           &stmt, err));
    bind_range(stmt, hub_roots_key(truth->roots, root, number), &folder);
    return merge(stmt, folder.size, files, count, out, err);
}

static enum hub_status next_unhashed(struct hub_truth *truth, struct hub_unhashed *at, bool *found,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    struct hub_db *db;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT path, size, mtime_ns, tag FROM digests WHERE sha256 = '' AND root = ? AND"
                           " path > ? ORDER BY path LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, at->root, number));
    hub_stmt_bind_text(stmt, 2, at->path ? at->path : "");
    HUB_TRY(hub_stmt_step(stmt, found, err));
    char *path = NULL;
    if (*found) {
        HUB_TRY(hub_dup(&path, hub_stmt_text(stmt, 0), err));
        at->stamp = (struct hub_stamp){.size = (uint64_t)hub_stmt_int(stmt, 1),
                                       .mtime_ns = (uint64_t)hub_stmt_int(stmt, 2),
                                       .tag = (uint64_t)hub_stmt_int(stmt, 3)};
    }
    free(at->path);
    at->path = path;
    return HUB_OK;
}

enum hub_status hub_digest_unhashed(struct hub_truth *truth, struct hub_unhashed *at, struct hub_error *err)
{
    for (bool found = false; at->root < HUB_MAX_ROOTS; at->root++) {
        HUB_TRY(next_unhashed(truth, at, &found, err));
        if (found)
            return HUB_OK;
    }
    return hub_fail(err, HUB_NOT_FOUND, "all files are hashed");
}

uint64_t hub_digest_generation(const struct hub_truth *truth)
{
    return atomic_load(&truth->digests_stored);
}

enum hub_status hub_digest_request(struct hub_truth *truth, uint32_t root, const char *path,
                                   const struct hub_stamp *stamp, struct hub_digest_note *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    struct hub_db *db;
    bool known = false;
    *out = (struct hub_digest_note){0};
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT sha256, md5, crc32c, checked, size = ?3 AND mtime_ns = ?4 AND tag = ?5"
                           " FROM digests WHERE root = ?1 AND path = ?2",
                           &stmt, err));
    bind_file(stmt, hub_roots_key(truth->roots, root, number), path, stamp);
    HUB_TRY(hub_stmt_step(stmt, &known, err));
    if (!known)
        return hub_fail(err, HUB_NOT_FOUND, "the digests of %s are unknown", path);
    get_digests(stmt, 0, &out->digests);
    out->checked_ms = hub_stmt_int(stmt, 3);
    out->same = hub_stmt_int(stmt, 4) != 0;
    return HUB_OK;
}

static enum hub_status store(struct hub_db *db, const char *root, const struct hub_digest_item *item,
                             struct hub_error *err)
{
    struct hub_stmt *stmt;
    if (strlen(item->path) >= MAX_PATH_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a path of over %d bytes", MAX_PATH_BYTES);
    HUB_TRY(
        hub_db_prepare(db,
                       "REPLACE INTO digests (root, path, size, mtime_ns, tag, sha256, md5, crc32c, checked)"
                       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, " HUB_DB_NOW ")",
                       &stmt, err));
    bind_file(stmt, root, item->path, &item->stamp);
    hub_stmt_bind_text(stmt, 6, item->digests.sha256);
    hub_stmt_bind_text(stmt, 7, item->digests.md5);
    hub_stmt_bind_text(stmt, 8, item->digests.crc32c);
    return hub_stmt_run(stmt, err);
}

static enum hub_status move_rows(struct hub_db *db, const char *root, const struct hub_digest_move *move,
                                 struct hub_error *err)
{
    struct hub_stmt *stmt;
    struct path_range from;
    HUB_TRY(find_range(move->from, &from, err));
    HUB_TRY(hub_db_prepare(db,
                           move->to ? "UPDATE OR REPLACE digests SET path = ?4 || substr(path, length(?2))"
                                      " WHERE root = ?1 AND path >= ?2 AND path < ?3"
                                    : "DELETE FROM digests WHERE root = ?1 AND path >= ?2 AND path < ?3",
                           &stmt, err));
    bind_range(stmt, root, &from);
    if (move->to)
        hub_stmt_bind_text(stmt, 4, move->to); /* ?2 ends in a slash, with which the rest begins */
    return hub_stmt_run(stmt, err);
}

/* What moves goes first. */
static enum hub_status store_all(struct hub_truth *truth, uint32_t root, const struct hub_digest_move *move,
                                 const struct hub_digest_item *items, size_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    char number[16];
    HUB_TRY(hub_db_begin(held->db, err));
    if (move)
        HUB_TRY(move_rows(held->db, hub_roots_key(truth->roots, root, number), move, err));
    for (size_t i = 0; i < count; i++)
        HUB_TRY(store(held->db, hub_roots_key(truth->roots, root, number), &items[i], err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_digests_move(struct hub_truth *truth, uint32_t root, const struct hub_digest_move *move,
                                 const struct hub_digest_item *items, size_t count, struct hub_error *err)
{
    HUB_TRY(store_all(truth, root, move, items, count, err));
    atomic_fetch_add(&truth->digests_stored, 1);
    for (size_t i = 0; i < count; i++)
        remember(truth, root, items[i].path, &items[i].stamp, &items[i].digests);
    return HUB_OK;
}

enum hub_status hub_digests_store(struct hub_truth *truth, uint32_t root, const struct hub_digest_item *items,
                                  size_t count, struct hub_error *err)
{
    return count ? hub_digests_move(truth, root, NULL, items, count, err) : HUB_OK;
}

enum hub_status hub_digest_store(struct hub_truth *truth, uint32_t root, const char *path,
                                 const struct hub_stamp *stamp, const struct hub_file_digests *digests,
                                 struct hub_error *err)
{
    const struct hub_digest_item item = {.path = path, .stamp = *stamp, .digests = *digests};
    return hub_digests_store(truth, root, &item, 1, err);
}
