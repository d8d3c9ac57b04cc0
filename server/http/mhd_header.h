/** Header fields of a request, as libmicrohttpd shows and hides them. */
#ifndef HUB_HTTP_MHD_HEADER_H
#define HUB_HTTP_MHD_HEADER_H

#include "server/http/exchange.h"

/** All fields into x->headers, and whether some are folded or have bytes that the library does not show. More
 * of them than there is room for: x->parsed says so. */
void hub_mhd_read_header(struct hub_exchange *x, const char *method, const char *version);
/** The library would say "100 Continue" to a request without a body, take what follows for that body, and
 * answer neither. It looks for this field after the first call, in a text that is its own buffer: where no
 * body is to come the field is overwritten. */
void hub_mhd_hide_expectation(struct hub_exchange *x);

#endif
