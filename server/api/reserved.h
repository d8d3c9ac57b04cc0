/** Words at the beginning of a path that no bucket is called by: clients look for something else there. */
#ifndef HUB_API_RESERVED_H
#define HUB_API_RESERVED_H

#include "server/http/http.h"

/** HUB_NOT_FOUND "route-not-found", with what the word is reserved for and where a bucket of its name is. */
hub_handler hub_reserved;
/** The same as `not_allowed` of a protocol: nothing is there for any method. */
enum hub_status hub_refuse_reserved(const struct hub_request *request, const char *allow,
                                    struct hub_error *err);

#endif
