/**
 * Putting a finished tree where it belongs, so that readers see the old dataset, the new one, or none where
 * there was none: never a part or a mixture. What is replaced goes to ROOT/.minari-hub/trash/ and is then
 * removed.
 */
#ifndef HUB_CLIENT_PUBLISH_H
#define HUB_CLIENT_PUBLISH_H

#include "storage/base/buf.h"

/**
 * @param root     of the datasets
 * @param id       where it goes beneath the root
 * @param tree     the finished directory, on the same file system
 * @param replace  whether something may be there: without it that is HUB_EXISTS
 * @param pair     do not exchange in one step even where the system can: a journalled pair of renames (tests)
 */
HUB_MUST_USE enum hub_status hub_publish(const char *root, const char *id, const char *tree, bool replace,
                                         bool pair, struct hub_error *err);

/** Move ROOT/ID to the trash, remove it, and remove the folders above it that hold nothing any more. */
HUB_MUST_USE enum hub_status hub_withdraw(const char *root, const char *id, struct hub_error *err);

/** Finish or undo a replacement that was interrupted, and empty the trash. Cheap where there is nothing to
 * do. */
HUB_MUST_USE enum hub_status hub_publish_recover(const char *root, struct hub_error *err);

#endif
