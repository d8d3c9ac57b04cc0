/** `minari-hub export` and `import`: datasets out of a hub as a tar, and into one. */
#ifndef HUB_COMMANDS_TAR_COMMAND_H
#define HUB_COMMANDS_TAR_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_EXPORT_OPTIONS = 1, HUB_IMPORT_OPTIONS = 4 };
extern const struct hub_usage_option hub_export_rows[HUB_EXPORT_OPTIONS], hub_import_rows[HUB_IMPORT_OPTIONS];

/** @param argv  what stands behind the command; those that are settings are left to be read as such
 *  @return an exit code */
int hub_export_command(char **argv);
int hub_import_command(char **argv);

#endif
