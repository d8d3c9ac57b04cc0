/** Which episodes a request means: where=, split=, task=, name= and sort=. */
#ifndef HUB_API_EPISODES_EPISODE_PARAMETERS_H
#define HUB_API_EPISODES_EPISODE_PARAMETERS_H

#include "server/http/http.h"
#include "storage/catalog/dataset.h"

struct hub_episode_parameters {
    struct hub_episode_query query; /* no limit yet, and from the start */
    struct hub_where *where, *sort; /* what its texts lie in, beside the request */
};

/** HUB_INVALID "bad-where", "bad-parameter". Of a zeroed one; dispose of it in any case. */
HUB_MUST_USE enum hub_status hub_episode_parameters_parse(const struct hub_request *request,
                                                          struct hub_episode_parameters *out,
                                                          struct hub_error *err);
/** May all episodes of a dataset be looked at for this query? HUB_AGAIN: on a thread for long work;
 * HUB_TOO_BIG. From here on the query ends with HUB_CANCELLED once nobody waits for the answer. */
HUB_MUST_USE enum hub_status hub_episodes_admit(struct hub_request *request, const struct hub_state *state,
                                                struct hub_episode_query *query, struct hub_error *err);
void hub_episode_parameters_dispose(struct hub_episode_parameters *params);

#endif
