/** From a request to its principal: the credentials that it carries. */
#ifndef HUB_HTTP_CARRIER_H
#define HUB_HTTP_CARRIER_H

#include "server/http/http.h"

/** Names of the cookie of a session, over plain HTTP and over HTTPS. */
#define HUB_SESSION_COOKIE "mh_session"
#define HUB_SESSION_COOKIE_TLS "__Host-mh_session"

/**
 * Fill `principal`, whose address is set, `carrier` and `token` by `access`. The first of these decides: a
 * token as Bearer or as the password of Basic; the signature of a link, which is taken out of the query;
 * the cookie of a session. Other credentials are somebody else's, and whoever sends them is anonymous.
 *
 * @return HUB_DENIED "bad-token" for a token or a link that is not good here, "too-many-tries" after too
 * many; HUB_INVALID for more than one header of credentials. A cookie that is not good is none.
 */
HUB_MUST_USE enum hub_status hub_request_identify(struct hub_request *request, struct hub_error *err);

/** The token that a text is; NULL in `out`: it does not claim to be one. Fails as hub_request_identify. */
HUB_MUST_USE enum hub_status hub_request_find_token(const struct hub_request *request, struct hub_view text,
                                                    const struct hub_token **out, struct hub_error *err);

#endif
