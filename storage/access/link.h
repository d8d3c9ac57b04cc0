/**
 * Signed links: a path that its holder may read as the maker of the link may, until it expires. The
 * signature is an HMAC-SHA256 (RFC 2104) by the key of the hub over the path, the time and the maker.
 */
#ifndef HUB_ACCESS_LINK_H
#define HUB_ACCESS_LINK_H

#include "storage/access/access.h"

enum { HUB_LINK_SIGNATURE = 64, HUB_LINK_PATH = 8192, HUB_LINK_DAYS = 7 };

struct hub_link {
    struct hub_view path;  /* decoded; one that ends with a slash is for all below it */
    struct hub_view maker; /* id of a token, or a user with groups: whatever the signer calls it */
    int64_t expires_s;     /* Unix time */
    unsigned below;        /* segments of a path that is for all below it; 0: it is for itself alone */
};

/** Write the signature, in hexadecimal digits and terminated. HUB_TOO_BIG: the path is too long. */
HUB_MUST_USE enum hub_status hub_link_sign(const uint8_t key[HUB_LINK_KEY], const struct hub_link *link,
                                           char out[HUB_LINK_SIGNATURE + 1], struct hub_error *err);
/** Is it the signature of the link? Takes as long for any other text. Says nothing of its time. */
bool hub_link_is_signed(const uint8_t key[HUB_LINK_KEY], const struct hub_link *link,
                        struct hub_view signature);

#endif
