/* storage/base/digest.c, crc32c.c: published test vectors. */
#include "storage/base/digest.h"

#include <criterion/criterion.h>

static const char *digest(enum hub_digest_kind kind, const char *text, char hex[65])
{
    struct hub_digest d = {0};
    uint8_t bytes[HUB_DIGEST_MAX];
    cr_assert_eq(hub_digest_begin(&d, kind, NULL), HUB_OK);
    const size_t size = d.size;
    for (const char *at = text; *at; at++) /* byte by byte: streaming */
        cr_assert_eq(hub_digest_add(&d, (struct hub_view){at, 1}, NULL), HUB_OK);
    cr_assert_eq(hub_digest_end(&d, bytes, NULL), HUB_OK);
    hub_digest_dispose(&d);
    hub_hex(bytes, size, hex);
    return hex;
}

Test(digest, vectors)
{
    char hex[65];
    cr_expect_str_eq(digest(HUB_MD5, "abc", hex), "900150983cd24fb0d6963f7d28e17f72");
    cr_expect_str_eq(digest(HUB_SHA1, "abc", hex), "a9993e364706816aba3e25717850c26c9cd0d89d");
    cr_expect_str_eq(digest(HUB_SHA256, "abc", hex),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cr_expect_str_eq(digest(HUB_SHA256, "", hex),
                     "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    uint8_t bytes[HUB_DIGEST_MAX];
    cr_expect_eq(hub_digest_of(HUB_MD5, HUB_VIEW(""), bytes, NULL), HUB_OK);
    hub_hex(bytes, HUB_MD5_BYTES, hex);
    cr_expect_str_eq(hex, "d41d8cd98f00b204e9800998ecf8427e");
}

Test(digest, crc32c)
{
    uint8_t zeros[32] = {0}, rising[32];
    for (size_t i = 0; i < sizeof(rising); i++)
        rising[i] = (uint8_t)i;
    /* RFC 3720 B.4 */
    cr_expect_eq(hub_crc32c(0, zeros, 32), 0x8A9136AAU);
    cr_expect_eq(hub_crc32c(0, rising, 32), 0x46DD794EU);
    cr_expect_eq(hub_crc32c(0, "123456789", 9), 0xE3069283U);
    cr_expect_eq(hub_crc32c(0, "", 0), 0);
    uint8_t data[1000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * i + 7 * i);
    for (size_t n = 0; n <= sizeof(data); n++) {
        const uint32_t whole = hub_crc32c(0, data, n);
        cr_assert_eq(whole, hub_crc32c_portable(0, data, n), "%zu", n);
        cr_assert_eq(whole, hub_crc32c(hub_crc32c(0, data, n / 3), data + n / 3, n - n / 3), "%zu", n);
    }
}

Test(digest, crc32c_of_long_runs)
{
    static uint8_t data[60000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + 7 * i + i / 251);
    for (size_t n = 760; n < sizeof data - 7; n += n / 9) {
        const uint32_t whole = hub_crc32c(5, data + 7, n);
        cr_assert_eq(whole, hub_crc32c_portable(5, data + 7, n), "%zu", n);
    }
}

Test(digest, crc32c_of_two_parts)
{
    static uint8_t data[5000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + 3 * i);
    const uint32_t whole = hub_crc32c(0, data, sizeof data);
    for (size_t n = 0; n <= sizeof data; n += 50) {
        const uint32_t first = hub_crc32c(0, data, n), second = hub_crc32c(0, data + n, sizeof data - n);
        cr_assert_eq(hub_crc32c_join(first, second, sizeof data - n), whole, "%zu", n);
    }
    cr_expect_eq(hub_crc32c_join(0, whole, sizeof data), whole); /* nothing before it */
}

Test(digest, hex)
{
    uint8_t bytes[3];
    cr_expect(hub_unhex(HUB_VIEW("00fFa1"), bytes, 3));
    cr_expect_eq(memcmp(bytes, "\x00\xFF\xA1", 3), 0);
    cr_expect_not(hub_unhex(HUB_VIEW("00fF"), bytes, 3));
    cr_expect_not(hub_unhex(HUB_VIEW("00fFg1"), bytes, 3));
    cr_expect_not(hub_unhex(HUB_VIEW("00fFa"), bytes, 3));
}
