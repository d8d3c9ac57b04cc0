/** Rows of fields over HTTP: see field.c. */
#ifndef HUB_API_FIELD_H
#define HUB_API_FIELD_H

#include "server/api/app.h"

/** GET .../episodes/{n}/{path}: a field or a group of fields. */
enum hub_status hub_field_data(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err);
/** GET .../episodes/{n}?fields=a&fields=b: several, aligned by steps when start, stop, step or final is
 * given. */
enum hub_status hub_fields_data(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err);
/** The episode that {n} names: HUB_NOT_FOUND "episode-missing". */
HUB_MUST_USE enum hub_status hub_find_episode(const struct hub_request *request,
                                              const struct hub_dataset *dataset,
                                              const struct hub_dataset_episode **out, struct hub_error *err);

#endif
