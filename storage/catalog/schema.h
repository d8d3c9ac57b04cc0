/** What the index looks like, and how a file on disk is brought there. */
#ifndef HUB_CATALOG_SCHEMA_H
#define HUB_CATALOG_SCHEMA_H

#include "storage/sqlite/db.h"

/** File name of the index in the state directory. It has the format's number, so that an index of another
 * format lies beside it, untouched. */
extern const char hub_index_name[];
/** Whether there are indexes of other formats in the state directory; with `remove` they go. */
bool hub_schema_older(const char *state, bool remove);

/** Open the index for writing. A damaged one is deleted and made again: it is derived; `rebuilt` then says
 * why. After any other failure it stays. */
HUB_MUST_USE enum hub_status hub_schema_open_index(const char *path, bool check, struct hub_db **out,
                                                   struct hub_error *rebuilt, struct hub_error *err);

#endif
