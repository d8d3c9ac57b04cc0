#include "server/http/guard.h"

#include <criterion/criterion.h>

struct guard_case {
    const char *method, *version, *target;
    const char *headers[4][2];
    enum hub_status st;
};

static const struct guard_case cases[] = {
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}}, HUB_OK},
    {"GET", "HTTP/1.1", "/", {{"hOST", "hub.example:8080"}}, HUB_OK},
    {"GET", "HTTP/1.1", "/", {{"Host", "[::1]:8080"}}, HUB_OK},
    {"GET", "HTTP/1.0", "/", {{NULL}}, HUB_OK},
    {"BREW", "HTTP/1.1", "/", {{"Host", "x"}}, HUB_OK}, /* a token: the router says 405 */
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "5"}}, HUB_OK},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "0"}}, HUB_OK},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", "Chunked"}}, HUB_OK},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"X-A", "tab\tand \xC3\xA9"}}, HUB_OK},
    {"GET", "HTTP/1.1", "/", {{NULL}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"Host", "x"}}, HUB_INVALID},
    {"GET", "HTTP/1.0", "/", {{"Host", "x"}, {"Host", "y"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", ""}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x/y"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x\"y"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "user@x"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}}, HUB_OK}, /* the route decides */
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "5"}, {"Content-Length", "5"}}, HUB_INVALID},
    {"POST",
     "HTTP/1.1",
     "/",
     {{"Host", "x"}, {"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}},
     HUB_INVALID},
    {"POST",
     "HTTP/1.1",
     "/",
     {{"Host", "x"}, {"Transfer-Encoding", "chunked"}, {"transfer-encoding", "chunked"}},
     HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", "xchunked"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", "gzip, chunked"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", "chunked, chunked"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", "identity"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding", ""}}, HUB_INVALID},
    {"POST", "HTTP/1.0", "/", {{"Host", "x"}, {"Transfer-Encoding", "chunked"}}, HUB_INVALID},
    {"POST", "HTTP/1.9", "/", {{"Host", "x"}, {"Transfer-Encoding", "chunked"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", ""}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "+5"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "-5"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "5, 5"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "0x5"}}, HUB_INVALID},
    {"POST", "HTTP/1.1", "/", {{"Host", "x"}, {"Content-Length", "99999999999999999999"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"", "a"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"Transfer-Encoding ", "chunked"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"X(A)", "a"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"X-A", "a\rb"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "/", {{"Host", "x"}, {"X-A", "a\x7F"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "http://x/", {{"Host", "x"}}, HUB_INVALID},
    {"OPTIONS", "HTTP/1.1", "*", {{"Host", "x"}}, HUB_INVALID},
    {"GET", "HTTP/1.1", "", {{"Host", "x"}}, HUB_INVALID},
    {"G@T", "HTTP/1.1", "/", {{"Host", "x"}}, HUB_INVALID},
    {"", "HTTP/1.1", "/", {{"Host", "x"}}, HUB_INVALID},
};

Test(guard, table)
{
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct guard_case *c = &cases[i];
        struct hub_param headers[4];
        unsigned n = 0;
        for (; n < 4 && c->headers[n][0]; n++)
            headers[n] = (struct hub_param){hub_view_of(c->headers[n][0]), hub_view_of(c->headers[n][1])};
        const struct hub_guard_request request = {c->method, c->version, c->target, headers, n, false};
        struct hub_guard_facts facts;
        struct hub_error err = {0};
        cr_assert_eq(hub_guard(&request, &facts, &err), c->st, "case %zu: %s", i, err.detail);
        if (c->st)
            cr_assert_eq(hub_problem_status(&err), 400);
    }
}

Test(guard, facts)
{
    const struct hub_param headers[] = {{HUB_VIEW("Host"), HUB_VIEW("x")},
                                        {HUB_VIEW("content-length"), HUB_VIEW("007")}};
    const struct hub_guard_request request = {"POST", "HTTP/1.1", "/", headers, 2};
    struct hub_guard_facts facts;
    cr_assert_eq(hub_guard(&request, &facts, NULL), HUB_OK);
    cr_assert(facts.method == HUB_POST && facts.has_body && !facts.chunked && facts.content_length == 7);
    cr_assert_str_eq(facts.host, "x");
}
