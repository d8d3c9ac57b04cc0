/** Text inside HTML and XML. */
#ifndef HUB_FACADE_MARKUP_H
#define HUB_FACADE_MARKUP_H

#include "storage/base/buf.h"

/** Appends it with `<`, `>`, `&` and both quotes as entities. */
HUB_MUST_USE enum hub_status hub_markup_add(struct hub_view text, struct hub_buf *out, struct hub_error *err);

#endif
