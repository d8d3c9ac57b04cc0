/* Access by origin, host name and proxy: see trust.h. */
#include "server/http/trust.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>

/* ---- addresses ---- */

static void map_four(const struct in_addr *four, struct in6_addr *out)
{
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xFF;
    memcpy(out->s6_addr + 12, four, sizeof *four);
}

static bool parse_address(struct hub_view text, struct in6_addr *out, unsigned *bits)
{
    char copy[INET6_ADDRSTRLEN];
    struct in_addr four;
    if (text.size == 0 || text.size >= sizeof copy)
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    *bits = 128;
    if (inet_pton(AF_INET6, copy, out) == 1)
        return true;
    if (inet_pton(AF_INET, copy, &four) != 1)
        return false;
    map_four(&four, out);
    *bits = 32;
    return true;
}

/* "10.0.0.1", "10.0.0.0/8", "fd00::/8" */
static bool parse_network(const char *text, struct hub_network *out)
{
    const char *slash = strchr(text, '/');
    const struct hub_view address = {text, slash ? (size_t)(slash - text) : strlen(text)};
    unsigned width, bits;
    if (!parse_address(address, &out->address, &width))
        return false;
    bits = width;
    if (slash) {
        char *end = NULL;
        const unsigned long n = strtoul(slash + 1, &end, 10);
        if (slash[1] < '0' || slash[1] > '9' || *end || n > width)
            return false;
        bits = (unsigned)n;
    }
    out->bits = bits + 128 - width;
    return true;
}

static bool is_within(const struct in6_addr *address, const struct hub_network *network)
{
    const unsigned bytes = network->bits / 8, rest = network->bits % 8;
    if (memcmp(address, &network->address, bytes) != 0)
        return false;
    const unsigned mask = 0xFF00U >> rest & 0xFF;
    return rest == 0 || ((address->s6_addr[bytes] ^ network->address.s6_addr[bytes]) & mask) == 0;
}

static bool is_proxy(const struct hub_trust *trust, const struct in6_addr *address)
{
    for (unsigned i = 0; i < trust->proxy_count; i++)
        if (is_within(address, &trust->proxies[i]))
            return true;
    return false;
}

static bool address_of(const struct sockaddr *peer, struct in6_addr *out)
{
    if (peer && peer->sa_family == AF_INET)
        map_four(&((const struct sockaddr_in *)(const void *)peer)->sin_addr, out);
    else if (peer && peer->sa_family == AF_INET6)
        *out = ((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr;
    else
        return false;
    return true;
}

bool hub_trust_proxy(const struct hub_trust *trust, const struct sockaddr *peer)
{
    struct in6_addr address;
    return address_of(peer, &address) && is_proxy(trust, &address);
}

void hub_trust_client(const struct hub_trust *trust, const struct sockaddr *peer, const char *forwarded_for,
                      char out[INET6_ADDRSTRLEN])
{
    struct in6_addr client;
    out[0] = '\0';
    if (!address_of(peer, &client))
        return;
    /* each proxy adds who asked it at the end: from there back to the first that is none of ours */
    size_t size = forwarded_for ? strlen(forwarded_for) : 0;
    while (size > 0 && is_proxy(trust, &client)) {
        const char *comma = memrchr(forwarded_for, ',', size);
        const size_t first = comma ? (size_t)(comma - forwarded_for) + 1 : 0;
        const struct hub_view text = {forwarded_for + first, size - first};
        struct in6_addr before;
        unsigned bits;
        if (!parse_address(hub_trimmed(text), &before, &bits))
            break;
        client = before;
        size = comma ? first - 1 : 0;
    }
    if (IN6_IS_ADDR_V4MAPPED(&client))
        (void)inet_ntop(AF_INET, client.s6_addr + 12, out, INET6_ADDRSTRLEN);
    else
        (void)inet_ntop(AF_INET6, &client, out, INET6_ADDRSTRLEN);
}

/* ---- names ---- */

bool hub_is_host(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!plain && !strchr(".-_:[]%~", c))
            return false;
    }
    return text.size > 0 && text.size <= 255 && !memchr(text.data, '\0', text.size);
}

/* Without ":8080"; the colons inside [::1] are none of a port. */
static size_t name_size(const char *host)
{
    const char *close = strrchr(host, ']'), *colon = strrchr(close ? close : host, ':');
    return colon ? (size_t)(colon - host) : strlen(host);
}

bool hub_trust_host(const struct hub_trust *trust, const char *host)
{
    const struct hub_words *names = &trust->options.hosts;
    const size_t size = name_size(host);
    for (unsigned i = 0; i < names->count; i++) {
        const char *name = names->items[i];
        const bool with_port = name[name_size(name)] != '\0';
        if (strcasecmp(name, host) == 0 ||
            (!with_port && strlen(name) == size && strncasecmp(name, host, size) == 0))
            return true;
    }
    return names->count == 0;
}

/* Is `text` http://HOST[:PORT] or https://..., and where does the path begin? */
static bool is_origin(const char *text, const char **path)
{
    const size_t scheme = strncmp(text, "http://", 7) == 0 ? 7 : strncmp(text, "https://", 8) == 0 ? 8 : 0;
    const size_t size = strcspn(text + scheme, "/");
    *path = text + scheme + size;
    return scheme && hub_is_host((struct hub_view){text + scheme, size});
}

bool hub_trust_shared(const struct hub_request *request)
{
    return request->segment_count > 0 &&
           (hub_view_is(request->segments[0], "api") || hub_view_is(request->segments[0], "openapi.json"));
}

const char *hub_trust_origin(const struct hub_trust *trust, const char *origin)
{
    if (trust->any_origin)
        return "*";
    for (unsigned i = 0; origin && !trust->no_origin && i < trust->options.cors.count; i++)
        if (strcmp(trust->options.cors.items[i], origin) == 0)
            return trust->options.cors.items[i];
    return NULL;
}

bool hub_trust_varies(const struct hub_trust *trust)
{
    return !trust->any_origin && !trust->no_origin;
}

/* ---- settings ---- */

static enum hub_status wrong(const char *option, const char *value, const char *what, struct hub_error *err)
{
    return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_NONE, option, value, "%s \"%.80s\": %s", option,
                          value, what);
}

static bool is_one(const struct hub_words *names, const char *word)
{
    return names->count == 1 && strcmp(names->items[0], word) == 0;
}

static enum hub_status read_origins(struct hub_trust *trust, struct hub_error *err)
{
    const struct hub_words *cors = &trust->options.cors;
    trust->any_origin = cors->count == 0 || is_one(cors, "*");
    trust->no_origin = is_one(cors, "off");
    if (trust->any_origin || trust->no_origin)
        return HUB_OK;
    for (unsigned i = 0; i < cors->count; i++) {
        const char *path;
        if (!is_origin(cors->items[i], &path) || *path)
            return wrong("cors", cors->items[i], "must be * or off, or origins like https://lab.example",
                         err);
    }
    return HUB_OK;
}

static enum hub_status read_proxies(struct hub_trust *trust, struct hub_error *err)
{
    const struct hub_words *proxies = &trust->options.proxies;
    if (proxies->count == 0 || is_one(proxies, "off"))
        return HUB_OK;
    HUB_TRY(hub_new(&trust->proxies, proxies->count, sizeof *trust->proxies, err));
    for (unsigned i = 0; i < proxies->count; i++)
        if (!parse_network(proxies->items[i], &trust->proxies[trust->proxy_count++]))
            return wrong("trusted-proxies", proxies->items[i],
                         "must be addresses or networks like 10.0.0.0/8, or off", err);
    return HUB_OK;
}

static enum hub_status read_public_url(struct hub_trust *trust, struct hub_error *err)
{
    const char *url = trust->options.public_url, *path;
    if (!url || !url[0])
        return HUB_OK;
    size_t size = strlen(url);
    if (!is_origin(url, &path) || strpbrk(path, "?# \"<>\\") || size > 255)
        return wrong("public-url", url, "must be like https://data.lab.example or https://lab.example/hub",
                     err);
    while (url[size - 1] == '/')
        size--;
    trust->public_url = hub_view_dup((struct hub_view){url, size});
    return hub_allocated(trust->public_url, err);
}

enum hub_status hub_trust_init(struct hub_trust *trust, const struct hub_trust_options *options,
                               struct hub_error *err)
{
    *trust = (struct hub_trust){.options = *options};
    for (unsigned i = 0; i < options->hosts.count; i++)
        if (!hub_is_host(hub_view_of(options->hosts.items[i])))
            return wrong("host", options->hosts.items[i], "must be a name or an address", err);
    enum hub_status st = read_origins(trust, err);
    if (!st)
        st = read_proxies(trust, err);
    if (!st)
        st = read_public_url(trust, err);
    if (st)
        hub_trust_dispose(trust);
    return st;
}

void hub_trust_dispose(struct hub_trust *trust)
{
    free(trust->proxies);
    free(trust->public_url);
    trust->proxies = NULL;
    trust->public_url = NULL;
    trust->proxy_count = 0;
}
