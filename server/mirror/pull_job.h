/** What the jobs of pull-through tell those who wait. */
#ifndef HUB_MIRROR_PULL_JOB_H
#define HUB_MIRROR_PULL_JOB_H

#include "server/mirror/pull.h"
#include "storage/transfer/transfer.h"

struct hub_pulls;
struct hub_pull; /* one dataset on its way */

HUB_MUST_USE enum hub_status hub_pulls_start(struct hub_mirrors *mirrors, struct hub_pulls **out,
                                             struct hub_error *err);
/** Nobody may wait any more. NULL is fine. */
void hub_pulls_stop(struct hub_pulls *pulls);

/** Have a dataset fetched: the job is written down, one however often. HUB_CANCELLED: its rule is paused. */
HUB_MUST_USE enum hub_status hub_pull_add_job(struct hub_mirrors *mirrors, const char *id, const char *rule,
                                              const char *remote_id, const char *path, struct hub_error *err);

/** May its copy be removed? Not while it is being fetched; else it is forgotten that it was. */
bool hub_pull_release(struct hub_pulls *pulls, const char *id);

/** A job begins; NULL: no memory to tell anybody. */
struct hub_pull *hub_pull_begin(struct hub_pulls *pulls, const char *id);
void hub_pull_progress(struct hub_pull *pull, uint64_t done, uint64_t total);
/** How it ended, or that it goes on: hub_mirror_goes_on. */
void hub_pull_end(struct hub_pull *pull, enum hub_status st, const struct hub_error *why);

/** For hub_transfer.watch, with the pull as its user. */
extern const struct hub_transfer_watch hub_pull_watch;

#endif
