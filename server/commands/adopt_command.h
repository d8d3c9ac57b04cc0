/** `minari-hub adopt`: datasets that somebody put into a root by hand become the hub's own, by the running
 * hub, or here when none runs. */
#ifndef HUB_COMMANDS_ADOPT_COMMAND_H
#define HUB_COMMANDS_ADOPT_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_ADOPT_OPTIONS = 2 };
extern const struct hub_usage_option hub_adopt_usage[HUB_ADOPT_OPTIONS];

/** @param argv  what stands behind "adopt"; those that are settings are left to be read as such
 *  @return an exit code */
int hub_adopt_command(char **argv);

#endif
