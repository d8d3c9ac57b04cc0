/** What a dataset's document says of its fields and cameras. Blocking. */
#ifndef HUB_API_FIELDS_H
#define HUB_API_FIELDS_H

#include "storage/base/json.h"
#include "storage/catalog/dataset.h"

/** "fields". What the numbers of a row are called, and between which bounds of its space they lie, of up to 512 of them. */
HUB_MUST_USE enum hub_status hub_field_documents(struct hub_json *json, const struct hub_state *state,
                                                 struct hub_error *err);
/** What a dataset calls the numbers of its rows: an object by field, NULL where nothing is called anything. */
HUB_MUST_USE enum hub_status hub_dimensions_read(const struct hub_state *state, json_t **out,
                                                 struct hub_error *err);
/** "names" of a field of `dims` numbers a row, or of those that are chosen; nothing where they have none. */
void hub_dimensions_put(struct hub_json *json, const json_t *dimensions, const char *path, uint32_t dims,
                        const uint32_t *chosen, uint32_t count);

/** "media": the cameras of the first episode; nothing where it has none. */
HUB_MUST_USE enum hub_status hub_cameras_write(struct hub_json *json, const struct hub_state *state,
                                               struct hub_error *err);

/** The whole name of a camera, or what stands behind one of its dots and slashes. */
bool hub_camera_is_called(const char *camera, const char *name);

#endif
