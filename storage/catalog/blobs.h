/**
 * What the index keeps of an inspected part, and of a dataset as a whole: immutable blobs by kind, in one
 * table. Each is written in one piece and has a checksum. One that does not match when it is read is
 * HUB_CORRUPT "internal", never data, and its dataset is looked at again (hub_catalog_on_damage).
 *
 * `owner` is the part's row, of a dataset hub_dataset_owner of its row.
 */
#ifndef HUB_CATALOG_BLOBS_H
#define HUB_CATALOG_BLOBS_H

#include "storage/catalog/internal.h"

enum hub_blob_kind {
    HUB_BLOB_FILES = 1, /* of a part: the files it names, by number and path */
    HUB_BLOB_FIELDS,    /* of a part */
    HUB_BLOB_LAYOUT,    /* of a part, named by the field's path */
    HUB_BLOB_EPISODES,  /* of a part: a run of episodes, named by column and number (columns.c) */
    HUB_BLOB_PROBLEMS,  /* of a part, or of a dataset's plan */
    HUB_BLOB_CONFLICTS, /* of a dataset: the problems that publishing it met */
    HUB_BLOB_FACTS,     /* of a dataset (facts.c) */
    HUB_BLOB_DIRECTORY, /* of a dataset (directory.c) */
    HUB_BLOB_MEDIA,     /* of a part: the cameras of a run of episodes, named by its number; "": how many */
    HUB_BLOB_MEASURES,  /* of a part: what was measured of its episodes (measures.h) */
    /* of a part: windows that layouts have in common, named by the number they have there */
    HUB_BLOB_WINDOWS,
    HUB_BLOB_VIDEO, /* of a part: where the frames of a video lie, named by its path */
};

static inline int64_t hub_dataset_owner(int64_t row)
{
    return -row;
}

/** In place of the one that is there. */
HUB_MUST_USE enum hub_status hub_blob_write(struct hub_db *db, int64_t owner, enum hub_blob_kind kind,
                                            const char *name, struct hub_view data, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_blobs_delete(struct hub_db *db, int64_t owner, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_blobs_delete_kind(struct hub_db *db, int64_t owner, enum hub_blob_kind kind,
                                                   struct hub_error *err);
/** So many are there, and all of them match their checksums. */
bool hub_blobs_whole(struct hub_db *db, int64_t owner, int64_t count);
/** Which blob, and where it is read. */
struct hub_blob_id {
    struct hub_catalog *catalog;
    struct hub_db *db;
    int64_t owner;
    enum hub_blob_kind kind;
    const char *name;
};
/** The data lie in the statement until it is reset (HUB_CLEANUP(hub_stmt_resetp)); one blob at a time.
 * HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_blob_read(const struct hub_blob_id *id, struct hub_stmt **stmt,
                                           struct hub_view *data, struct hub_error *err);
/** Tell that a blob makes no sense. Always HUB_CORRUPT. */
enum hub_status hub_blob_damaged(struct hub_catalog *catalog, struct hub_db *db, int64_t owner,
                                 struct hub_error *err);
/** Tell that a blob that every owner has was not found. HUB_CORRUPT as above, or HUB_NOT_FOUND: the owner is
 * gone too. */
enum hub_status hub_blob_missing(struct hub_catalog *catalog, struct hub_db *db, int64_t owner,
                                 struct hub_error *err);

/** A blob in the catalogue's cache: first member of what is made of it.
 *
 * Memory: those in the cache and those in use share what the cache may have. What finds no room there is
 * taken from the memory of requests before it is read, and not kept. */
struct hub_cached_blob {
    struct hub_lru_item item; /* first */
    struct hub_catalog *catalog;
    void *data;
    size_t size;
    size_t taken; /* of the memory of requests */
    const char *name;
    struct hub_cached_blob *uses; /* another that this one needs, counted; NULL: none */
};
struct hub_blob_maker {
    size_t size; /* of the struct that begins with the blob */
    enum hub_status (*make)(struct hub_cached_blob *blob, void *user, struct hub_error *err);
    void *user;
};
/** From memory, with one more reference, or NULL. */
struct hub_cached_blob *hub_blob_cached(struct hub_catalog *catalog, const struct hub_lru_key *key,
                                        const char *name);
/** Read it, make what is wanted of it, and keep it. HUB_NOT_FOUND; HUB_BUSY "overloaded". */
HUB_MUST_USE enum hub_status hub_blob_load(const struct hub_blob_id *id, const struct hub_lru_key *key,
                                           const struct hub_blob_maker *maker, struct hub_cached_blob **out,
                                           struct hub_error *err);
/** The same of bytes that were made here, and are not in the index: they are taken out of `bytes`. */
HUB_MUST_USE enum hub_status hub_blob_keep(const struct hub_blob_id *id, const struct hub_lru_key *key,
                                           const struct hub_blob_maker *maker, struct hub_buf *bytes,
                                           struct hub_cached_blob **out, struct hub_error *err);

#endif
