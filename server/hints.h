/** Three requests to try, with ids that are there: what a person sees first. */
#ifndef HUB_SERVER_HINTS_H
#define HUB_SERVER_HINTS_H

#include "server/app.h"

#include <stdio.h>

/** Print them. False: no dataset is ready to be shown yet. */
bool hub_hints_print(struct hub_app *app, const char *base_url, FILE *out);

#endif
