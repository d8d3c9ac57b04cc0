/**
 * Copies of a rule that its remote no longer lists. How a remote cuts its files into datasets may change, and
 * so may what a rule takes of it: a copy is gone only when none of the files that it was made of is on the
 * remote any more.
 */
#ifndef HUB_MIRROR_GONE_H
#define HUB_MIRROR_GONE_H

#include "server/mirror/spec.h"
#include "server/mirror/work.h"

/** Mark the copies that the pass, which has listed `listing`, did not see, and remove those that are gone,
 * if the rule deletes: `removed` counts them. */
HUB_MUST_USE enum hub_status hub_gone_run(struct hub_mirror_work *work,
                                          const struct hub_mirror_listing *listing, uint32_t *removed,
                                          struct hub_error *err);

#endif
