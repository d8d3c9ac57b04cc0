/** Answers that need a look at every episode of a dataset, kept while what they say of it is so. */
#ifndef HUB_API_STATISTICS_AGGREGATE_CACHE_H
#define HUB_API_STATISTICS_AGGREGATE_CACHE_H

#include "server/api/episodes/coverage.h"

/**
 * The body of an equal question about this state, measured as far as now, into the response's buffer.
 *
 * @param what      names the resource; with the request's query the question
 * @param coverage  as it is now; where the answer was found, the one that it was made with
 */
HUB_MUST_USE enum hub_status hub_aggregate_find(const struct hub_request *request, const char *what,
                                                const struct hub_state *state, struct hub_coverage *coverage,
                                                struct hub_response *response, bool *found,
                                                struct hub_error *err);
/** Keep the body in the response's buffer, unless it is long. What finds no memory is not kept. */
void hub_aggregate_store(const struct hub_request *request, const char *what, const struct hub_state *state,
                         const struct hub_coverage *coverage, const struct hub_response *response);

#endif
