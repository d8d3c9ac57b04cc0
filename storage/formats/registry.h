/** The formats that minari-inspect knows. */
#ifndef HUB_FORMATS_REGISTRY_H
#define HUB_FORMATS_REGISTRY_H

#include "storage/worker/format.h"

/** NULL-terminated. Order breaks ties between equal bids. */
extern const struct hub_format *const hub_formats[];

#endif
