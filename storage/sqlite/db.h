/**
 * One SQLite connection with its prepared statements: the only way the catalogue talks to SQLite (db.c alone
 * includes sqlite3.h).
 *
 * SQLite up to 3.51.2 can corrupt a database in WAL mode when two connections write or checkpoint at the same
 * moment. So there is one writer a file, it alone checkpoints, and readers are read-only with automatic
 * checkpoints off.
 *
 * Thread-safety: a connection belongs to one thread at a time.
 */
#ifndef HUB_SQLITE_DB_H
#define HUB_SQLITE_DB_H

#include "storage/base/buf.h"

struct hub_db;
struct hub_stmt;

enum hub_db_mode {
    HUB_DB_READ = 0, /* read-only, never checkpoints */
    HUB_DB_WRITE,    /* derived data: a commit survives a crash of the program, perhaps not of the machine */
    HUB_DB_TRUTH,    /* every commit is synced */
};

HUB_MUST_USE enum hub_status hub_db_open(const char *path, enum hub_db_mode mode, struct hub_db **out,
                                         struct hub_error *err);
void hub_db_close(struct hub_db *db);
/** From now on nothing is synced, whatever the mode: of a state that is thrown away. Of all connections of
 * this program; before the first is opened. */
void hub_db_never_sync(void);
/** An answer so far said that the file is damaged. */
bool hub_db_is_damaged(const struct hub_db *db);
/** Make what runs on this connection end soon; from any thread. */
void hub_db_interrupt(struct hub_db *db);
/** Room for cached pages; not within a transaction. */
HUB_MUST_USE enum hub_status hub_db_cache(struct hub_db *db, unsigned kib, struct hub_error *err);
/** Give cached pages back to the system. */
void hub_db_shrink(struct hub_db *db);

/** Run statements that return nothing. */
HUB_MUST_USE enum hub_status hub_db_exec(struct hub_db *db, const char *sql, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_db_user_version(struct hub_db *db, int *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_db_set_user_version(struct hub_db *db, int version, struct hub_error *err);
/** PRAGMA quick_check: HUB_CORRUPT with what it found first. */
HUB_MUST_USE enum hub_status hub_db_quick_check(struct hub_db *db, struct hub_error *err);

/** Of HUB_DB_TRUTH: whether the commits from now on are synced; not within a transaction. One that is syncs
 * all that were not before it. */
void hub_db_sync_commits(struct hub_db *db, bool on);
HUB_MUST_USE enum hub_status hub_db_begin(struct hub_db *db, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_db_commit(struct hub_db *db, struct hub_error *err);
/** Is a transaction open? */
bool hub_db_is_begun(const struct hub_db *db);
/** Does nothing outside a transaction. */
void hub_db_rollback(struct hub_db *db);
/** For HUB_CLEANUP: what was begun and not committed is undone. */
static inline void hub_db_rollbackp(struct hub_db **db)
{
    hub_db_rollback(*db);
}

/** The statement of this text, reset and without values; prepared once and kept by the connection. One user
 * at a time. */
HUB_MUST_USE enum hub_status hub_db_prepare(struct hub_db *db, const char *sql, struct hub_stmt **out,
                                            struct hub_error *err);

/** The same with a number as its first parameter. */
HUB_MUST_USE enum hub_status hub_db_query(struct hub_db *db, const char *sql, int64_t about,
                                          struct hub_stmt **out, struct hub_error *err);
/** Run a statement that has no other parameter and returns nothing. */
HUB_MUST_USE enum hub_status hub_db_run(struct hub_db *db, const char *sql, int64_t about,
                                        struct hub_error *err);

/** The same with one or two texts as its parameters; `two` NULL: it has one. */
HUB_MUST_USE enum hub_status hub_db_run_texts(struct hub_db *db, const char *sql, const char *one,
                                              const char *two, struct hub_error *err);

/* Parameters count from 1. Texts and blobs are borrowed until the statement is reset. A failure shows in the
 * next step. */
void hub_stmt_bind_int(struct hub_stmt *stmt, int parameter, int64_t value);
void hub_stmt_bind_text(struct hub_stmt *stmt, int parameter, const char *text); /* NULL: null */
void hub_stmt_bind_view(struct hub_stmt *stmt, int parameter, struct hub_view text);
void hub_stmt_bind_blob(struct hub_stmt *stmt, int parameter, const void *data,
                        size_t size); /* data NULL: null */

/** Next row: *row is false at the end (and the statement is then reset). */
HUB_MUST_USE enum hub_status hub_stmt_step(struct hub_stmt *stmt, bool *row, struct hub_error *err);
/** Run a statement that returns nothing, and reset it. */
HUB_MUST_USE enum hub_status hub_stmt_run(struct hub_stmt *stmt, struct hub_error *err);
void hub_stmt_reset(struct hub_stmt *stmt);
/** For HUB_CLEANUP on a statement that may be left in the middle of its rows. */
void hub_stmt_resetp(struct hub_stmt **stmt);

/* Columns of the current row, from 0; texts and blobs live until the next step or reset. */
bool hub_stmt_is_null(struct hub_stmt *stmt, int column);
int64_t hub_stmt_int(struct hub_stmt *stmt, int column);
const char *hub_stmt_text(struct hub_stmt *stmt, int column); /* NULL: null */
struct hub_view hub_stmt_view(struct hub_stmt *stmt, int column);
struct hub_view hub_stmt_blob(struct hub_stmt *stmt, int column);

/** Read a whole value of a row into memory of exactly its size, without a copy in between. While a statement
 * stands on that row, it is the same value. */
HUB_MUST_USE enum hub_status hub_db_read_blob(struct hub_db *db, const char *table, const char *column,
                                              int64_t row, void *into, size_t size, struct hub_error *err);

/**
 * Copy all that the database holds at one moment into a file of its own, also while others write to it: they
 * do not wait. The copy is synced and checked.
 *
 * @param path  nothing is there yet; what a failure leaves there is removed
 */
HUB_MUST_USE enum hub_status hub_db_copy(struct hub_db *db, const char *path, struct hub_error *err);

/** Version of SQLite at run time. */
const char *hub_db_library(void);

int64_t hub_db_last_row(struct hub_db *db);

#endif
