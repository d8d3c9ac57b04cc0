/**
 * Read-only connections to one database file, one per thread, each opened on its first use. A connection is
 * closed when its thread ends, or with the last of them here. Safe from any thread.
 */
#ifndef HUB_SQLITE_READERS_H
#define HUB_SQLITE_READERS_H

#include "storage/sqlite/db.h"

struct hub_db_readers;

/** @param closing  called before a connection is closed; NULL: nothing is */
HUB_MUST_USE enum hub_status hub_db_readers_new(const char *path,
                                                void (*closing)(void *user, const struct hub_db *db),
                                                void *user, struct hub_db_readers **out,
                                                struct hub_error *err);
/** No thread uses one any more. NULL is fine. */
void hub_db_readers_free(struct hub_db_readers *readers);
/** This thread's connection, which stays the readers'. */
HUB_MUST_USE enum hub_status hub_db_readers_get(struct hub_db_readers *readers, struct hub_db **out,
                                                struct hub_error *err);

#endif
