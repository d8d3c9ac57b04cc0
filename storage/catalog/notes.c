/* Notes: the scanner's own memory between runs. */
#include "storage/catalog/internal.h"

#include <stdlib.h>

enum hub_status hub_note_write(struct hub_db *db, const char *key, struct hub_view value,
                               struct hub_error *err)
{
    static const char *const put = "REPLACE INTO notes (key, value) VALUES (?, ?)";
    static const char *const forget = "DELETE FROM notes WHERE key = ?";
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db, value.size ? put : forget, &stmt, err));
    hub_stmt_bind_text(stmt, 1, key);
    if (value.size)
        hub_stmt_bind_blob(stmt, 2, value.data, value.size);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_catalog_note_put(struct hub_catalog *catalog, const char *key, struct hub_view value,
                                     struct hub_error *err)
{
    pthread_mutex_lock(&catalog->write_lock);
    const enum hub_status st = hub_note_write(catalog->index, key, value, err);
    pthread_mutex_unlock(&catalog->write_lock);
    return st;
}

enum hub_status hub_catalog_note_get(struct hub_catalog *catalog, const char *key, struct hub_buf *value,
                                     struct hub_error *err)
{
    struct hub_db *db;
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT value FROM notes WHERE key = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, key);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "no note %s", key);
    value->size = 0;
    return hub_buf_add_view(value, hub_stmt_blob(stmt, 0), err);
}

enum hub_status hub_catalog_notes_prune(struct hub_catalog *catalog, const char *prefix,
                                        bool (*keep)(void *user, const char *key), void *user,
                                        struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf gone = HUB_BUF_INIT(64 * MIB);
    struct hub_db *db;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    {
        HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
        bool row;
        HUB_TRY(
            hub_db_prepare(db, "SELECT key FROM notes WHERE substr(key, 1, length(?1)) = ?1", &stmt, err));
        hub_stmt_bind_text(stmt, 1, prefix);
        for (;;) {
            HUB_TRY(hub_stmt_step(stmt, &row, err));
            if (!row)
                break;
            const struct hub_view key = hub_stmt_view(stmt, 0);
            if (!keep(user, key.data))
                HUB_TRY(hub_buf_add(&gone, key.data, key.size + 1, err));
        }
    }
    for (const char *key = gone.data; key && key < gone.data + gone.size; key += strlen(key) + 1)
        HUB_TRY(hub_catalog_note_put(catalog, key, (struct hub_view){NULL, 0}, err));
    return HUB_OK;
}
