/** Which representation a request for rows wants: ?format= wins, then Accept; none or any is the first. */
#ifndef HUB_API_NEGOTIATE_H
#define HUB_API_NEGOTIATE_H

#include "server/http/http.h"
#include "storage/encode/representation.h"

/** Sets `as` and `by_name`. HUB_NOT_ACCEPTABLE "not-acceptable" when nothing asked for exists; HUB_INVALID
 * "bad-parameter" for an unknown ?format=. */
HUB_MUST_USE enum hub_status hub_negotiate(const struct hub_request *request, struct hub_encoding *e,
                                           struct hub_error *err);

#endif
