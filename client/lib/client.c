/* The client. */
#include "client/lib/internal.h"

#include <stdlib.h>

bool hub_client_takes_token(const char *token)
{
    const size_t size = strspn(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/");
    return size && !token[size + strspn(token + size, "=")];
}

static enum hub_status make(const struct minari_client_options *o, struct minari_client *c,
                            struct hub_error *err)
{
    struct minari_remote remote;
    struct minari_error why;
    if (minari_remote_parse(o->base_url, &remote, &why))
        return hub_fail(err, HUB_INVALID, "%s", why.detail);
    if (o->token && *o->token && !hub_client_takes_token(o->token))
        return hub_fail(err, HUB_INVALID,
                        "the token has a character that tokens do not have: check that it was copied whole, "
                        "and nothing else");
    struct hub_transport_options t = {
        .token = o->token,
        .user_agent = o->user_agent ? o->user_agent : "libminari/" HUB_VERSION,
        .proxy = o->proxy,
        .unix_socket = o->unix_socket,
        .environment_proxy = o->environment_proxy,
        .other_hosts = o->trust_redirects ? HUB_OTHER_HOSTS_ANY : HUB_OTHER_HOSTS_NONE,
        .bytes_per_s = o->bytes_per_s ? HUB_MAX(o->bytes_per_s, 64 * KIB) : 0,
        .waiting = o->waiting,
        .trace = o->trace,
        .connect_timeout_ms = o->connect_timeout_ms ? o->connect_timeout_ms : 10000,
        .stall_timeout_ms = o->stall_timeout_ms ? o->stall_timeout_ms : 30000,
        .retry = HUB_RETRY_DEFAULT,
        .interrupted = o->interrupted,
        .user = o->user};
    if (o->attempts)
        t.retry.attempts = t.retry.stalled_attempts = o->attempts;
    const struct hub_remote_options options = {
        .transport = t, .endpoint = o->endpoint, .credentials = o->credentials};
    return hub_remote_open(remote.text, &options, &c->remote, err);
}

enum minari_status minari_client_new(const struct minari_client_options *options, struct minari_client **out,
                                     struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_client_options own;
    HUB_OPTIONS_COPY(own, options);
    if (!out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    struct minari_client *c = calloc(1, sizeof *c);
    enum hub_status st = c ? make(&own, c, &error) : hub_no_memory(&error);
    if (st)
        minari_client_free(c);
    else
        *out = c;
    return hub_client_report(st, &error, err);
}

void minari_client_free(struct minari_client *client)
{
    if (!client)
        return;
    hub_remote_close(&client->remote);
    free(client);
}

void minari_client_resume(struct minari_client *client, struct minari_resume *resume)
{
    if (client)
        client->resume = resume;
}

enum hub_status hub_client_missing(struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID, "a client and a pointer for the result are needed");
}
