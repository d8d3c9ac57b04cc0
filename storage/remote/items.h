/** The raw text of items in a document, for callers that want them as they came. */
#ifndef HUB_REMOTE_ITEMS_H
#define HUB_REMOTE_ITEMS_H

#include "storage/text/json.h"

/** The text of each element of the array under `key` of a JSON object that parses. Free `*out`. */
HUB_MUST_USE enum hub_status hub_raw_items(struct hub_view object, const char *key, size_t max,
                                           struct hub_view **out, size_t *count, struct hub_error *err);

#endif
