/* storage/text/base64.c: the vectors of RFC 4648, and what it refuses. */
#include "storage/text/base64.h"

#include <criterion/criterion.h>

Test(base64, both_ways)
{
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xFB\xFF", "+/8="}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB), back = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_base64_encode(hub_view_of(cases[i][0]), &out, NULL), HUB_OK);
        cr_expect(hub_view_is(hub_buf_view(&out), cases[i][1]));
        cr_assert_eq(hub_base64_decode(hub_buf_view(&out), &back, NULL), HUB_OK);
        cr_expect(hub_view_is(hub_buf_view(&back), cases[i][0]));
    }
    static const char *const bad[] = {
        "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm=v", "Zm9v\n", "Zg==Zm9v", "Zm-v"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_expect_eq(hub_base64_decode(hub_view_of(bad[i]), &out, NULL), HUB_INVALID, "%s", bad[i]);
    }
}
