/**
 * A dataset of this machine where no hub runs: a minari-hub is started for this command, over this dataset
 * alone, on a temporary state directory and its control socket, and ends with the command.
 */
#ifndef HUB_CLI_OWN_HUB_H
#define HUB_CLI_OWN_HUB_H

#include "client/cli/cli.h"

/**
 * As cli_connect, for commands that need a hub: a path, or without a remote an id, is of this machine.
 * Returns when the dataset is inspected, and when what its returns and the options ask for is measured; `*id`
 * is then what that hub calls it.
 */
int own_hub_connect(struct cli *cli, const char **id);
/** Whether to query the own hub again because the "coverage" of this answer is not complete. */
bool own_hub_goes_on(const struct cli *cli, const char *answer);
/** Is there one that has not given up measuring? */
bool own_hub_measures(void);
/** End it and remove its files. */
void own_hub_end(void);

#endif
