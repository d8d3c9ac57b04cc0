/** Refuses names and texts in a request that no episode of the dataset can match; suggests the nearest. */
#ifndef HUB_API_EPISODES_QUERY_CHECK_H
#define HUB_API_EPISODES_QUERY_CHECK_H

#include "server/api/episodes/episode_parameters.h"
#include "server/api/resolve.h"

/**
 * Check the fields, attributes, splits, tasks and names in the request's where, sort and `columns`, and in
 * its split=, task= and name=.
 *
 * @return HUB_INVALID "bad-where" or "bad-parameter" about one that the dataset does not have, with
 *         `nearest`; HUB_BUSY "pending" while the dataset is inspected, after which it may have it
 */
HUB_MUST_USE enum hub_status hub_query_check(struct hub_request *request, struct hub_response *response,
                                             const struct hub_target *target,
                                             const struct hub_episode_parameters *params,
                                             const struct hub_property *columns, unsigned count,
                                             struct hub_error *err);

#endif
