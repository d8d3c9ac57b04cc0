/** Three requests to try, with ids that are there: what a person sees first. */
#ifndef HUB_SERVICE_HINTS_H
#define HUB_SERVICE_HINTS_H

#include "server/api/app.h"

/** HUB_NOT_FOUND: no dataset is ready to be shown yet. */
HUB_MUST_USE enum hub_status hub_hints_write(struct hub_app *app, const char *base_url, struct hub_buf *out);

#endif
