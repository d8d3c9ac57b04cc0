/** What a rule with a token file brings, and anybody may read here because no access rule is about it. */
#ifndef HUB_MIRROR_UNCOVERED_H
#define HUB_MIRROR_UNCOVERED_H

#include "server/mirror/spec.h"
#include "storage/access/access.h"

/**
 * Add to `note`, a text that may have another sentence already, what is open and the command that hides it;
 * or nothing: the rule has no token file, or an access rule decides what anybody may read below its NAME/.
 *
 * @param table  NULL: there are no access rules
 * @return whether something was added
 */
bool hub_mirror_uncovered(const json_t *spec, const struct hub_roots *roots,
                          const struct hub_access_table *table, char note[HUB_MIRROR_NOTE]);

#endif
