/** The commands that run over a catalogue: serve and scan. They return an exit code and say on stderr what
 * went wrong. */
#ifndef HUB_SERVER_SERVE_H
#define HUB_SERVER_SERVE_H

#include "server/config.h"

struct hub_app;

int hub_serve(const struct hub_config *config);
/** One sweep, then a summary. */
int hub_scan(const struct hub_config *config);

/** With all of a hub but its sockets, when it has looked through its directories: for what is done where none runs. */
HUB_MUST_USE enum hub_status hub_without_sockets(const struct hub_config *config,
                                                 enum hub_status (*fn)(struct hub_app *app, void *user,
                                                                       struct hub_error *err),
                                                 void *user, struct hub_error *err);

#endif
