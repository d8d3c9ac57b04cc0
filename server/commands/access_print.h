/** What the commands token, access and audit print. */
#ifndef HUB_COMMANDS_ACCESS_PRINT_H
#define HUB_COMMANDS_ACCESS_PRINT_H

#include "server/commands/access_ask.h"

/** Data on standard output, a new token alone there; all else on standard error. Non-zero: it cannot be
 * written. */
int hub_access_print(const struct hub_access_ask *ask, bool as_json, const json_t *answer);

#endif
