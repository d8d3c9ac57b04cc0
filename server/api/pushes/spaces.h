/** What a repo that is a namespace of Minari says of itself and of those in it. */
#ifndef HUB_API_PUSHES_SPACES_H
#define HUB_API_PUSHES_SPACES_H

#include "server/api/app.h"
#include "storage/truth/repos.h"

/** Write each namespace_metadata.json of a commit where the hub keeps what a namespace says of itself. */
HUB_MUST_USE enum hub_status hub_push_fold_spaces(const struct hub_app *app, const struct hub_repo_row *repo,
                                                  const struct hub_push *push, struct hub_error *err);

#endif
