/** Base64 (RFC 4648 section 4), with padding. */
#ifndef HUB_TEXT_BASE64_H
#define HUB_TEXT_BASE64_H

#include "storage/base/buf.h"

/** Appends the text of any bytes. */
HUB_MUST_USE enum hub_status hub_base64_encode(struct hub_view bytes, struct hub_buf *out,
                                               struct hub_error *err);
/** Appends the bytes of a text; HUB_INVALID unless it is exactly what encode writes. */
HUB_MUST_USE enum hub_status hub_base64_decode(struct hub_view text, struct hub_buf *out,
                                               struct hub_error *err);

#endif
