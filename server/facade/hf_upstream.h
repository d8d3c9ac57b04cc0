/**
 * What clients of Hugging Face ask for and is not here (--hf-upstream): a client has one endpoint for all
 * that it does, so the hub passes on what it does not have. Questions are asked there, with the client's
 * token and without a thread that waits; files are redirected to. Nothing of it is kept, least of all the
 * token.
 */
#ifndef HUB_FACADE_HF_UPSTREAM_H
#define HUB_FACADE_HF_UPSTREAM_H

#include "server/api/app.h"

/** Look here first; a repo that is not here is asked for upstream, if there is one. */
HUB_MUST_USE enum hub_status hub_hf_here_or_upstream(struct hub_request *request,
                                                     struct hub_response *response, struct hub_error *err,
                                                     hub_handler *here);
/** Whether the upstream may be asked: there is one, and the request did not come through several hubs. */
bool hub_hf_has_upstream(const struct hub_request *request);
/** Ask it. HUB_AGAIN, for bytes: its answer is coming. */
HUB_MUST_USE enum hub_status hub_hf_pass_on(struct hub_request *request, struct hub_response *response,
                                            struct hub_error *err);
/** The address is one of a file of a repo of any type: …/resolve/{rev}/… or …/raw/{rev}/… */
bool hub_hf_is_file(const struct hub_request *request);

#endif
