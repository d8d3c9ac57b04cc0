#include "server/http/server.h"
#include "server/http/trust.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

static struct hub_trust trust_of(struct hub_trust_options options)
{
    struct hub_trust trust;
    struct hub_error err = {0};
    cr_assert_eq(hub_trust_init(&trust, &options, &err), HUB_OK, "%s", err.detail);
    return trust;
}

#define WORDS(...)                                                                                           \
    {                                                                                                        \
        (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)      \
    }

static struct sockaddr_in6 peer_of(const char *text)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1) {
        cr_assert_eq(inet_pton(AF_INET, text, &four.sin_addr), 1);
        memcpy(&six, &four, sizeof four);
    }
    return six;
}

static bool is_proxy(const struct hub_trust *trust, const char *text)
{
    const struct sockaddr_in6 peer = peer_of(text);
    const struct hub_address address = hub_address_of((const struct sockaddr *)&peer);
    return hub_trust_proxy(trust, &address);
}

Test(trust, networks)
{
    struct hub_trust trust = trust_of((struct hub_trust_options){
        .proxies = WORDS("127.0.0.0/8", "::1", "10.1.2.3", "10.4.0.0/14", "fd00:1::/33")});
    static const char *const trusted[] = {"127.0.0.1", "127.255.0.9", "::1",          "::ffff:127.0.0.1",
                                          "10.1.2.3",  "10.4.0.1",    "10.7.255.255", "fd00:1::5"};
    static const char *const others[] = {"128.0.0.1", "::2",       "10.1.2.4",       "10.8.0.0",
                                         "10.3.0.0",  "fd00:2::1", "fd00:1:8000::1", "8.8.8.8"};
    for (size_t i = 0; i < HUB_COUNT(trusted); i++)
        cr_assert(is_proxy(&trust, trusted[i]), "%s", trusted[i]);
    for (size_t i = 0; i < HUB_COUNT(others); i++)
        cr_assert_not(is_proxy(&trust, others[i]), "%s", others[i]);
    hub_trust_dispose(&trust);
}

Test(trust, what_is_wrong_is_named)
{
    const struct {
        struct hub_trust_options options;
        const char *parameter;
    } cases[] = {
        {{.proxies = WORDS("10.0.0.0/33")}, "trusted-proxies"},
        {{.proxies = WORDS("lab")}, "trusted-proxies"},
        {{.proxies = WORDS("10.0.0.0/")}, "trusted-proxies"},
        {{.proxies = WORDS("::1/-1")}, "trusted-proxies"},
        {{.cors = WORDS("lab.example")}, "cors"},
        {{.cors = WORDS("https://a/b")}, "cors"},
        {{.cors = WORDS("https://a", "*")}, "cors"},
        {{.hosts = WORDS("a b")}, "host"},
        {{.public_url = "lab.example"}, "public-url"},
        {{.public_url = "https://"}, "public-url"},
        {{.public_url = "https://a/b?c"}, "public-url"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_trust trust;
        struct hub_error err = {0};
        cr_assert_eq(hub_trust_init(&trust, &cases[i].options, &err), HUB_INVALID, "case %zu", i);
        cr_assert_str_eq(err.parameter, cases[i].parameter);
    }
}

Test(trust, the_client_behind_proxies)
{
    struct hub_trust trust =
        trust_of((struct hub_trust_options){.proxies = WORDS("127.0.0.1", "10.0.0.0/8")});
    static const struct {
        const char *peer, *forwarded, *client;
    } cases[] = {
        {"8.8.8.8", NULL, "8.8.8.8"},
        {"8.8.8.8", "1.1.1.1", "8.8.8.8"}, /* its word does not count */
        {"127.0.0.1", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1", "1.1.1.1"},
        {"127.0.0.1", "6.6.6.6, 1.1.1.1 , 10.2.3.4", "1.1.1.1"}, /* 6.6.6.6 is what the client says */
        {"127.0.0.1", "10.1.1.1,10.2.2.2", "10.1.1.1"},
        {"127.0.0.1", "rubbish, 10.2.2.2", "10.2.2.2"},
        {"127.0.0.1", "", "127.0.0.1"},
        {"::ffff:127.0.0.1", "2001:db8::1", "2001:db8::1"},
        {"::2", "1.1.1.1", "::2"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char client[HUB_ADDRESS_CHARS];
        const struct sockaddr_in6 peer = peer_of(cases[i].peer);
        const struct hub_address address = hub_address_of((const struct sockaddr *)&peer),
                                 from = hub_trust_client(&trust, &address, cases[i].forwarded);
        hub_address_write(&from, client);
        cr_assert_str_eq(client, cases[i].client, "case %zu: %s", i, client);
    }
    hub_trust_dispose(&trust);
}

Test(trust, names)
{
    struct hub_trust any = trust_of((struct hub_trust_options){0});
    struct hub_trust some =
        trust_of((struct hub_trust_options){.hosts = WORDS("hub.lab", "[::1]", "other.lab:8080")});
    static const char *const good[] = {"hub.lab", "HUB.lab:80", "hub.lab:1",
                                       "[::1]",   "[::1]:8080", "other.lab:8080"};
    static const char *const bad[] = {"evil.example", "hub.lab.evil.example", "hub.la",
                                      "other.lab",    "other.lab:80",         "[::2]:8080"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_assert(hub_trust_host(&some, good[i]), "%s", good[i]);
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_assert_not(hub_trust_host(&some, bad[i]), "%s", bad[i]);
    cr_assert(hub_trust_host(&any, "evil.example"));
    hub_trust_dispose(&any);
    hub_trust_dispose(&some);
}

Test(trust, origins)
{
    struct hub_trust any = trust_of((struct hub_trust_options){.cors = WORDS("*")});
    struct hub_trust off = trust_of((struct hub_trust_options){.cors = WORDS("off")});
    struct hub_trust some =
        trust_of((struct hub_trust_options){.cors = WORDS("https://lab.example", "http://localhost:3000")});
    cr_assert_str_eq(hub_trust_origin(&any, NULL), "*");
    cr_assert_null(hub_trust_origin(&off, "https://lab.example"));
    cr_assert_str_eq(hub_trust_origin(&some, "http://localhost:3000"), "http://localhost:3000");
    cr_assert_null(hub_trust_origin(&some, "http://localhost:3001"));
    cr_assert_null(hub_trust_origin(&some, NULL));
    cr_assert(hub_trust_varies(&some) && !hub_trust_varies(&any) && !hub_trust_varies(&off));
    hub_trust_dispose(&any);
    hub_trust_dispose(&off);
    hub_trust_dispose(&some);
}
