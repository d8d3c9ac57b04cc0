#include "storage/base/error.h"
#include "storage/net/redirect.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct redirect_case {
    char from[40], to[60];
    bool allowed, elsewhere;
};

ParameterizedTestParameters(redirect, decisions)
{
    static struct redirect_case cases[] = {
        {"http://hub:8080/a", "http://hub:8080/b", true, false},
        {"http://hub:8080/a", "http://HUB:8080", true, false},
        {"http://hub/a", "http://hub:80/b?x", true, false},
        {"https://hub:443/a", "https://hub/b", true, false},
        {"http://[::1]:8080/a", "http://[::1]:8080/b", true, false},
        {"http://hub:8080/a", "https://hub/a", true, false}, /* to the secure side of the same */
        {"http://10.0.0.1/a", "http://10.0.0.1/b", true, false},
        {"http://hub:8080/a", "http://hub:8081/a", true, true},
        {"http://hub:8080/a", "http://hub/a", true, true},
        {"http://hub/a", "http://hub.evil/a", true, true},
        {"http://hub/a", "http://hub@evil/a", false, true},
        {"http://hub/a", "http://hub:80@evil/a", false, true},
        {"http://hub/a", "http://hub\\@evil/a", false, true},
        {"http://hub/a", "http://hub/@evil", true, false},
        {"http://hub/a", "http://169.254.169.254/latest", true, true},
        {"https://hub/a", "http://hub/a", false, true},
        {"http://hub/a", "file:///etc/passwd", false, true},
        {"http://hub/a", "ftp://hub/a", false, true},
        {"http://hub/a", "http:///a", false, true},
        {"http://hub/a", "", false, true},
    };
    return cr_make_param_array(struct redirect_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct redirect_case *c, redirect, decisions)
{
    bool elsewhere = false;
    cr_assert_eq(hub_redirect_allowed(c->from, c->to, &elsewhere), c->allowed, "%s", c->to);
    cr_assert_eq(elsewhere, c->elsewhere, "%s", c->to);
}

struct address_case {
    char text[48];
    bool hidden;
};

ParameterizedTestParameters(redirect, addresses)
{
    static struct address_case cases[] = {
        {"127.0.0.1", true},        {"10.1.2.3", true},     {"172.16.0.1", true},
        {"172.31.255.255", true},   {"192.168.1.1", true},  {"169.254.169.254", true},
        {"100.64.0.1", true},       {"0.0.0.0", true},      {"224.0.0.1", true},
        {"255.255.255.255", true},  {"::", true},           {"::1", true},
        {"fe80::1", true},          {"fd00::1", true},      {"ff02::1", true},
        {"::ffff:127.0.0.1", true}, {"::127.0.0.1", true},  {"64:ff9b::a00:1", true},
        {"2002:7f00:1::", true},    {"8.8.8.8", false},     {"172.15.0.1", false},
        {"172.32.0.1", false},      {"100.128.0.1", false}, {"2606:4700::1", false},
        {"::ffff:8.8.8.8", false}};
    return cr_make_param_array(struct address_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct address_case *c, redirect, addresses)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    const bool is_four = inet_pton(AF_INET, c->text, &four.sin_addr) == 1;
    cr_assert(is_four || inet_pton(AF_INET6, c->text, &six.sin6_addr) == 1);
    const void *address = is_four ? (const void *)&four : &six;
    cr_assert_eq(hub_address_private(address), c->hidden, "%s", c->text);
}
