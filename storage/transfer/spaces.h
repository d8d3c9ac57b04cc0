/** namespace_metadata.json of the namespaces that a dataset is in: they come along with it. */
#ifndef HUB_TRANSFER_SPACES_H
#define HUB_TRANSFER_SPACES_H

#include "storage/remote/remote.h"
#include "storage/transfer/private.h"

/** Fetch that of every level above `id` which is not in the root yet; never over one that is. What a remote
 * does not have, or its kind does not know, is none. */
HUB_MUST_USE enum hub_status hub_spaces_fetch(struct hub_remote *remote, const struct hub_private *place,
                                              const char *id, struct hub_error *err);

/** Put a file of an open folder beside the datasets of a namespace, "a/b/", as theirs, if there is none. */
HUB_MUST_USE enum hub_status hub_space_put(const struct hub_private *place, const char *space, int from,
                                           const char *path, struct hub_error *err);

#endif
