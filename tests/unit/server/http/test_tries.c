/* server/http/tries.c: failed tries by address. */
#include "server/http/tries.h"

#include <criterion/criterion.h>

static struct hub_address at(const char *text)
{
    struct hub_address address;
    cr_assert(hub_address_read(hub_view_of(text), &address));
    return address;
}

static struct hub_tries *tries_of(uint32_t most, uint32_t window_ms)
{
    struct hub_tries *tries = NULL;
    cr_assert_eq(hub_tries_new(&(struct hub_tries_options){most, window_ms}, &tries, NULL), HUB_OK);
    return tries;
}

Test(tries, are_counted_in_windows)
{
    const struct hub_address ann = at("10.0.0.1"), bob = at("10.0.0.2");
    struct hub_tries *tries = tries_of(3, 60000);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(hub_tries_fail(tries, &ann, 1000 + i), 0);
    cr_expect_eq(hub_tries_fail(tries, &ann, 2000), 59);
    cr_expect_eq(hub_tries_fail(tries, &bob, 2000), 0, "another address");
    cr_expect_eq(hub_tries_fail(tries, &ann, 60999), 1);
    cr_expect_eq(hub_tries_fail(tries, &ann, 61000), 0, "the window has ended");
    hub_tries_free(tries);
}

Test(tries, are_of_a_network_in_ipv6)
{
    const struct hub_address one = at("2001:db8::1"), neighbour = at("2001:db8::ffff:2"),
                             far = at("2001:db8:0:1::1");
    struct hub_tries *tries = tries_of(1, 60000);
    cr_expect_eq(hub_tries_fail(tries, &one, 1), 0);
    cr_expect_neq(hub_tries_fail(tries, &neighbour, 2), 0);
    cr_expect_eq(hub_tries_fail(tries, &far, 2), 0);
    hub_tries_free(tries);
}

Test(tries, may_be_any_number)
{
    const struct hub_address ann = at("10.0.0.1");
    struct hub_tries *tries = tries_of(0, 0);
    for (int i = 0; i < 100; i++)
        cr_expect_eq(hub_tries_fail(tries, &ann, 1), 0);
    hub_tries_free(tries);
    cr_expect_eq(hub_tries_fail(NULL, &ann, 1), 0);
}
