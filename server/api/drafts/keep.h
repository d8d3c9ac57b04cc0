/** Changes of a dataset that was published here as a whole. */
#ifndef HUB_API_DRAFTS_KEEP_H
#define HUB_API_DRAFTS_KEEP_H

#include "server/api/app.h"
#include "storage/truth/commits.h"

/** The commit that is there now. HUB_NOT_FOUND "dataset-not-found"; HUB_EXISTS: the dataset is none of this
 * hub's own. Dispose it. */
HUB_MUST_USE enum hub_status hub_owned_head(struct hub_request *request, struct hub_view id,
                                            struct hub_commit *out, struct hub_error *err);
/** Whether its root may be written, and its place has its files: HUB_EXISTS where others were put there by
 * hand; else as hub_commit_is_at_rest. */
HUB_MUST_USE enum hub_status hub_head_check(struct hub_app *app, const struct hub_commit *head,
                                            struct hub_error *err);
/** Delete a dataset at its head: a commit says so first, then its files are moved to those that are kept.
 * HUB_CHANGED "commit-conflict": it is not its head any more. */
HUB_MUST_USE enum hub_status hub_delete_commit(struct hub_app *app, const struct hub_commit *head,
                                               const char *who, struct hub_error *err);

/** Remove the files of the commits of a dataset that are kept no longer: all but the newest, but for those
 * that were read within a day. Of a deleted dataset all, when the time of the trash is over. What fails is
 * tried again with its next publication, and once an hour at most. */
void hub_revisions_tidy(struct hub_app *app, const char *dataset);
/** The same of all datasets, until `stop` is set. */
void hub_revisions_tidy_all(struct hub_app *app, const atomic_bool *stop);
/** The files of a commit are kept now: list them. */
void hub_revisions_look(struct hub_app *app, uint32_t root, const char *path, const char *commit);
/** At the start: datasets that were deleted, but whose files are in their place still, are moved away. */
void hub_revisions_recover(struct hub_app *app);

#endif
