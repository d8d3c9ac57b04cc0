/** Datasets that get another id, and with it another place. */
#ifndef HUB_API_DRAFTS_RENAME_H
#define HUB_API_DRAFTS_RENAME_H

#include "server/api/app.h"

/** At the start: go on with the moves that had begun. */
void hub_renames_recover(struct hub_app *app);

#endif
