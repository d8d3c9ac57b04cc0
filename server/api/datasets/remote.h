/** The document of a dataset that only an upstream has. */
#ifndef HUB_API_DATASETS_REMOTE_H
#define HUB_API_DATASETS_REMOTE_H

#include "server/api/resolve.h"
#include "storage/truth/digests.h"

/** The document of one that is not here. */
HUB_MUST_USE enum hub_status hub_remote_answer(struct hub_request *request, const struct hub_target *target,
                                               struct hub_response *response, struct hub_error *err);

#endif
