/** `minari-hub export` and `import`: datasets out of a hub as a tar, and into one. */
#ifndef HUB_COMMANDS_TAR_COMMAND_H
#define HUB_COMMANDS_TAR_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_TAR_OPTIONS = 8 };
/** The options of one of them, as data: how many. */
size_t hub_tar_usage(bool import, struct hub_usage_option out[HUB_TAR_OPTIONS]);

/** @param argv  what stands behind the command; those that are settings are left to be read as such
 *  @return an exit code */
int hub_export_command(char **argv);
int hub_import_command(char **argv);

#endif
