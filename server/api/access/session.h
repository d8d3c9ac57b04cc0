/** Sessions of browsers: begun with a token, ended by whoever has their cookie. */
#ifndef HUB_API_ACCESS_SESSION_H
#define HUB_API_ACCESS_SESSION_H

#include "server/http/http.h"

/** Begin a session with a token, and set its cookie. On a worker.
 *  @return HUB_DENIED "bad-token" or "too-many-tries" */
HUB_MUST_USE enum hub_status hub_session_open(struct hub_request *request, struct hub_view token,
                                              struct hub_response *response, struct hub_error *err);
/** End the session of the request, if it has one, and clear its cookie. On a worker. */
HUB_MUST_USE enum hub_status hub_session_close(struct hub_request *request, struct hub_response *response,
                                               struct hub_error *err);

#endif
