/** GET /api/v1/datasets and GET /api/v1/datasets/{id}. */
#ifndef HUB_API_DATASETS_H
#define HUB_API_DATASETS_H

#include "server/api/app.h"

enum hub_status hub_datasets_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err);
enum hub_status hub_dataset_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err);

#endif
