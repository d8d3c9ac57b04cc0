/* Schemas, advice and files of databases: see open_db.h. */
#include "storage/sqlite/open_db.h"

#include <stdio.h>
#include <unistd.h>

enum hub_status hub_db_migrate(struct hub_db *db, const char *sql, int version, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *open = db;
    HUB_TRY(hub_db_begin(open, err));
    HUB_TRY(hub_db_exec(open, sql, err));
    HUB_TRY(hub_db_set_user_version(open, version, err));
    return hub_db_commit(open, err);
}

enum hub_status hub_db_explain(const char *path, enum hub_status st, struct hub_error *err)
{
    const struct hub_error why = err ? *err : (struct hub_error){0};
    switch (st) {
    case HUB_NO_SPACE:
        return hub_fail(err, st,
                        "%s cannot be written, the disk is full: make room, or keep the state elsewhere with "
                        "--state DIR",
                        path);
    case HUB_DENIED:
        return hub_fail(err, st,
                        "%s cannot be written (%.200s): let this user write there, or give --state DIR", path,
                        why.detail);
    case HUB_IO:
        return hub_fail(err, st, "%s cannot be opened (%.200s): check its disk, or give --state DIR", path,
                        why.detail);
    default:
        return st;
    }
}

enum hub_status hub_db_name_roots(struct hub_db *db, const struct hub_roots *roots, const char *sql,
                                  struct hub_error *err)
{
    for (uint32_t i = 0; roots && i < roots->count; i++) {
        struct hub_stmt *stmt;
        char number[16];
        snprintf(number, sizeof number, "#%u", i);
        HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
        hub_stmt_bind_text(stmt, 1, hub_root_key(&roots->roots[i]));
        hub_stmt_bind_text(stmt, 2, number);
        HUB_TRY(hub_stmt_run(stmt, err));
    }
    return HUB_OK;
}

void hub_db_remove(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[4096];
    for (size_t i = 0; i < HUB_COUNT(suffixes); i++)
        if (snprintf(name, sizeof name, "%s%s", path, suffixes[i]) < (int)sizeof name)
            (void)unlink(name);
}
