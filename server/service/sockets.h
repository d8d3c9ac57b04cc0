/** The sockets of a hub, with the options that its configuration has for them. */
#ifndef HUB_SERVICE_SOCKETS_H
#define HUB_SERVICE_SOCKETS_H

#include "server/api/app.h"
#include "server/config/config.h"
#include "server/http/http.h"
#include "server/service/limits.h"

/** To the network: app->http. Without an address all of the hub is at the control socket. */
HUB_MUST_USE enum hub_status hub_sockets_open_public(struct hub_app *app, const struct hub_config *config,
                                                     const struct hub_limits *limits,
                                                     const struct hub_route *routes, struct hub_error *err);
/** For the admin of this machine: app->control, with few connections and one thread. */
HUB_MUST_USE enum hub_status hub_sockets_open_control(struct hub_app *app, const struct hub_config *config,
                                                      const struct hub_limits *limits,
                                                      const struct hub_route *routes, struct hub_error *err);

#endif
