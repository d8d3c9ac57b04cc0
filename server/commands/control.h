/** Asking the hub that runs on a state directory, over its control socket. */
#ifndef HUB_COMMANDS_CONTROL_H
#define HUB_COMMANDS_CONTROL_H

#include "server/config/config.h"
#include "storage/net/transport.h"

#define HUB_SERVICE_STATE "/var/lib/minari-hub" /* where systemd keeps it: StateDirectory= of the unit */

/**
 * The state directory of the hub to ask: the one that is named; else this user's, or the service's where
 * only that has a hub that answers. free() the result.
 */
HUB_MUST_USE enum hub_status hub_control_state(const struct hub_config *config, char **out,
                                               struct hub_error *err);

/**
 * One request; json_decref the answer.
 *
 * @param state  the state directory
 * @param post   POST without a body, instead of GET
 * @return HUB_NOT_FOUND: no hub runs there. HUB_DENIED: it is another user's. Else as the hub answered
 */
HUB_MUST_USE enum hub_status hub_control_request(const char *state, bool post, const char *target,
                                                 json_t **out, struct hub_error *err);

/** The same with DELETE. */
HUB_MUST_USE enum hub_status hub_control_delete(const char *state, const char *target, json_t **out,
                                                struct hub_error *err);

/** The same for an answer of any kind and length, which `request` takes.
 * @param interrupted  NULL, or asked several times a second with NULL: non-zero ends it with HUB_CANCELLED */
HUB_MUST_USE enum hub_status hub_control_fetch(const char *state, const char *target,
                                               struct hub_fetch *request, int (*interrupted)(void *user),
                                               struct hub_error *err);

#endif
