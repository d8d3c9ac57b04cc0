/** Bands: GET …/episodes/{n}/{field}?runs=, runs of equal values of bools, integers and texts. */
#ifndef HUB_API_ROWS_RUNS_H
#define HUB_API_ROWS_RUNS_H

#include "server/http/http.h"

/** Event threads: HUB_AGAIN, but for what validators answer. */
HUB_MUST_USE enum hub_status hub_runs_data(struct hub_request *request, struct hub_response *response,
                                           struct hub_error *err);

#endif
