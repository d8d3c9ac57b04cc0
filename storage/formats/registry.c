/* The list of formats: see registry.h. */
#include "storage/formats/registry.h"

#include "storage/model/format_row.h"

#define DECLARE(row, ...) extern const struct hub_format hub_format_##row;
#define POINT(row, ...) &hub_format_##row,

HUB_FORMATS(DECLARE)
const struct hub_format *const hub_formats[] = {HUB_FORMATS(POINT) NULL};
