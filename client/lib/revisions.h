/** Commits of a dataset of a hub, for pushes and reverts. */
#ifndef HUB_CLIENT_REVISIONS_H
#define HUB_CLIENT_REVISIONS_H

#include "client/lib/internal.h"

/** Whether a text can name a commit: 7 to 40 hex digits. */
bool hub_is_commit(const char *text);

/** The commit of a dataset that the hub published; NULL: none is there. Free it. */
HUB_MUST_USE enum hub_status hub_revision_find_current(struct minari_client *client, const char *id,
                                                       char **out, struct hub_error *err);

#endif
