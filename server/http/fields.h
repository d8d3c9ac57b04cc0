/** Header fields that may come as several lines. */
#ifndef HUB_HTTP_FIELDS_H
#define HUB_HTTP_FIELDS_H

#include "server/http/http.h"

/** How many lines of this name there are. */
unsigned hub_field_count(const struct hub_request *request, const char *name);

#endif
