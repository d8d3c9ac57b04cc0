/* storage/text/uri.c */
#include "storage/text/uri.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

Test(uri, encoded)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_assert_eq(hub_uri_encode_segment(HUB_VIEW("a b/c+\xC3\xA9-._~%"), &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "a%20b%2Fc%2B%C3%A9-._~%25");
    out.size = 0;
    cr_assert_eq(hub_uri_encode_path(HUB_VIEW("D4RL/door/light switch"), &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "D4RL/door/light%20switch");
}

Test(uri, every_byte_is_plain_or_escaped)
{
    for (int c = 1; c < 256; c++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        const char byte = (char)c;
        char escaped[4];
        snprintf(escaped, sizeof escaped, "%%%02X", c);
        cr_assert_eq(hub_uri_encode_segment((struct hub_view){&byte, 1}, &out, NULL), HUB_OK);
        const bool plain = c < 0x80 && (isalnum(c) || strchr("-._~", c));
        cr_expect(plain ? out.size == 1 && out.data[0] == byte : strcmp(out.data, escaped) == 0, "%d", c);
    }
}
