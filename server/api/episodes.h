/** GET .../episodes and GET .../episodes/{n}. */
#ifndef HUB_API_EPISODES_H
#define HUB_API_EPISODES_H

#include "server/api/app.h"

enum hub_status hub_episodes_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err);
/** The episode's attributes and fields; with ?fields= its rows (field.c). */
enum hub_status hub_episode_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err);

#endif
