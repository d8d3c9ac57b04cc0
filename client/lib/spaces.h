/** namespace_metadata.json of the namespaces that a dataset is in: they come along with it. */
#ifndef HUB_CLIENT_SPACES_H
#define HUB_CLIENT_SPACES_H

#include "client/lib/internal.h"
#include "client/lib/private.h"

/** Fetch that of every level above `id` which is not in the root yet; never over one that is. What a remote
 * does not have, or its kind does not know, is none. */
HUB_MUST_USE enum hub_status hub_spaces_fetch(struct minari_client *client, const struct hub_private *place,
                                              const char *id, struct hub_error *err);

#endif
