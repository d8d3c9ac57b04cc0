/** Observation and action spaces as gymnasium prints them: "Box(-inf, inf, (39,), float64)". */
#ifndef HUB_CLI_SPACE_H
#define HUB_CLI_SPACE_H

#include "storage/text/json.h"

/**
 * Append the text of a space. Bounds that are not all alike are listed as Python lists them, many of them are
 * written as "[least .. most]"; what is no known space is appended as its JSON.
 */
HUB_MUST_USE enum hub_status space_text(const json_t *space, struct hub_buf *out, struct hub_error *err);

/** The shape of the Box at a field's path ("observations/camera") within the space of "observations", or
 * NULL. */
const json_t *space_shape(const json_t *space, const char *path);

#endif
