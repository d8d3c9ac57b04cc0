/** All that the server answers, on one page: routes.c. */
#ifndef HUB_SERVICE_ROUTES_H
#define HUB_SERVICE_ROUTES_H

#include "server/http/http.h"

extern const struct hub_route hub_routes[];
extern const struct hub_protocol hub_protocols[];

#endif
