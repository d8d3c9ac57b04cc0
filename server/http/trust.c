/* Access by origin, host name and proxy: see trust.h. */
#include "server/http/trust.h"

#include <stdlib.h>
#include <strings.h>

/* ---- addresses ---- */

bool hub_trust_proxy(const struct hub_trust *trust, const struct hub_address *address)
{
    for (unsigned i = 0; i < trust->proxy_count; i++)
        if (hub_cidr_has(&trust->proxies[i], address))
            return true;
    return false;
}

struct hub_address hub_trust_client(const struct hub_trust *trust, const struct hub_address *peer,
                                    const char *forwarded_for)
{
    struct hub_address client = *peer;
    /* each proxy adds who asked it at the end: from there back to the first that is none of ours */
    size_t size = forwarded_for ? strlen(forwarded_for) : 0;
    while (size > 0 && hub_trust_proxy(trust, &client)) {
        const char *comma = memrchr(forwarded_for, ',', size);
        const size_t first = comma ? (size_t)(comma - forwarded_for) + 1 : 0;
        const struct hub_view text = {forwarded_for + first, size - first};
        struct hub_address before;
        if (!hub_address_read(hub_trimmed(text), &before))
            break;
        client = before;
        size = comma ? first - 1 : 0;
    }
    return client;
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
        if (!hub_cidr_around(hub_view_of(proxies->items[i]), &trust->proxies[trust->proxy_count++]))
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
