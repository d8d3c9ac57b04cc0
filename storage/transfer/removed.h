/**
 * Trees that nobody sees any more: they are put into PRIVATE/removed/ by one rename, however large they are,
 * and what lies there is removed file by file, by whoever has the time for it.
 */
#ifndef HUB_TRANSFER_REMOVED_H
#define HUB_TRANSFER_REMOVED_H

#include "storage/transfer/private.h"

#include <stdatomic.h>

/** Put a tree there, by its name in a folder of the same file system. Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_removed_put(const struct hub_private *place, int directory, const char *name,
                                             struct hub_error *err);
/** Remove all that lies there. HUB_CANCELLED: `stop` was set, and the rest is left for another time. */
HUB_MUST_USE enum hub_status hub_removed_empty(const struct hub_private *place, const atomic_bool *stop,
                                               struct hub_error *err);

#endif
