/* storage/base/uri.c */
#include "storage/base/uri.h"

#include <criterion/criterion.h>

Test(uri, segments_decoded)
{
    static const char *const good[][2] = {
        {"", ""},
        {"door-human-v1", "door-human-v1"},
        {"light%20switch", "light switch"},
        {"a%2Fb", "a/b"},
        {"a+b", "a+b"},
        {"%C3%A9", "\xC3\xA9"},
        {"%25", "%"},
        {"%7e", "~"},
        {"\xC3\xA9", "\xC3\xA9"},
    };
    static const char *const bad[] = {"%",   "%2",  "%2x", "%x2",       "a%",   "%00",   "%0A",
                                      "%7F", "%FF", "%C3", "%ED%A0%80", "a\nb", "%C2%85"};
    for (size_t i = 0; i < HUB_COUNT(good); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_expect_eq(hub_uri_decode_segment(hub_view_of(good[i][0]), &out, NULL), HUB_OK, "%s", good[i][0]);
        cr_expect_str_eq(out.data, good[i][1]);
    }
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        struct hub_error err = {0};
        cr_assert_eq(hub_buf_add_text(&out, "kept", NULL), HUB_OK);
        cr_expect_eq(hub_uri_decode_segment(hub_view_of(bad[i]), &out, &err), HUB_INVALID, "%s", bad[i]);
        cr_expect_str_eq(err.problem, "bad-request");
        cr_expect_str_eq(out.data, "kept");
    }
}

Test(uri, encoded)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_assert_eq(hub_uri_encode_segment(HUB_VIEW("a b/c+\xC3\xA9-._~%"), &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "a%20b%2Fc%2B%C3%A9-._~%25");
    out.size = 0;
    cr_assert_eq(hub_uri_encode_path(HUB_VIEW("D4RL/door/light switch"), &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "D4RL/door/light%20switch");
}

Test(uri, every_byte_survives)
{
    for (int c = 1; c < 256; c++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB), back = HUB_BUF_INIT(KIB);
        const char byte = (char)c;
        cr_assert_eq(hub_uri_encode_segment((struct hub_view){&byte, 1}, &out, NULL), HUB_OK);
        const enum hub_status st = hub_uri_decode_segment(hub_buf_view(&out), &back, NULL);
        cr_expect_eq(st, c >= 0x20 && c < 0x7F ? HUB_OK : HUB_INVALID, "%d", c);
        cr_expect(st || (back.size == 1 && back.data[0] == byte));
    }
}

Test(query, pairs)
{
    HUB_CLEANUP(hub_query_dispose) struct hub_query q = {0};
    cr_assert_eq(
        hub_query_parse(HUB_VIEW("fields=a&fields=b%2Fc&q=x+y%2B&flag&empty=&&=v&where=a=b"), &q, NULL),
        HUB_OK);
    cr_expect_eq(q.count, 7);
    cr_expect_str_eq(hub_query_get(&q, "q"), "x y+");
    cr_expect_str_eq(hub_query_get(&q, "flag"), "");
    cr_expect_str_eq(hub_query_get(&q, "empty"), "");
    cr_expect_str_eq(hub_query_get(&q, ""), "v");
    cr_expect_str_eq(hub_query_get(&q, "where"), "a=b");
    cr_expect_null(hub_query_get(&q, "absent"));
    size_t at = 0;
    cr_expect_str_eq(hub_query_next(&q, "fields", &at)->value.data, "a");
    cr_expect_str_eq(hub_query_next(&q, "fields", &at)->value.data, "b/c");
    cr_expect_null(hub_query_next(&q, "fields", &at));
}

Test(query, refused)
{
    struct hub_query q = {0};
    static const char *const bad[] = {"a=%", "a=%00", "%zz=1", "a=%FF", "a=%0a", "a&b=%C3"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_eq(hub_query_parse(hub_view_of(bad[i]), &q, NULL), HUB_INVALID, "%s", bad[i]);
    static char text[HUB_QUERY_BYTES + 1];
    memset(text, 'a', sizeof(text));
    cr_expect_eq(hub_query_parse((struct hub_view){text, sizeof(text)}, &q, NULL), HUB_TOO_BIG);
    for (size_t i = 1; i < 2 * HUB_QUERY_PAIRS + 1; i += 2)
        text[i] = '&';
    cr_expect_eq(hub_query_parse((struct hub_view){text, 2 * HUB_QUERY_PAIRS + 1}, &q, NULL), HUB_TOO_BIG);
    cr_expect_eq(hub_query_parse((struct hub_view){text, 2 * HUB_QUERY_PAIRS - 1}, &q, NULL), HUB_OK);
    cr_expect_eq(q.count, HUB_QUERY_PAIRS);
    hub_query_dispose(&q);
    cr_expect_eq(hub_query_parse((struct hub_view){NULL, 0}, &q, NULL), HUB_OK);
    cr_expect_eq(q.count, 0);
    cr_expect_null(hub_query_get(&q, "a"));
    hub_query_dispose(&q);
}
