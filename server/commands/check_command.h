/** `minari-hub check`: files are read again and compared with what is known of them, by the running hub, or
 * here when none runs. */
#ifndef HUB_COMMANDS_CHECK_COMMAND_H
#define HUB_COMMANDS_CHECK_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_CHECK_OPTIONS = 5 };
extern const struct hub_usage_option hub_check_usage[HUB_CHECK_OPTIONS];

/** @param argv  what stands behind "check"; those that are settings are left to be read as such
 *  @return an exit code */
int hub_check_command(char **argv);

#endif
