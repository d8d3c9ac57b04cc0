/** Datasets of upstreams on their way here, because somebody asked for them. */
#ifndef HUB_MIRROR_PULL_H
#define HUB_MIRROR_PULL_H

#include "server/mirror/mirror.h"

#define HUB_PULL "pull" /* kind of the jobs */

/** Have it fetched: one job, however many ask. May block. HUB_BUSY "pending" once it is on its way. */
enum hub_status hub_pull_ask(struct hub_mirrors *mirrors, const struct hub_summary *summary,
                             struct hub_error *err);

#endif
