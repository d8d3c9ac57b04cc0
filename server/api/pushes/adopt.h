/** Repos of datasets that were published, or changed, by other means than a push of commits. */
#ifndef HUB_API_PUSHES_ADOPT_H
#define HUB_API_PUSHES_ADOPT_H

#include "server/api/app.h"
#include "storage/truth/repos.h"

/** Whether the newest commit of the repo is newer than what was done to its dataset by other means. */
HUB_MUST_USE enum hub_status hub_repo_is_current(const struct hub_app *app, const struct hub_repo_row *repo,
                                                 bool *out, struct hub_error *err);
/**
 * Make the datasets that were published below an id, or under it, a repo with one commit; or add what was
 * done to them since as a commit to the repo that there is.
 * @param shown  the name of the commit: what clients were shown of the repo till now, and push upon
 * @return HUB_NOT_FOUND "dataset-not-found": nothing was published there
 */
HUB_MUST_USE enum hub_status hub_repo_adopt(const struct hub_app *app, const char *id, const char *who,
                                            const char *shown, struct hub_error *err);

#endif
