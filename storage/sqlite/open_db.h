/** What opening a database file of the state directory takes, whichever it is. */
#ifndef HUB_SQLITE_OPEN_DB_H
#define HUB_SQLITE_OPEN_DB_H

#include "storage/io/roots.h"
#include "storage/sqlite/db.h"

/** Make its schema and number it, in one transaction. */
HUB_MUST_USE enum hub_status hub_db_migrate(struct hub_db *db, const char *sql, int version,
                                            struct hub_error *err);
/** Say what to do about a file that cannot be opened, besides why. */
HUB_MUST_USE enum hub_status hub_db_explain(const char *path, enum hub_status st, struct hub_error *err);
/**
 * Store roots by their keys that were stored by their numbers: before they had names, or by a program that
 * gave them none.
 *
 * @param sql  its first parameter is the key, its second the number as text
 */
HUB_MUST_USE enum hub_status hub_db_name_roots(struct hub_db *db, const struct hub_roots *roots,
                                               const char *sql, struct hub_error *err);
/** Delete a database file and what SQLite puts beside it. */
void hub_db_remove(const char *path);

#endif
