/** What a draft takes the place of, and whose files it begins with. */
#ifndef HUB_API_DRAFTS_BASE_H
#define HUB_API_DRAFTS_BASE_H

#include "server/api/drafts/draft.h"

/**
 * Find what a draft of `row->dataset` takes the place of: `base`, root and path of the row are set where
 * something is there.
 * @param base  as the request has it, NULL: nothing may be there. A commit, its first 7 digits or more, a
 *              tree, or the revision of the dataset as it is listed
 * @return HUB_EXISTS: a dataset is there, and no base was named, or it is not one of this hub's own;
 * HUB_CHANGED "commit-conflict": the base is not what is there now
 */
HUB_MUST_USE enum hub_status hub_draft_find_base(const struct hub_request *request, const char *base,
                                                 struct hub_draft_row *row, struct hub_error *err);

/**
 * Begin a draft with the files of a dataset, "ID", or of one of its commits, "ID@COMMIT".
 * @return HUB_NOT_FOUND: there is none that the principal may read; HUB_INVALID: it lies in another root
 */
HUB_MUST_USE enum hub_status hub_draft_begin_from(const struct hub_request *request, const char *from,
                                                  const struct hub_draft_row *row,
                                                  const struct hub_draft_folder *draft,
                                                  struct hub_error *err);

/** Whether the root of a commit can be written: HUB_NOT_FOUND "root-missing", HUB_DENIED. */
HUB_MUST_USE enum hub_status hub_commit_check_root(const struct hub_app *app, const struct hub_commit *commit,
                                                   struct hub_error *err);

/** Whether a principal may read what was published under an id: of a dataset that was deleted, who may write
 * it. HUB_NOT_FOUND: nothing was, too. */
HUB_MUST_USE enum hub_status hub_request_commits_readable(const struct hub_request *request,
                                                          struct hub_view id, struct hub_error *err);
/** The commit of a dataset that a principal may read: "ID@COMMIT", or "ID" for the newest. Dispose it. */
HUB_MUST_USE enum hub_status hub_commit_of(const struct hub_request *request, const char *name,
                                           struct hub_commit *out, struct hub_error *err);

#endif
