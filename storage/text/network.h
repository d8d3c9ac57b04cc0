/** Addresses of peers and networks of them. IPv4 is mapped into ::ffff:0:0/96, so that both compare alike. */
#ifndef HUB_TEXT_NETWORK_H
#define HUB_TEXT_NETWORK_H

#include "storage/base/buf.h"

struct sockaddr;

/** The address of a peer; zeroed: it has none, as over a local socket, and lies in no network. */
struct hub_address {
    uint8_t six[16]; /* in network order */
    bool known;
};

/** An address and how many of its 128 bits count. */
struct hub_cidr {
    uint8_t address[16];
    unsigned bits;
};

/* "10.0.0.0/8", "fd00::/8": their longest text, terminated */
enum { HUB_ADDRESS_CHARS = 46, HUB_CIDR_CHARS = HUB_ADDRESS_CHARS + 4 };

/** Of a socket's peer; unknown for NULL and for other families than IPv4 and IPv6. */
struct hub_address hub_address_of(const struct sockaddr *peer);
/** "10.0.0.1" or "fd00::1"; false for any other text. */
bool hub_address_read(struct hub_view text, struct hub_address *out);

/** Terminated; "" for one that is unknown. */
void hub_address_write(const struct hub_address *address, char out[HUB_ADDRESS_CHARS]);

/** Is it an address of this machine to itself: 127.0.0.0/8 or ::1? */
bool hub_address_is_loopback(const struct hub_address *address);

/** The network that an address lies in, as "10.1.2.3/8"; false for any other text. */
bool hub_cidr_around(struct hub_view text, struct hub_cidr *out);
/** "10.0.0.0/8", "10.0.0.1" alone, "fd00::/8". HUB_INVALID for any other text, and where bits of the address
 * are set that do not count. */
HUB_MUST_USE enum hub_status hub_cidr_read(struct hub_view text, struct hub_cidr *out, struct hub_error *err);
/** In the one form that equal networks share: "10.0.0.1/32", "fd00::/8". */
void hub_cidr_write(const struct hub_cidr *network, char out[HUB_CIDR_CHARS]);
bool hub_cidr_has(const struct hub_cidr *network, const struct hub_address *address);

#endif
