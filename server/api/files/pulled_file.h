/** Files of datasets that are on their way here from an upstream. */
#ifndef HUB_API_FILES_PULLED_FILE_H
#define HUB_API_FILES_PULLED_FILE_H

#include "server/api/resolve.h"

/** It is on its way, so that what of it is here is what came of it: an upstream's, or not inspected yet. */
bool hub_remote_is_fetching(struct hub_request *request, const struct hub_summary *summary);
/** The listing of its files, and the bytes of one, as they come. */
HUB_MUST_USE enum hub_status hub_pulled_files_list(struct hub_request *request,
                                                   const struct hub_target *target,
                                                   struct hub_response *response, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_pulled_file_data(struct hub_request *request,
                                                  const struct hub_target *target,
                                                  struct hub_response *response, struct hub_error *err);
/** The same of a path that is no part of the request's. */
HUB_MUST_USE enum hub_status hub_pulled_file_send(struct hub_request *request,
                                                  const struct hub_target *target, const char *path,
                                                  struct hub_response *response, struct hub_error *err);

#endif
