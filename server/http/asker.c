/* The client of an exchange, and the name it gives this server: see asker.h. */
#include "server/http/asker.h"

#include "server/http/carrier.h"
#include "server/http/server.h"
#include "server/http/user.h"

#include <stdio.h>
#include <strings.h>

static bool is_sane_id(const char *text)
{
    size_t n = 0;
    for (; text[n]; n++) {
        char c = text[n];
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                     c == '_' || c == '.';
        if (!plain || n == 32)
            return false;
    }
    return n > 0;
}

/* Unique in this process and hard to mistake for another's: a counter behind a random start (splitmix64). */
static void make_id(struct hub_http *http, char out[33])
{
    uint64_t z = http->id_seed +
                 0x9E3779B97F4A7C15U * (atomic_fetch_add_explicit(&http->ids, 1, memory_order_relaxed) + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    for (int i = 0; i < 16; i++, z >>= 4)
        out[i] = "0123456789abcdef"[z & 15];
    out[16] = '\0';
}

void hub_exchange_set_id(struct hub_exchange *x)
{
    const char *id = hub_request_header(&x->request, "X-Request-Id");
    x->named = id && is_sane_id(id);
    if (x->named)
        strcpy(x->request.id, id); /* its length was checked */
    else
        make_id(x->http, x->request.id);
}

const char *hub_exchange_forwarded(const struct hub_exchange *x, const char *name)
{
    return x->proxied ? hub_request_header(&x->request, name) : NULL;
}

/* The first of a list, if it is a host: the name that the client used. */
static struct hub_view forwarded_host(const struct hub_exchange *x)
{
    const char *list = hub_exchange_forwarded(x, "X-Forwarded-Host");
    const struct hub_view first = {list, list ? strcspn(list, ", ") : 0};
    return hub_is_host(first) ? first : (struct hub_view){NULL, 0};
}

void hub_exchange_set_base_url(struct hub_exchange *x, const char *host)
{
    struct hub_request *request = &x->request;
    const struct hub_trust *trust = &x->http->trust;
    const char *proto = hub_exchange_forwarded(x, "X-Forwarded-Proto");
    const struct hub_view named = forwarded_host(x);
    const char *scheme = proto && strcasecmp(proto, "https") == 0 ? "https://" : "http://";
    char own[300];
    struct hub_view name = named.data ? named : hub_view_of(host);
    if (!name.data) {
        snprintf(own, sizeof own, "%.280s:%u", x->http->options.address, x->http->port);
        name = hub_view_of(own);
    }
    char *to = request->text + request->text_used, *at = stpcpy(to, scheme);
    memcpy(at, name.data, name.size); /* at most 300 bytes: the text has room */
    at[name.size] = '\0';
    request->text_used += (size_t)(at - to) + name.size + 1;
    request->base_url = trust->public_url ? trust->public_url : to;
    x->is_known_name = request->local || trust->public_url || trust->options.hosts.count || name.data == own;
    request->names_server = &x->names_server;
    x->misnamed = !request->local && name.data != own && !hub_trust_host(trust, at) ? at : NULL;
}

void hub_exchange_set_client(struct hub_exchange *x)
{
    const char *stated = hub_exchange_forwarded(x, "X-Forwarded-For");
    uint32_t client = x->address;
    x->request.principal.address = hub_trust_client(&x->http->trust, &x->peer, stated);
    for (unsigned i = 0; stated && i < sizeof x->request.principal.address.six; i++)
        client = (client ^ x->request.principal.address.six[i]) * 0x01000193U; /* FNV-1a */
    client = stated ? client | HUB_LANE_PROXIED : client & ~HUB_LANE_PROXIED;
    x->request.client = x->task.item.client = client;
}

void hub_exchange_look_for_proxy(struct hub_exchange *x)
{
    enum { ENOUGH = 8 };
    struct hub_untrusted_proxy *p = &x->http->proxy;
    const char *stated =
        x->proxied || x->introduced ? NULL : hub_request_header(&x->request, "X-Forwarded-For");
    x->introduced = true;
    if (!stated)
        return;
    uint32_t client = 0x811C9DC5U;
    for (const char *c = stated; *c; c++)
        client = (client ^ (uint8_t)*c) * 0x01000193U; /* FNV-1a */
    pthread_mutex_lock(&p->lock);
    if (p->address != x->address)
        p->changes = 0;
    else
        p->changes += p->client != client;
    p->address = x->address;
    p->client = client;
    if (p->changes == ENOUGH && !p->known) {
        hub_address_write(&x->peer, p->text);
        p->known = true;
    }
    pthread_mutex_unlock(&p->lock);
}

bool hub_http_untrusted_proxy(struct hub_http *http, char *out)
{
    pthread_mutex_lock(&http->proxy.lock);
    memcpy(out, http->proxy.text, HUB_ADDRESS_CHARS);
    http->proxy.text[0] = '\0';
    pthread_mutex_unlock(&http->proxy.lock);
    return out[0] != '\0';
}

/* The only value of a header; NULL: it is not there. */
static enum hub_status find_once(const struct hub_request *request, const char *name, const char **out,
                                 struct hub_error *err)
{
    *out = NULL;
    for (unsigned i = 0; name && i < request->header_count; i++) {
        if (!hub_param_named(&request->headers[i], name))
            continue;
        if (*out)
            return hub_fail(err, HUB_INVALID,
                            "the request has two %s headers: the proxy must replace the client's", name);
        *out = request->headers[i].value.data;
    }
    return HUB_OK;
}

/* The user whom a trusted proxy names. Others may name whom they want. */
static enum hub_status name_user(struct hub_exchange *x)
{
    struct hub_request *request = &x->request;
    const struct hub_trust_options *options = &x->http->trust.options;
    const char *user = NULL, *groups = NULL;
    if (!options->user_header || request->local)
        return HUB_OK;
    if (!x->proxied) {
        if (hub_request_header(request, options->user_header))
            atomic_fetch_add_explicit(&x->http->dropped_users, 1, memory_order_relaxed);
        return HUB_OK;
    }
    if (request->carrier != HUB_BY_NOTHING)
        return HUB_OK;
    HUB_TRY(find_once(request, options->user_header, &user, &x->error));
    HUB_TRY(find_once(request, options->groups_header, &groups, &x->error));
    HUB_TRY(hub_request_name_user(request, user, groups, &x->error));
    request->carrier = request->principal.user ? HUB_BY_PROXY : HUB_BY_NOTHING;
    return HUB_OK;
}

static bool is_exposed(const struct hub_exchange *x)
{
    const char *proto = hub_exchange_forwarded(x, "X-Forwarded-Proto");
    const struct hub_address *client = &x->request.principal.address;
    return !x->request.local && client->known && !hub_address_is_loopback(client) &&
           !(proto && strcasecmp(proto, "https") == 0) && !x->http->trust.options.insecure_writes;
}

enum hub_status hub_exchange_identify(struct hub_exchange *x)
{
    struct hub_request *request = &x->request;
    request->access = x->http->options.access ? x->http->options.access(request->app) : NULL;
    request->principal.local_admin = request->local;
    request->tries = x->http->tries;
    request->is_exposed = is_exposed(x);
    request->read_only = x->http->trust.options.read_only;
    HUB_TRY(hub_request_identify(request, &x->error));
    return name_user(x);
}
