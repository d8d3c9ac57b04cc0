/** Until lists show what hub.db knows. */
#ifndef HUB_API_DRAFTS_LISTED_H
#define HUB_API_DRAFTS_LISTED_H

#include "server/api/app.h"

/** Wait until a dataset is listed, or is not any more; for some seconds at most. */
void hub_await_listing(struct hub_app *app, const char *id, bool listed);
/** hub.db knows first what was published, deleted or renamed: whoever is refused for that finds it listed so.
 * Waits for some seconds at most, and only where it was a moment ago. */
void hub_await_head(struct hub_app *app, const char *id);

#endif
