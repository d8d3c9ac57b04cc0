/** Removing a copy that a rule made: from its root, and from what hub.db knows. */
#ifndef HUB_MIRROR_REMOVAL_H
#define HUB_MIRROR_REMOVAL_H

#include "server/mirror/mirror.h"

/** Remove the files that were fetched into ROOT/PATH; others that lie there stay. One that is not there is
 * forgotten. HUB_IO "root-missing": its root is not mounted. */
HUB_MUST_USE enum hub_status hub_copy_remove(const struct hub_mirrors_options *options, uint32_t root,
                                             const char *path, struct hub_error *err);

#endif
