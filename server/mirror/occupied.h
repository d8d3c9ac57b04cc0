/** Names that a rule fills, where nobody else puts datasets. */
#ifndef HUB_MIRROR_OCCUPIED_H
#define HUB_MIRROR_OCCUPIED_H

#include "server/mirror/spec.h"

/** HUB_EXISTS "exists", with the rule and a remedy: `id` lies below the NAME/ of a mirror or an upstream (its
 * --as), or is the name that a rule gives its one dataset. Blocking. */
HUB_MUST_USE enum hub_status hub_mirror_check_id(struct hub_truth *truth, const struct hub_roots *roots,
                                                 const char *id, struct hub_error *err);

#endif
