/* storage/access/link.c: signed links. */
#include "storage/access/link.h"

#include "storage/base/digest.h"

#include <criterion/criterion.h>

static const uint8_t key[HUB_LINK_KEY] = {1, 2, 3}, other[HUB_LINK_KEY] = {1, 2, 4};

static bool is_signed(const char *path, int64_t expires_s, const char *maker, const char *signature)
{
    const struct hub_link link = {hub_view_of(path), hub_view_of(maker), expires_s, 0};
    return hub_link_is_signed(key, &link, hub_view_of(signature));
}

/* A signature is of one path, one time, one maker and one key. */
Test(link, are_of_what_was_signed)
{
    char signature[HUB_LINK_SIGNATURE + 1];
    const struct hub_link link = {HUB_VIEW("/api/v1/datasets/lab/arm-v1"), HUB_VIEW("abcdefghij"), 1000, 0};
    cr_assert_eq(hub_link_sign(key, &link, signature, NULL), HUB_OK);
    cr_expect_eq(strlen(signature), HUB_LINK_SIGNATURE);
    cr_expect(is_signed("/api/v1/datasets/lab/arm-v1", 1000, "abcdefghij", signature));
    cr_expect_not(is_signed("/api/v1/datasets/lab/arm-v2", 1000, "abcdefghij", signature));
    cr_expect_not(is_signed("/api/v1/datasets/lab/arm-v1/", 1000, "abcdefghij", signature));
    cr_expect_not(is_signed("/api/v1/datasets/lab/arm-v1", 1001, "abcdefghij", signature));
    cr_expect_not(is_signed("/api/v1/datasets/lab/arm-v1", 1000, "abcdefghik", signature));
    cr_expect_not(hub_link_is_signed(other, &link, hub_view_of(signature)));
    const struct hub_link below = {link.path, link.maker, link.expires_s, 4};
    cr_expect_not(hub_link_is_signed(key, &below, hub_view_of(signature)));
    for (unsigned i = 0; i < HUB_LINK_SIGNATURE; i++) {
        signature[i] ^= 1;
        cr_expect_not(hub_link_is_signed(key, &link, hub_view_of(signature)), "digit %u", i);
        signature[i] ^= 1;
    }
    cr_expect_not(hub_link_is_signed(key, &link, (struct hub_view){signature, HUB_LINK_SIGNATURE - 1}));
    cr_expect_not(hub_link_is_signed(key, &link, (struct hub_view){NULL, 0}));
}

/* RFC 2104, as another program computes it: printf 'link\n1000 0\nann\n/d/x' | openssl dgst -sha256 -mac HMAC
 * -macopt hexkey:0102030000... */
Test(link, are_an_hmac)
{
    char signature[HUB_LINK_SIGNATURE + 1];
    const struct hub_link link = {HUB_VIEW("/d/x"), HUB_VIEW("ann"), 1000, 0};
    cr_assert_eq(hub_link_sign(key, &link, signature, NULL), HUB_OK);
    cr_expect_str_eq(signature, "f9bed529e9dac3b0a0259899c43b58177650a6b7471d7a28de22236585ebfadd");
}

Test(link, have_a_length)
{
    static char path[HUB_LINK_PATH + 2];
    char signature[HUB_LINK_SIGNATURE + 1];
    memset(path, 'a', HUB_LINK_PATH + 1);
    const struct hub_link link = {{path, HUB_LINK_PATH + 1}, HUB_VIEW("abcdefghij"), 1000, 0};
    cr_expect_eq(hub_link_sign(key, &link, signature, NULL), HUB_TOO_BIG);
    cr_expect_not(hub_link_is_signed(key, &link, HUB_VIEW("0")));
}
