/** `minari-hub mirror`: rules made, shown and changed, through the running hub, or in its state directory
 * when none runs. */
#ifndef HUB_COMMANDS_MIRROR_COMMAND_H
#define HUB_COMMANDS_MIRROR_COMMAND_H

#include "server/config/config.h"
#include "storage/text/json.h"

/** A rule's document in two or three lines. */
void hub_mirror_print(const json_t *rule);

/** @param argv  what stands behind "mirror"; those that are settings are left to be read as such
 *  @return an exit code */
int hub_mirror_command(char **argv);

#endif
