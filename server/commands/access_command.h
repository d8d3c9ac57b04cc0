/** `minari-hub token`, `minari-hub access` and `minari-hub audit`: through the running hub, or in its state
 * directory when none runs. */
#ifndef HUB_COMMANDS_ACCESS_COMMAND_H
#define HUB_COMMANDS_ACCESS_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_TOKEN_OPTIONS = 8, HUB_ACCESS_OPTIONS = 1, HUB_AUDIT_OPTIONS = 2 };
extern const struct hub_usage_option hub_token_rows[HUB_TOKEN_OPTIONS];
extern const struct hub_usage_option hub_access_rows[HUB_ACCESS_OPTIONS];
extern const struct hub_usage_option hub_audit_rows[HUB_AUDIT_OPTIONS];

/** @param argv  what stands behind the command; those that are settings are left to be read as such
 *  @return an exit code */
int hub_token_command(char **argv);
int hub_access_command(char **argv);
int hub_audit_command(char **argv);

#endif
