/* SQLite connections and statements: see db.h. Every connection is defensive and trusts no schema; what a
 * damaged file answers is HUB_CORRUPT, so that the owner of a derived file can throw it away. */
#include "storage/sqlite/db.h"

#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_STATEMENTS = 128, BUSY_MS = 5000 };

const char *hub_db_library(void)
{
    return sqlite3_libversion();
}

struct hub_stmt {
    sqlite3_stmt *handle;
    const char *sql, *key; /* SQLite's copy, and where the caller's text was: mostly the same literal again */
    struct hub_db *db;
    int bind_failed; /* first SQLite code of a failed bind since the last reset */
};

struct hub_db {
    sqlite3 *handle;
    struct hub_stmt *statements[MAX_STATEMENTS];
    unsigned statement_count;
    bool damaged;
    bool unsynced; /* its commits are not synced */
};

static enum hub_status status_of(int code)
{
    if (code == SQLITE_IOERR_SHORT_READ) /* cut short */
        return HUB_CORRUPT;
    switch (code & 0xFF) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR: /* the statements are fixed: tables that are not ours */
        return HUB_CORRUPT;
    case SQLITE_FULL:
        return HUB_NO_SPACE;
    case SQLITE_NOMEM:
        return HUB_NO_MEMORY;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return HUB_BUSY;
    case SQLITE_TOOBIG:
        return HUB_TOO_BIG;
    case SQLITE_CONSTRAINT:
        return HUB_EXISTS;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return HUB_DENIED;
    default:
        return HUB_IO;
    }
}

/* A damaged catalogue says nothing about a dataset, and a broken disk nothing about who asks. */
static enum hub_problem_code problem_of(enum hub_status st)
{
    return st == HUB_CORRUPT                  ? HUB_PROBLEM_INTERNAL
           : st == HUB_IO || st == HUB_DENIED ? HUB_PROBLEM_STORAGE_UNAVAILABLE
                                              : HUB_PROBLEM_NONE;
}

/* What is to be done on the machine of the hub. */
static const char *remedy_of(enum hub_status st)
{
    return st == HUB_NO_SPACE ? ". Nothing is stored until the disk of the hub's state has room"
           : st == HUB_IO || st == HUB_DENIED ? ". Nothing is stored until the disk of the hub's state works"
                                              : "";
}

static enum hub_status fail(struct hub_db *db, int code, struct hub_error *err)
{
    const enum hub_status st = status_of(code);
    db->damaged = db->damaged || st == HUB_CORRUPT;
    const char *file = db->handle ? sqlite3_db_filename(db->handle, "main") : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;
    const char *why = db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code);
    return hub_fail_as(err, st, problem_of(st), "the catalogue's %s: %s%s", slash ? slash + 1 : "database",
                       why, remedy_of(st));
}

static bool never_synced;

void hub_db_never_sync(void)
{
    never_synced = true;
}

static const char *synchronous(enum hub_db_mode mode)
{
    return never_synced           ? "PRAGMA synchronous = OFF"
           : mode == HUB_DB_TRUTH ? "PRAGMA synchronous = FULL"
                                  : "PRAGMA synchronous = NORMAL";
}

void hub_db_sync_commits(struct hub_db *db, bool on)
{
    if (db->unsynced != on)
        return;
    if (!hub_db_exec(db, synchronous(on ? HUB_DB_TRUTH : HUB_DB_WRITE), NULL))
        db->unsynced = !on;
}

static enum hub_status configure(struct hub_db *db, enum hub_db_mode mode, struct hub_error *err)
{
    sqlite3 *handle = db->handle;
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, BUSY_MS);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    if (mode == HUB_DB_READ)
        return hub_db_exec(
            db, "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -1024; PRAGMA query_only = 1", err);
    HUB_TRY(hub_db_exec(db, synchronous(mode), err));
    return hub_db_exec(db,
                       "PRAGMA journal_mode = WAL; PRAGMA foreign_keys = 1; PRAGMA cache_size = -4096;"
                       "PRAGMA journal_size_limit = 16777216; PRAGMA temp_store = MEMORY",
                       err);
}

/* It knows of datasets that not everybody may read, whoever may look into the folder. SQLite gives the files
 * beside it its own mode. A file that is there is never opened for that: closing it would end the locks that
 * this process has on it. */
static void keep_private(const char *path)
{
    static const char *const beside[] = {"", "-wal", "-shm"};
    char name[PATH_MAX];
    struct stat st;
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < HUB_COUNT(beside); i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        if (stat(name, &st) == 0 && st.st_mode & 077)
            (void)chmod(name, 0600); /* another owner's stays as it is */
    }
}

enum hub_status hub_db_open(const char *path, enum hub_db_mode mode, struct hub_db **out,
                            struct hub_error *err)
{
    struct hub_db *db = calloc(1, sizeof *db);
    HUB_TRY(hub_allocated(db, err));
    if (mode != HUB_DB_READ)
        keep_private(path);
    const int access =
        mode == HUB_DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int code =
        sqlite3_open_v2(path, &db->handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    enum hub_status st = code == SQLITE_OK ? configure(db, mode, err) : fail(db, code, err);
    if (st) {
        hub_db_close(db);
        return st;
    }
    *out = db;
    return HUB_OK;
}

void hub_db_close(struct hub_db *db)
{
    if (!db)
        return;
    for (unsigned i = 0; i < db->statement_count; i++) {
        sqlite3_finalize(db->statements[i]->handle);
        free(db->statements[i]);
    }
    sqlite3_close(db->handle);
    free(db);
}

bool hub_db_is_damaged(const struct hub_db *db)
{
    return db->damaged;
}

void hub_db_interrupt(struct hub_db *db)
{
    sqlite3_interrupt(db->handle);
}

enum hub_status hub_db_cache(struct hub_db *db, unsigned kib, struct hub_error *err)
{
    char sql[64];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA cache_size = -%u", kib);
    return hub_db_exec(db, sql, err);
}

void hub_db_shrink(struct hub_db *db)
{
    sqlite3_db_release_memory(db->handle);
}

enum hub_status hub_db_exec(struct hub_db *db, const char *sql, struct hub_error *err)
{
    const int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? HUB_OK : fail(db, code, err);
}

static enum hub_status one_value(struct hub_db *db, const char *sql, bool *is_ok, int *value,
                                 struct hub_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    enum hub_status st = code == SQLITE_ROW ? HUB_OK : fail(db, code, err);
    if (!st && value)
        *value = sqlite3_column_int(stmt, 0);
    if (!st && is_ok) {
        const char *text = (const char *)sqlite3_column_text(stmt, 0);
        *is_ok = text && strcmp(text, "ok") == 0;
        if (!*is_ok)
            hub_fail(err, HUB_CORRUPT, "%s", text ? text : "?");
    }
    sqlite3_finalize(stmt);
    return st;
}

enum hub_status hub_db_user_version(struct hub_db *db, int *out, struct hub_error *err)
{
    return one_value(db, "PRAGMA user_version", NULL, out, err);
}

enum hub_status hub_db_set_user_version(struct hub_db *db, int version, struct hub_error *err)
{
    char sql[64];
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA user_version = %d", version);
    return hub_db_exec(db, sql, err);
}

enum hub_status hub_db_quick_check(struct hub_db *db, struct hub_error *err)
{
    bool ok = false;
    HUB_TRY(one_value(db, "PRAGMA quick_check(1)", &ok, NULL, err));
    db->damaged = db->damaged || !ok;
    return ok ? HUB_OK : HUB_CORRUPT;
}

enum hub_status hub_db_begin(struct hub_db *db, struct hub_error *err)
{
    return hub_db_exec(db, "BEGIN IMMEDIATE", err);
}

enum hub_status hub_db_commit(struct hub_db *db, struct hub_error *err)
{
    return hub_db_exec(db, "COMMIT", err);
}

bool hub_db_is_begun(const struct hub_db *db)
{
    return !sqlite3_get_autocommit(db->handle);
}

void hub_db_rollback(struct hub_db *db)
{
    if (hub_db_is_begun(db))
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
}

static struct hub_stmt *find_statement(const struct hub_db *db, const char *sql)
{
    for (unsigned i = 0; i < db->statement_count; i++)
        if (db->statements[i]->key == sql && strcmp(db->statements[i]->sql, sql) == 0)
            return db->statements[i];
    for (unsigned i = 0; i < db->statement_count; i++)
        if (strcmp(db->statements[i]->sql, sql) == 0)
            return db->statements[i];
    return NULL;
}

enum hub_status hub_db_prepare(struct hub_db *db, const char *sql, struct hub_stmt **out,
                               struct hub_error *err)
{
    *out = find_statement(db, sql);
    if (*out) {
        hub_stmt_reset(*out);
        return HUB_OK;
    }
    if (db->statement_count == MAX_STATEMENTS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d prepared statements", MAX_STATEMENTS);
    struct hub_stmt *stmt = calloc(1, sizeof *stmt);
    HUB_TRY(hub_allocated(stmt, err));
    stmt->db = db;
    const int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt->handle, NULL);
    if (code != SQLITE_OK) {
        free(stmt);
        const enum hub_status st = fail(db, code, err);
        return st ? st : HUB_IO; /* never: the analyzer does not look that far */
    }
    stmt->sql = sqlite3_sql(stmt->handle);
    stmt->key = sql;
    db->statements[db->statement_count++] = stmt;
    *out = stmt;
    return HUB_OK;
}

enum hub_status hub_db_query(struct hub_db *db, const char *sql, int64_t about, struct hub_stmt **out,
                             struct hub_error *err)
{
    HUB_TRY(hub_db_prepare(db, sql, out, err));
    hub_stmt_bind_int(*out, 1, about);
    return HUB_OK;
}

enum hub_status hub_db_run(struct hub_db *db, const char *sql, int64_t about, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(db, sql, about, &stmt, err));
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_db_run_texts(struct hub_db *db, const char *sql, const char *one, const char *two,
                                 struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    hub_stmt_bind_text(stmt, 1, one);
    if (two)
        hub_stmt_bind_text(stmt, 2, two);
    return hub_stmt_run(stmt, err);
}

static void bound(struct hub_stmt *stmt, int code)
{
    if (code != SQLITE_OK && !stmt->bind_failed)
        stmt->bind_failed = code;
}

void hub_stmt_bind_int(struct hub_stmt *stmt, int parameter, int64_t value)
{
    bound(stmt, sqlite3_bind_int64(stmt->handle, parameter, value));
}

void hub_stmt_bind_text(struct hub_stmt *stmt, int parameter, const char *text)
{
    bound(stmt, sqlite3_bind_text(stmt->handle, parameter, text, -1, SQLITE_STATIC));
}

void hub_stmt_bind_view(struct hub_stmt *stmt, int parameter, struct hub_view text)
{
    bound(stmt, sqlite3_bind_text64(stmt->handle, parameter, text.data ? text.data : "", text.size,
                                    SQLITE_STATIC, SQLITE_UTF8));
}

void hub_stmt_bind_blob(struct hub_stmt *stmt, int parameter, const void *data, size_t size)
{
    bound(stmt, sqlite3_bind_blob64(stmt->handle, parameter, data, size, SQLITE_STATIC));
}

enum hub_status hub_stmt_step(struct hub_stmt *stmt, bool *row, struct hub_error *err)
{
    const int code = stmt->bind_failed ? stmt->bind_failed : sqlite3_step(stmt->handle);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW)
        return HUB_OK;
    enum hub_status st = code == SQLITE_DONE ? HUB_OK : fail(stmt->db, code, err);
    hub_stmt_reset(stmt);
    return st;
}

enum hub_status hub_stmt_run(struct hub_stmt *stmt, struct hub_error *err)
{
    bool row;
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (row)
        hub_stmt_reset(stmt);
    return HUB_OK;
}

void hub_stmt_reset(struct hub_stmt *stmt)
{
    sqlite3_reset(stmt->handle);
    sqlite3_clear_bindings(stmt->handle);
    stmt->bind_failed = 0;
}

void hub_stmt_resetp(struct hub_stmt **stmt)
{
    if (*stmt)
        hub_stmt_reset(*stmt);
}

bool hub_stmt_is_null(struct hub_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt->handle, column) == SQLITE_NULL;
}

int64_t hub_stmt_int(struct hub_stmt *stmt, int column)
{
    return sqlite3_column_int64(stmt->handle, column);
}

const char *hub_stmt_text(struct hub_stmt *stmt, int column)
{
    return (const char *)sqlite3_column_text(stmt->handle, column);
}

struct hub_view hub_stmt_view(struct hub_stmt *stmt, int column)
{
    const char *text = hub_stmt_text(stmt, column);
    return (struct hub_view){text, text ? (size_t)sqlite3_column_bytes(stmt->handle, column) : 0};
}

struct hub_view hub_stmt_blob(struct hub_stmt *stmt, int column)
{
    const void *data = sqlite3_column_blob(stmt->handle, column);
    return (struct hub_view){data, data ? (size_t)sqlite3_column_bytes(stmt->handle, column) : 0};
}

int64_t hub_db_last_row(struct hub_db *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

enum hub_status hub_db_read_blob(struct hub_db *db, const char *table, const char *column, int64_t row,
                                 void *into, size_t size, struct hub_error *err)
{
    sqlite3_blob *blob = NULL;
    int code = sqlite3_blob_open(db->handle, "main", table, column, row, 0, &blob);
    if (code == SQLITE_OK)
        code = (size_t)sqlite3_blob_bytes(blob) == size ? sqlite3_blob_read(blob, into, (int)size, 0)
                                                        : SQLITE_CORRUPT;
    const enum hub_status st = code == SQLITE_OK ? HUB_OK : fail(db, code, err);
    sqlite3_blob_close(blob);
    return st;
}

/* In one step, so that one read transaction sees it whole; writers of a WAL go on meanwhile. */
static enum hub_status copy_into(struct hub_db *db, struct hub_db *to, struct hub_error *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->handle, "main", db->handle, "main");
    if (!backup)
        return fail(to, sqlite3_errcode(to->handle), err);
    const int code = sqlite3_backup_step(backup, -1), end = sqlite3_backup_finish(backup);
    if (code != SQLITE_DONE)
        return fail(end == SQLITE_OK ? db : to, code, err);
    return end == SQLITE_OK ? hub_db_quick_check(to, err) : fail(to, end, err);
}

enum hub_status hub_db_copy(struct hub_db *db, const char *path, struct hub_error *err)
{
    struct hub_db *to = calloc(1, sizeof *to);
    HUB_TRY(hub_allocated(to, err));
    keep_private(path);
    const int code = sqlite3_open_v2(path, &to->handle,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    const enum hub_status st = code == SQLITE_OK ? copy_into(db, to, err) : fail(to, code, err);
    hub_db_close(to);
    if (st)
        (void)unlink(path);
    return st;
}
