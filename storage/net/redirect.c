/* Redirects: see redirect.h. */
#include "storage/net/redirect.h"

#include "storage/base/buf.h"

#include <strings.h>

/* A URL's scheme, host and port. What readers of URLs disagree about, names of users and backslashes, is
 * none. */
struct place {
    bool https;
    struct hub_view host, port;
};

static bool same(struct hub_view a, struct hub_view b)
{
    return a.size == b.size && strncasecmp(a.data, b.data, a.size) == 0;
}

static bool parse(const char *url, struct place *out)
{
    const bool https = strncasecmp(url, "https://", 8) == 0;
    if (!https && strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *at = url + (https ? 8 : 7);
    const size_t size = strcspn(at, "/?#");
    size_t host = size;
    while (host > 0 && at[host - 1] >= '0' && at[host - 1] <= '9')
        host--;
    if (host == 0 || at[host - 1] != ':') /* digits of a name, not a port */
        host = size + 1;
    *out = (struct place){https, {at, host - 1}, {at + host, size > host ? size - host : 0}};
    if (!out->port.size)
        out->port = https ? HUB_VIEW("443") : HUB_VIEW("80");
    return out->host.size > 0 && strcspn(at, "@\\ \t") >= size;
}

bool hub_redirect_allowed(const char *from, const char *to, bool *elsewhere)
{
    struct place a, b;
    *elsewhere = true;
    if (!parse(from, &a) || !parse(to, &b) || (a.https && !b.https))
        return false;
    *elsewhere = !same(a.host, b.host) || (a.https == b.https && !same(a.port, b.port));
    return true;
}
