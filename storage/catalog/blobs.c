/* Immutable blobs: all the index keeps of a part besides its row, and of a dataset besides its summary.
 * Each is written whole, found by (owner, kind, name), and has the checksum that every reader compares:
 * what does not match is never used, and its dataset is looked at again. */
#include "storage/catalog/blobs.h"

#include "storage/base/digest.h"
#include "storage/ids/id.h"

#include <stdlib.h>

enum { BLOB_VERSION = 1 };

#define FIND(columns)                                                                                        \
    "SELECT version, checksum, " columns " FROM blobs WHERE owner = ? AND kind = ? AND name = ?"

/* Over whose it is too: another's blob is not whole here. */
static uint32_t checksum(int64_t owner, enum hub_blob_kind kind, const char *name, struct hub_view data)
{
    const int64_t key[] = {owner, kind};
    const uint32_t crc = hub_crc32c(hub_crc32c(0, key, sizeof key), name, strlen(name) + 1);
    return hub_crc32c(crc, data.data, data.size);
}

enum hub_status hub_blob_write(struct hub_db *db, int64_t owner, enum hub_blob_kind kind, const char *name,
                               struct hub_view data, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(
        db, "REPLACE INTO blobs (owner, kind, name, version, checksum, data) VALUES (?, ?, ?, ?, ?, ?)",
        owner, &stmt, err));
    hub_stmt_bind_int(stmt, 2, kind);
    hub_stmt_bind_text(stmt, 3, name);
    hub_stmt_bind_int(stmt, 4, BLOB_VERSION);
    hub_stmt_bind_int(stmt, 5, checksum(owner, kind, name, data));
    hub_stmt_bind_blob(stmt, 6, data.size ? data.data : "", data.size);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_blobs_delete(struct hub_db *db, int64_t owner, struct hub_error *err)
{
    return hub_db_run(db, "DELETE FROM blobs WHERE owner = ?", owner, err);
}

enum hub_status hub_blobs_delete_kind(struct hub_db *db, int64_t owner, enum hub_blob_kind kind,
                                      struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(db, "DELETE FROM blobs WHERE owner = ? AND kind = ?", owner, &stmt, err));
    hub_stmt_bind_int(stmt, 2, kind);
    return hub_stmt_run(stmt, err);
}

/* ---- damage ---- */

static enum hub_status owner_id(struct hub_db *db, int64_t owner, char id[HUB_MAX_ID + 1])
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    HUB_TRY(hub_db_query(
        db, "SELECT id FROM datasets WHERE row = ifnull((SELECT dataset FROM parts WHERE row = ?1), -?1)",
        owner, &stmt, NULL));
    HUB_TRY(hub_stmt_step(stmt, &row, NULL));
    const struct hub_view text = row ? hub_stmt_view(stmt, 0) : HUB_VIEW("");
    if (!text.size || text.size > HUB_MAX_ID)
        return HUB_NOT_FOUND;
    memcpy(id, text.data, text.size);
    id[text.size] = '\0';
    return HUB_OK;
}

enum hub_status hub_blob_damaged(struct hub_catalog *catalog, struct hub_db *db, int64_t owner,
                                 struct hub_error *err)
{
    char id[HUB_MAX_ID + 1];
    if (owner_id(db, owner, id))
        strcpy(id, "a dataset");
    pthread_mutex_lock(&catalog->lock);
    if (catalog->on_damage)
        catalog->on_damage(catalog->on_damage_user, id);
    pthread_mutex_unlock(&catalog->lock);
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INTERNAL,
                       "the index of %s is damaged: the dataset is inspected again", id);
}

enum hub_status hub_blob_missing(struct hub_catalog *catalog, struct hub_db *db, int64_t owner,
                                 struct hub_error *err)
{
    char id[HUB_MAX_ID + 1];
    return owner_id(db, owner, id) ? hub_fail(err, HUB_NOT_FOUND, "the index has no such blob")
                                   : hub_blob_damaged(catalog, db, owner, err);
}

void hub_catalog_on_damage(struct hub_catalog *catalog, void (*on_damage)(void *user, const char *id),
                           void *user)
{
    pthread_mutex_lock(&catalog->lock);
    catalog->on_damage = on_damage;
    catalog->on_damage_user = user;
    pthread_mutex_unlock(&catalog->lock);
}

static bool is_whole(struct hub_stmt *row, const struct hub_blob_id *id, struct hub_view data)
{
    return hub_stmt_int(row, 0) == BLOB_VERSION &&
           hub_stmt_int(row, 1) == checksum(id->owner, id->kind, id->name, data);
}

bool hub_blobs_whole(struct hub_db *db, int64_t owner, int64_t count)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    if (hub_db_query(db, "SELECT version, checksum, data, kind, name FROM blobs WHERE owner = ?", owner,
                     &stmt, NULL))
        return false;
    for (;; count--) {
        if (hub_stmt_step(stmt, &row, NULL))
            return false;
        if (!row)
            return count == 0;
        const struct hub_blob_id id = {.owner = owner,
                                       .kind = (enum hub_blob_kind)hub_stmt_int(stmt, 3),
                                       .name = hub_stmt_text(stmt, 4)};
        if (!is_whole(stmt, &id, hub_stmt_blob(stmt, 2)))
            return false;
    }
}

/* ---- reading ---- */

static enum hub_status find(const struct hub_blob_id *id, const char *sql, struct hub_stmt **stmt,
                            struct hub_error *err)
{
    bool row;
    HUB_TRY(hub_db_query(id->db, sql, id->owner, stmt, err));
    hub_stmt_bind_int(*stmt, 2, id->kind);
    hub_stmt_bind_text(*stmt, 3, id->name);
    HUB_TRY(hub_stmt_step(*stmt, &row, err));
    return row ? HUB_OK : hub_fail(err, HUB_NOT_FOUND, "the index has no such blob");
}

enum hub_status hub_blob_read(const struct hub_blob_id *id, struct hub_stmt **stmt, struct hub_view *data,
                              struct hub_error *err)
{
    HUB_TRY(find(id, FIND("data"), stmt, err));
    *data = hub_stmt_blob(*stmt, 2);
    if (!data->size)
        *data = HUB_VIEW("");
    return is_whole(*stmt, id, *data) ? HUB_OK : hub_blob_damaged(id->catalog, id->db, id->owner, err);
}

/* ---- in memory ---- */

static void cached_free(struct hub_lru_item *item)
{
    struct hub_cached_blob *blob = (struct hub_cached_blob *)item;
    const struct hub_catalog_options *options = &blob->catalog->options;
    atomic_fetch_sub(&blob->catalog->blob_bytes, item->bytes);
    if (blob->taken)
        options->give(options->memory, blob->taken);
    if (blob->uses)
        hub_lru_put(&blob->uses->item);
    free(blob->data);
    free(blob);
}

static enum hub_status no_room(const struct hub_blob_id *id, size_t bytes, struct hub_error *err)
{
    if (id->kind == HUB_BLOB_LAYOUT || id->kind == HUB_BLOB_WINDOWS)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                           "not enough memory is free to look up the rows of '%s' (%zu KiB): try again, or "
                           "ask for fewer fields at once",
                           id->name, bytes / KIB);
    return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                       "not enough memory is free to look up the episodes of this dataset (%zu KiB): try "
                       "again",
                       bytes / KIB);
}

static enum hub_status reserve(const struct hub_blob_id *id, struct hub_cached_blob *blob,
                               struct hub_error *err)
{
    struct hub_catalog *catalog = blob->catalog;
    const struct hub_catalog_options *options = &catalog->options;
    const size_t bytes = blob->item.bytes + blob->size;
    hub_lru_make_room(catalog->lru, bytes);
    const size_t all = atomic_fetch_add(&catalog->blob_bytes, blob->size) + blob->size;
    blob->item.bytes = bytes;
    if (all <= options->cache_bytes || all == bytes || !options->take)
        return HUB_OK;
    const size_t over = HUB_MIN(bytes, all - options->cache_bytes);
    if (!options->take(options->memory, over))
        return no_room(id, bytes, err);
    blob->taken = over;
    return HUB_OK;
}

static enum hub_status load(const struct hub_blob_id *id, struct hub_cached_blob *blob, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(find(id, FIND("length(data), row"), &stmt, err));
    blob->size = (size_t)hub_stmt_int(stmt, 2);
    HUB_TRY(reserve(id, blob, err));
    blob->data = malloc(HUB_MAX(blob->size, (size_t)1));
    HUB_TRY(hub_allocated(blob->data, err));
    HUB_TRY(hub_db_read_blob(id->db, "blobs", "data", hub_stmt_int(stmt, 3), blob->data, blob->size, err));
    return is_whole(stmt, id, (struct hub_view){blob->data, blob->size})
               ? HUB_OK
               : hub_blob_damaged(id->catalog, id->db, id->owner, err);
}

static enum hub_status take(const struct hub_blob_id *id, struct hub_cached_blob *blob, struct hub_buf *bytes,
                            struct hub_error *err)
{
    blob->size = bytes->size;
    HUB_TRY(reserve(id, blob, err));
    hub_buf_fit(bytes, 0);
    blob->data = hub_buf_take(bytes, &blob->size);
    return HUB_OK;
}

struct hub_cached_blob *hub_blob_cached(struct hub_catalog *catalog, const struct hub_lru_key *key,
                                        const char *name)
{
    struct hub_cached_blob *blob = (struct hub_cached_blob *)hub_lru_get(catalog->lru, key);
    if (blob && strcmp(blob->name, name) != 0) { /* another name of the same hash */
        hub_lru_drop(catalog->lru, key);
        hub_lru_put(&blob->item);
        blob = NULL;
    }
    return blob;
}

enum hub_status hub_blob_load(const struct hub_blob_id *id, const struct hub_lru_key *key,
                              const struct hub_blob_maker *maker, struct hub_cached_blob **out,
                              struct hub_error *err)
{
    return hub_blob_keep(id, key, maker, NULL, out, err);
}

enum hub_status hub_blob_keep(const struct hub_blob_id *id, const struct hub_lru_key *key,
                              const struct hub_blob_maker *maker, struct hub_buf *bytes,
                              struct hub_cached_blob **out, struct hub_error *err)
{
    struct hub_catalog *catalog = id->catalog;
    const size_t size = maker->size + strlen(id->name);
    struct hub_cached_blob *blob;
    HUB_TRY(hub_new(&blob, 1, size + 1, err));
    blob->name = strcpy((char *)blob + maker->size, id->name);
    blob->item = (struct hub_lru_item){.key = *key, .bytes = size, .free = cached_free};
    blob->catalog = catalog;
    atomic_fetch_add(&catalog->blob_bytes, blob->item.bytes);
    enum hub_status st = bytes ? take(id, blob, bytes, err) : load(id, blob, err);
    if (!st)
        st = maker->make(blob, maker->user, err);
    if (st) {
        cached_free(&blob->item);
        return st;
    }
    if (blob->taken)
        atomic_store(&blob->item.refs, 1);
    else
        blob = (struct hub_cached_blob *)hub_lru_add(catalog->lru, &blob->item);
    *out = blob;
    return HUB_OK;
}
