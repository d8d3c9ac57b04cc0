/** What carries who asks: the credentials of a request. */
#ifndef HUB_HTTP_CARRIER_H
#define HUB_HTTP_CARRIER_H

#include "server/http/http.h"

/**
 * Fill `principal`, whose address is set, from the headers, by `access`: a token as Bearer or as the password
 * of Basic. Other credentials are somebody else's, and whoever sends them is anonymous.
 *
 * @return HUB_DENIED "bad-token" for a token that is not good here; HUB_INVALID for more than one header of
 * credentials
 */
HUB_MUST_USE enum hub_status hub_request_identify(struct hub_request *request, struct hub_error *err);

#endif
