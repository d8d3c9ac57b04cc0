/** The commands that run over a catalogue: serve and scan. They return an exit code and say on stderr what
 * went wrong. */
#ifndef HUB_COMMANDS_SERVE_H
#define HUB_COMMANDS_SERVE_H

#include "server/config/config.h"

int hub_serve(const struct hub_config *config);
/** One sweep, then a summary. */
int hub_scan(const struct hub_config *config);

#endif
