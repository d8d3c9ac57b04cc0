/** What a dataset's document says of its fields and cameras. Blocking. */
#ifndef HUB_API_DATASETS_FIELDS_H
#define HUB_API_DATASETS_FIELDS_H

#include "storage/catalog/dataset.h"
#include "storage/text/json.h"

/** "fields". What the numbers of a row are called, and between which bounds of its space they lie, of up to
 * 512 of them. */
HUB_MUST_USE enum hub_status hub_field_documents(struct hub_json *json, const struct hub_state *state,
                                                 struct hub_error *err);

/** "media": the cameras of the first episode; nothing where it has none. */
HUB_MUST_USE enum hub_status hub_cameras_write(struct hub_json *json, const struct hub_state *state,
                                               struct hub_error *err);

#endif
