/** Liveness, readiness, metrics, the contract and a first page. */
#ifndef HUB_API_HEALTH_H
#define HUB_API_HEALTH_H

#include "server/api/app.h"

enum hub_status hub_healthz_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err);
enum hub_status hub_readyz_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err);
enum hub_status hub_metrics_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err);
enum hub_status hub_openapi_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err);
enum hub_status hub_front_show(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err);

#endif
