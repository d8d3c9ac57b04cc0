/** The commands that ask the running hub: status and problems. They return an exit code. */
#ifndef HUB_COMMANDS_ADMIN_H
#define HUB_COMMANDS_ADMIN_H

#include "server/config/config.h"

/* Exit codes, as those of minari-cli. */
enum {
    HUB_EXIT_FAILED = 1,
    HUB_EXIT_USAGE = 2,
    HUB_EXIT_NOT_FOUND = 3,
    HUB_EXIT_NOT_RUNNING = 4,
    HUB_EXIT_CORRUPT = 5,
    HUB_EXIT_NO_SPACE = 6,
    HUB_EXIT_NOT_ALLOWED = 7,
    HUB_EXIT_INTERRUPTED = 130
};

int hub_admin_status(const struct hub_config *config);
int hub_admin_problems(const struct hub_config *config);
/** Have the hub on this state directory look through its directories, wait until it has, print the summary.
 *  HUB_NOT_FOUND: none runs there. */
HUB_MUST_USE enum hub_status hub_admin_scan(const char *state, const char *forget, struct hub_error *err);
/** The code for an error, which is printed. */
int hub_admin_failed(enum hub_status st, const struct hub_error *err);

#endif
