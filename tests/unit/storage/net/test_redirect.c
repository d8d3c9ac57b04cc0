#include "storage/base/error.h"
#include "storage/net/redirect.h"

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
