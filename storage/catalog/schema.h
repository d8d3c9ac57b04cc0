/** What the two databases look like, and how a file on disk is brought there. */
#ifndef HUB_CATALOG_SCHEMA_H
#define HUB_CATALOG_SCHEMA_H

#include "storage/catalog/db.h"

/** One step of hub.db: migrations/NNNN_what.sql, embedded at build time. The last row is empty. */
struct hub_migration {
    const char *name, *sql;
};
extern const struct hub_migration hub_migrations[];

/** Open hub.db for writing and bring it to the newest version, each step in its own transaction.
 * HUB_UNSUPPORTED: it was written by a newer program. */
HUB_MUST_USE enum hub_status hub_schema_open_hub(const char *path, bool check, struct hub_db **out,
                                                 struct hub_error *err);

/** File name of the index in the state directory. It has the format's number, so that an index of another
 * format lies beside it, untouched. */
extern const char hub_index_name[];
/** Whether there are indexes of other formats in the state directory; with `remove` they go. */
bool hub_schema_older(const char *state, bool remove);

/** Open the index for writing. A damaged one is deleted and made anew: it is derived; `rebuilt` then says
 * why. After any other failure it stays. */
HUB_MUST_USE enum hub_status hub_schema_open_index(const char *path, bool check, struct hub_db **out,
                                                   struct hub_error *rebuilt, struct hub_error *err);

/** Delete a database file and what SQLite puts beside it. */
void hub_schema_remove(const char *path);

#endif
