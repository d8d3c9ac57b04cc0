/**
 * The trust of the server: web pages of other origins (CORS), the names that `Host` may have, and the
 * proxies whose X-Forwarded-* fields are trusted. Made once, read by all threads.
 */
#ifndef HUB_HTTP_TRUST_H
#define HUB_HTTP_TRUST_H

#include "server/http/server.h"
#include "storage/text/network.h"

struct hub_trust {
    struct hub_trust_options options;
    struct hub_cidr *proxies;
    unsigned proxy_count;
    bool any_origin, no_origin;
    char *public_url; /* without a slash at the end; NULL: none */
};

/** Checks what is set: HUB_INVALID names the option. */
HUB_MUST_USE enum hub_status hub_trust_init(struct hub_trust *trust, const struct hub_trust_options *options,
                                            struct hub_error *err);
void hub_trust_dispose(struct hub_trust *trust);

/** A host name or address with an optional port. */
bool hub_is_host(struct hub_view text);
/** May this server be called so? */
bool hub_trust_host(const struct hub_trust *trust, const char *host);
/** Is this peer a proxy whose word counts? */
bool hub_trust_proxy(const struct hub_trust *trust, const struct hub_address *peer);
/** The peer's address, or, behind proxies, the client's that the last trusted one tells of. */
struct hub_address hub_trust_client(const struct hub_trust *trust, const struct hub_address *peer,
                                    const char *forwarded_for);
/** Is this answer for pages of other origins too? Under /api/ and the contract. */
bool hub_trust_shared(const struct hub_request *request);
/** The value of Access-Control-Allow-Origin for a request with this Origin (NULL: none), or NULL. */
const char *hub_trust_origin(const struct hub_trust *trust, const char *origin);
/** Do answers depend on the Origin? */
bool hub_trust_varies(const struct hub_trust *trust);

#endif
