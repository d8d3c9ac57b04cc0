/**
 * The client of an exchange: the id of its request, the proxy in front of it, and the name that it gives this
 * server.
 */
#ifndef HUB_HTTP_ASKER_H
#define HUB_HTTP_ASKER_H

#include "server/http/exchange.h"

/** A field of a proxy in front, if its word counts; NULL: none. */
const char *hub_exchange_forwarded(const struct hub_exchange *x, const char *name);
/** X-Request-Id: the client's if it is sane, else a new one. */
void hub_exchange_set_id(struct hub_exchange *x);
/** Charge turn and memory to the peer, or to the client that a trusted proxy names. */
void hub_exchange_set_client(struct hub_exchange *x);
/** Behind a proxy that is not believed all clients share one turn: its admin should know. Looked at once a
 * connection. */
void hub_exchange_look_for_proxy(struct hub_exchange *x);
/** As the client asked (the guard looked at the host), or as a trusted proxy or the admin has it. */
void hub_exchange_set_base_url(struct hub_exchange *x, const char *host);
/** Takes the access table in force and tells by it who asks: hub_request_identify. */
HUB_MUST_USE enum hub_status hub_exchange_identify(struct hub_exchange *x);

#endif
