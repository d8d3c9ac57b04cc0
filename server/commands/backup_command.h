/** `minari-hub backup` and `minari-hub restore`: what a hub knows and owns goes into a folder, beside the hub
 * that runs, and out of it on another machine. */
#ifndef HUB_COMMANDS_BACKUP_COMMAND_H
#define HUB_COMMANDS_BACKUP_COMMAND_H

#include "storage/base/usage.h"

enum { HUB_BACKUP_OPTIONS = 3, HUB_RESTORE_OPTIONS = 1 };
extern const struct hub_usage_option hub_backup_rows[HUB_BACKUP_OPTIONS];
extern const struct hub_usage_option hub_restore_rows[HUB_RESTORE_OPTIONS];

/** @param argv  what stands behind the command; those that are settings are left to be read as such
 *  @return an exit code */
int hub_backup_command(char **argv);
int hub_restore_command(char **argv);

#endif
