/** The stored text of a dataset's spaces. */
#ifndef HUB_API_SPACES_H
#define HUB_API_SPACES_H

#include "server/http/http.h"

HUB_MUST_USE enum hub_status hub_space_data(struct hub_request *request, struct hub_response *response,
                                            struct hub_error *err);

#endif
