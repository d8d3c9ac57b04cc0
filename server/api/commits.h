/** Datasets in a cache of Hugging Face at another commit than main's: ?revision= and {rev} lead to them. */
#ifndef HUB_API_COMMITS_H
#define HUB_API_COMMITS_H

#include "server/api/app.h"

/** Whether a dataset lies in the snapshot of a commit. */
bool hub_commit_is_known(const struct hub_summary *summary);
/**
 * The dataset at a commit (all of it, or its first 7 digits or more) or at what a ref of its repo names
 * ("v1.0", "refs/pr/1"): itself, or another of the snapshot. HUB_AGAIN on an event thread, where refs would
 * be read. HUB_NOT_FOUND (without an error): no snapshot of that is in the cache.
 */
HUB_MUST_USE enum hub_status hub_commit_find(const struct hub_request *request,
                                             const struct hub_snapshot *snapshot,
                                             const struct hub_summary *summary, struct hub_view revision,
                                             const struct hub_summary **out, struct hub_error *err);

#endif
