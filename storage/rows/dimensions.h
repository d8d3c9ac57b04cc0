/** What a dataset calls the numbers of its rows, as "shoulder" and "elbow". Blocking. */
#ifndef HUB_ROWS_DIMENSIONS_H
#define HUB_ROWS_DIMENSIONS_H

#include "storage/catalog/dataset.h"
#include "storage/text/json.h"

/** An object by field, NULL where nothing has a name. */
HUB_MUST_USE enum hub_status hub_dimensions_read(const struct hub_state *state, json_t **out,
                                                 struct hub_error *err);
/** "names" of a field of `dims` numbers a row, or of those that are chosen; nothing where they have none. */
void hub_dimensions_put(struct hub_json *json, const json_t *dimensions, const char *path, uint32_t dims,
                        const uint32_t *chosen, uint32_t count);

#endif
