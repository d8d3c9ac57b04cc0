/** Waiting for a hub: a line on the terminal says how far it is. */
#ifndef HUB_CLI_WAITING_H
#define HUB_CLI_WAITING_H

#include "client/cli/cli.h"

/** "WHAT: 3 of 7 UNIT" in place of the line before; of 0: WHAT alone. Nothing where stderr is no terminal. */
void waiting_note(const struct cli *cli, const char *what, uint64_t done, uint64_t of, const char *unit);
void waiting_clear(void);
/**
 * Whether to try again after this error: values that the request needs are still being measured, and a
 * terminal shows how far that is, or the hub is the command's own. Waits a moment.
 *
 * @param own  own_hub_measures(): the command's own hub is still measuring
 */
bool waiting_goes_on(const struct cli *cli, const struct minari_error *err, bool own);

#endif
