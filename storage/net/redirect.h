/** Where redirects may lead: pure decisions. */
#ifndef HUB_NET_REDIRECT_H
#define HUB_NET_REDIRECT_H

#include <stdbool.h>
#include <sys/socket.h>

/**
 * Whether a redirect may be followed at all: to http or https, never from https to http.
 *
 * @param[out] elsewhere  it leads to another host, or another port of the same. From http to https of one
 * name is the same place.
 */
bool hub_redirect_allowed(const char *from, const char *to, bool *elsewhere);

/** Whether two URLs name the same host, whatever the ports. */
bool hub_redirect_same_host(const char *from, const char *to);

/** An address of this machine, of a private or local network, of a group, or of no use at all. */
bool hub_address_private(const struct sockaddr *address);

#endif
