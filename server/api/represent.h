/** Which representation a request for rows wants: ?format= wins, then Accept; none or any is JSON. */
#ifndef HUB_API_REPRESENT_H
#define HUB_API_REPRESENT_H

#include "server/http/http.h"
#include "storage/encode/encode.h"

/** HUB_NOT_ACCEPTABLE "not-acceptable" when nothing asked for exists; HUB_INVALID "bad-parameter" for an
 * unknown ?format=. */
HUB_MUST_USE enum hub_status hub_represent(const struct hub_request *request, enum hub_format_id *out,
                                           struct hub_error *err);
const char *hub_represent_name(enum hub_format_id as);
const char *hub_represent_type(enum hub_format_id as); /* media type; images: decided by the field */

#endif
