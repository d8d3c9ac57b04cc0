/* The tables of the index, and its opening: see schema.h.
 *
 * The index holds what inspection found. Rows of parts are never reused (AUTOINCREMENT), so that a part's row
 * names one state of it. */
#include "storage/catalog/schema.h"

#include "storage/sqlite/open_db.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define INDEX_FORMAT 31 /* raised with every change of what follows */
#define TEXT_OF_(number) #number
#define TEXT_OF(number) TEXT_OF_(number)

const char hub_index_name[] = "index-" TEXT_OF(INDEX_FORMAT) ".db";

static const char index_sql[] =
    "CREATE TABLE datasets ("
    " row INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, id TEXT NOT NULL, serial INTEGER NOT "
    "NULL,"
    " path TEXT NOT NULL, format TEXT NOT NULL, status INTEGER NOT NULL, reason TEXT NOT NULL, era TEXT NOT "
    "NULL,"
    " stated_version TEXT NOT NULL, description TEXT NOT NULL, rule TEXT NOT NULL, loadable_by TEXT NOT "
    "NULL, authors TEXT NOT "
    "NULL,"
    " revision TEXT NOT NULL, episodes INTEGER NOT NULL, steps INTEGER NOT NULL, size INTEGER NOT NULL,"
    " files INTEGER NOT NULL, modified_ns INTEGER NOT NULL, fence INTEGER NOT NULL DEFAULT 0,"
    " attempt INTEGER NOT NULL DEFAULT 0, problems INTEGER NOT NULL DEFAULT 0,"
    " costly INTEGER NOT NULL DEFAULT 0,"
    /* see storage/model/facet.h */
    " known TEXT NOT NULL DEFAULT '', UNIQUE (root, id)) STRICT;"
    "CREATE TABLE parts ("
    " row INTEGER PRIMARY KEY AUTOINCREMENT, dataset INTEGER NOT NULL, name TEXT NOT NULL, signature INTEGER "
    "NOT NULL,"
    " broken TEXT, side TEXT, side_stamp BLOB, episodes INTEGER NOT NULL, blobs INTEGER NOT NULL DEFAULT 0,"
    " how_far INTEGER NOT NULL DEFAULT 0, measured INTEGER NOT NULL DEFAULT 0, ranges INTEGER NOT NULL "
    "DEFAULT 0,"
    /* see struct hub_lost: of rewards, then of all fields */
    " reward_episodes_lost INTEGER NOT NULL DEFAULT 0, reward_steps_lost INTEGER NOT NULL DEFAULT 0,"
    " episodes_lost INTEGER NOT NULL DEFAULT 0, steps_lost INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE (dataset, name, signature)) STRICT;"
    /* see blobs.h */
    "CREATE TABLE blobs ("
    " row INTEGER PRIMARY KEY, owner INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL, version "
    "INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE (owner, kind, name)) STRICT;"
    /* see search.h */
    "CREATE VIRTUAL TABLE words USING fts5(id, known, said, fields, columnsize = 0, prefix = '1 2 3',"
    " tokenize = \"unicode61 remove_diacritics 2\");"
    "CREATE TABLE notes (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;";

static enum hub_status try_index(const char *path, bool check, struct hub_db **out, struct hub_error *err)
{
    struct hub_db *db = NULL;
    HUB_TRY(hub_db_open(path, HUB_DB_WRITE, &db, err));
    int version = 0;
    enum hub_status st = hub_db_user_version(db, &version, err);
    if (!st && version != 0 && version != INDEX_FORMAT)
        st =
            hub_fail(err, HUB_CORRUPT, "it has version %d, this minari-hub writes %d", version, INDEX_FORMAT);
    if (!st && check)
        st = hub_db_quick_check(db, err);
    if (!st && version == 0)
        st = hub_db_migrate(db, index_sql, INDEX_FORMAT, err);
    if (st) {
        hub_db_close(db);
        return st;
    }
    *out = db;
    return HUB_OK;
}

static bool is_older(const char *name)
{
    const struct hub_view text = hub_view_of(name);
    return strcmp(name, "index.db") == 0 || /* as it was called before it had a number */
           (hub_view_starts(text, "index-") && hub_view_ends(text, ".db") &&
            strcmp(name, hub_index_name) != 0);
}

bool hub_schema_older(const char *state, bool remove)
{
    char path[4096];
    bool found = false;
    DIR *dir = opendir(state);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!is_older(entry->d_name))
            continue;
        found = true;
        if (remove && snprintf(path, sizeof path, "%s/%s", state, entry->d_name) < (int)sizeof path)
            hub_db_remove(path);
    }
    if (dir)
        closedir(dir);
    return found;
}

enum hub_status hub_schema_open_index(const char *path, bool check, struct hub_db **out,
                                      struct hub_error *rebuilt, struct hub_error *err)
{
    struct hub_error why = {0};
    enum hub_status st = try_index(path, check, out, &why);
    if (st == HUB_CORRUPT) { /* any other failure may be gone at the next start */
        *rebuilt = why;
        hub_db_remove(path);
        st = try_index(path, false, out, &why);
    }
    if (st && err)
        *err = why;
    return st ? hub_db_explain(path, st, err) : HUB_OK;
}
