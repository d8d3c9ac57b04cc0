/* Arrow's schema, read from its FlatBuffer: the part of the reader that knows types. */
#ifndef HUB_FORMATS_ARROW_SCHEMA_H
#define HUB_FORMATS_ARROW_SCHEMA_H

#include "storage/formats/arrow/arrow.h"
#include "storage/formats/arrow/flat.h"

/** Read a Schema table into `arrow`, which has none yet: fields, where their buffers stand, and columns. */
HUB_MUST_USE enum hub_status
hub_arrow_read_schema(struct hub_arrow *arrow, const struct hub_flat_table *schema, struct hub_error *err);
bool hub_arrow_same_schema(const struct hub_arrow *a, const struct hub_arrow *b);

#endif
