/** GET .../files and GET .../files/{path}: works whatever the status of the dataset. */
#ifndef HUB_API_FILES_H
#define HUB_API_FILES_H

#include "server/app.h"

enum hub_status hub_files_list(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err);
enum hub_status hub_files_get(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err);

#endif
