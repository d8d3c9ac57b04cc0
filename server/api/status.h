/** What the hub is doing, for its admin and for scripts: status, jobs, problems, and a sweep on request. */
#ifndef HUB_API_STATUS_H
#define HUB_API_STATUS_H

#include "server/http/http.h"

enum hub_status hub_status_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err);
enum hub_status hub_jobs_list(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err);
enum hub_status hub_problems_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err);
/** Look through the directories now. Local: it costs a walk of all roots. */
enum hub_status hub_sweep_post(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err);

#endif
