/** Asking the hub that runs on a state directory, over its control socket. */
#ifndef HUB_SERVER_CONTROL_H
#define HUB_SERVER_CONTROL_H

#include "storage/base/json.h"
#include "storage/net/transport.h"

/**
 * One request; json_decref the answer.
 *
 * @param state  the state directory
 * @param post   POST without a body, instead of GET
 * @return HUB_NOT_FOUND: no hub runs there. HUB_DENIED: it is another user's. Else as the hub answered
 */
HUB_MUST_USE enum hub_status hub_control_ask(const char *state, bool post, const char *target, json_t **out,
                                             struct hub_error *err);

/** The same for an answer of any kind and length, which `request` takes.
 * @param interrupted  NULL, or asked several times a second with NULL: non-zero ends it with HUB_CANCELLED */
HUB_MUST_USE enum hub_status hub_control_fetch(const char *state, const char *target,
                                               struct hub_fetch *request, int (*interrupted)(void *user),
                                               struct hub_error *err);

#endif
