/* Redirects: see redirect.h. */
#include "storage/net/redirect.h"

#include "storage/base/buf.h"

#include <netinet/in.h>
#include <strings.h>

/* A URL's scheme, host and port. What readers of URLs disagree about, names of users and backslashes, is
 * none. */
struct url_origin {
    bool https;
    struct hub_view host, port;
};

static bool same(struct hub_view a, struct hub_view b)
{
    return a.size == b.size && strncasecmp(a.data, b.data, a.size) == 0;
}

static bool parse(const char *url, struct url_origin *out)
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
    *out = (struct url_origin){https, {at, host - 1}, {at + host, size > host ? size - host : 0}};
    if (!out->port.size)
        out->port = https ? HUB_VIEW("443") : HUB_VIEW("80");
    return out->host.size > 0 && strcspn(at, "@\\ \t") >= size;
}

bool hub_redirect_allowed(const char *from, const char *to, bool *elsewhere)
{
    struct url_origin a, b;
    *elsewhere = true;
    if (!parse(from, &a) || !parse(to, &b) || (a.https && !b.https))
        return false;
    *elsewhere = !same(a.host, b.host) || (a.https == b.https && !same(a.port, b.port));
    return true;
}

bool hub_redirect_same_host(const char *from, const char *to)
{
    struct url_origin a, b;
    return parse(from, &a) && parse(to, &b) && same(a.host, b.host);
}

struct network {
    uint8_t address[16], bits;
};

static bool is_in(const uint8_t *address, const struct network *networks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t whole = networks[i].bits / 8, rest = networks[i].bits % 8;
        const uint8_t mask = (uint8_t)(0xFF00 >> rest);
        if (memcmp(address, networks[i].address, whole) == 0 &&
            (!rest || ((address[whole] ^ networks[i].address[whole]) & mask) == 0))
            return true;
    }
    return false;
}

/* RFC 6890 and 5771 */
static bool is_private_4(const uint8_t *address)
{
    static const struct network networks[] = {
        {{0}, 8},          {{10}, 8},        {{100, 64}, 10}, {{127}, 8}, {{169, 254}, 16}, {{172, 16}, 12},
        {{192, 0, 0}, 24}, {{192, 168}, 16}, {{198, 18}, 15}, {{224}, 4}, {{240}, 4}};
    return is_in(address, networks, HUB_COUNT(networks));
}

bool hub_address_private(const struct sockaddr *address)
{
    /* unspecified and loopback, IPv4 in several clothes, unique local, link and site local, multicast */
    static const struct network networks[] = {
        {{0}, 127}, {{0xFC}, 7}, {{0xFE, 0x80}, 10}, {{0xFE, 0xC0}, 10}, {{0xFF}, 8}};
    static const struct network wrapped[] = {
        {{[10] = 0xFF, [11] = 0xFF}, 96}, {{0}, 96}, {{0, 0x64, 0xFF, 0x9B}, 96}};
    static const struct network six_to_four = {{0x20, 0x02}, 16};
    if (address->sa_family == AF_INET)
        return is_private_4((const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address->sa_family != AF_INET6)
        return true;
    const uint8_t *six = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    return is_in(six, networks, HUB_COUNT(networks)) ||
           (is_in(six, wrapped, HUB_COUNT(wrapped)) && is_private_4(six + 12)) ||
           (is_in(six, &six_to_four, 1) && is_private_4(six + 2));
}
