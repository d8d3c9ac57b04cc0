/** Where redirects may lead: pure decisions. */
#ifndef HUB_NET_REDIRECT_H
#define HUB_NET_REDIRECT_H

#include <stdbool.h>

/**
 * Whether a redirect may be followed at all: to http or https, never from https to http.
 *
 * @param[out] elsewhere  it leads to another host, or another port of the same. From http to https of one
 * name is the same place.
 */
bool hub_redirect_allowed(const char *from, const char *to, bool *elsewhere);

#endif
