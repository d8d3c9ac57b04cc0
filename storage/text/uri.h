/** Percent-encoding (RFC 3986) of what becomes part of a URL. Requests are decoded in
 * server/http/request.c. */
#ifndef HUB_TEXT_URI_H
#define HUB_TEXT_URI_H

#include "storage/base/buf.h"

/** Encode everything but letters, digits and "-._~". Appends. */
HUB_MUST_USE enum hub_status hub_uri_encode_segment(struct hub_view text, struct hub_buf *out,
                                                    struct hub_error *err);
/** The same for a path whose '/' separate: they stay. Appends. */
HUB_MUST_USE enum hub_status hub_uri_encode_path(struct hub_view text, struct hub_buf *out,
                                                 struct hub_error *err);

#endif
