/** What all requests for a change of tokens or rules do. */
#ifndef HUB_API_ACCESS_CHANGE_H
#define HUB_API_ACCESS_CHANGE_H

#include "server/api/access/order.h"
#include "server/http/http.h"

/** How the audit names a principal. */
void hub_access_name_actor(const struct hub_principal *principal, char out[HUB_ACTOR_CHARS]);

/** All values of a parameter that may be repeated. */
HUB_MUST_USE enum hub_status hub_order_words_of(const struct hub_request *request, const char *name,
                                                struct hub_order_words *out, struct hub_error *err);

/** Do it, put the new table in force, log it and answer. HUB_AGAIN where it may not block. */
HUB_MUST_USE enum hub_status hub_access_change(struct hub_request *request,
                                               const struct hub_access_order *order, unsigned status,
                                               struct hub_response *response, struct hub_error *err);

#endif
