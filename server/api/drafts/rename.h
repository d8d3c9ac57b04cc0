/** Datasets that get another id, and with it another place. */
#ifndef HUB_API_DRAFTS_RENAME_H
#define HUB_API_DRAFTS_RENAME_H

#include "server/api/app.h"

/** Give a dataset that was published here, and that the principal may write, another id that it may write. */
HUB_MUST_USE enum hub_status hub_rename(struct hub_request *request, const char *id, const char *to,
                                        struct hub_error *err);
/** At the start: go on with the moves that had begun. */
void hub_renames_recover(struct hub_app *app);

#endif
