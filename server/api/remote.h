/** Datasets that an upstream has: what is known of them, and what of them is here already. */
#ifndef HUB_API_REMOTE_H
#define HUB_API_REMOTE_H

#include "server/api/resolve.h"

/** The document of one that is not here. */
HUB_MUST_USE enum hub_status hub_remote_answer(struct hub_request *request, const struct hub_target *target,
                                               struct hub_response *response, struct hub_error *err);

/** It is on its way, so that what of it is here is what came of it: an upstream's, or not inspected yet. */
bool hub_remote_comes(struct hub_request *request, const struct hub_summary *summary);
/** The listing of its files, and the bytes of one, as they come. */
HUB_MUST_USE enum hub_status hub_remote_files(struct hub_request *request, const struct hub_target *target,
                                              struct hub_response *response, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_remote_file(struct hub_request *request, const struct hub_target *target,
                                             struct hub_response *response, struct hub_error *err);

#endif
