/** All that the server answers, on one page: routes.c. */
#ifndef HUB_SERVICE_ROUTES_H
#define HUB_SERVICE_ROUTES_H

#include "server/http/http.h"

extern const struct hub_route hub_routes[];
extern const struct hub_protocol hub_protocols[];

/** A copy of hub_routes for a hub that gives its figures to everybody, /metrics and /api/v1/status: names in
 * them stay for who may watch it. free() the result; NULL: no memory. */
struct hub_route *hub_routes_with_open_figures(void);

#endif
