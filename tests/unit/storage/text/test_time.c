/* storage/text/time.c */
#include "storage/text/time.h"

#include <criterion/criterion.h>
#include <time.h>

static const struct {
    int64_t s;
    const char *rfc3339, *http;
} moments[] = {
    {0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"},
    {784111777, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"},
    {951782400, "2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 GMT"},
    {-1, "1969-12-31T23:59:59Z", "Wed, 31 Dec 1969 23:59:59 GMT"},
    {4102444799, "2099-12-31T23:59:59Z", "Thu, 31 Dec 2099 23:59:59 GMT"},
    {-2208988800, "1900-01-01T00:00:00Z", "Mon, 01 Jan 1900 00:00:00 GMT"},
};

Test(time, both_ways)
{
    for (size_t i = 0; i < HUB_COUNT(moments); i++) {
        char text[HUB_TIME_CHARS];
        int64_t s;
        hub_time_rfc3339(moments[i].s, text);
        cr_expect_str_eq(text, moments[i].rfc3339);
        hub_time_http(moments[i].s, text);
        cr_expect_str_eq(text, moments[i].http);
        cr_assert(hub_time_parse_http(hub_view_of(text), 0, &s));
        cr_expect_eq(s, moments[i].s);
    }
}

Test(time, agrees_with_the_c_library)
{
    for (int64_t s = -62135596800; s < 253402300799; s += 86400 * 13 + 12345) {
        const time_t t = s;
        struct tm tm;
        char want[HUB_TIME_CHARS], text[HUB_TIME_CHARS];
        gmtime_r(&t, &tm);
        strftime(want, sizeof(want), "%a, %d %b ", &tm);
        hub_time_http(s, text);
        cr_assert_eq(strncmp(text, want, strlen(want)), 0, "%s %s", text, want);
        int64_t back;
        cr_assert(hub_time_parse_http(hub_view_of(text), 0, &back) && back == s, "%s", text);
    }
}

Test(time, milliseconds_and_clamping)
{
    char text[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(1700000000123, text);
    cr_expect_str_eq(text, "2023-11-14T22:13:20.123Z");
    hub_time_rfc3339_ns(1700000000123000000, text);
    cr_expect_str_eq(text, "2023-11-14T22:13:20.123Z");
    hub_time_rfc3339_ns(1700000000123000456, text);
    cr_expect_str_eq(text, "2023-11-14T22:13:20.123000456Z");
    hub_time_rfc3339_ms(-1, text);
    cr_expect_str_eq(text, "1969-12-31T23:59:59.999Z");
    hub_time_rfc3339(INT64_MAX, text);
    cr_expect_str_eq(text, "9999-12-31T23:59:59Z");
    hub_time_rfc3339(INT64_MIN, text);
    cr_expect_str_eq(text, "0001-01-01T00:00:00Z");
}

Test(time, http_forms)
{
    const int64_t now = 1795202346; /* 2026 */
    static const struct {
        const char *text;
        int64_t s;
    } good[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},     {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},          {"Sun Nov 16 08:49:37 1994", 784975777},
        {"Thursday, 01-Jan-70 00:00:00 GMT", 3155760000}, /* 2070 is nearer than 1970 */
    };
    static const char *const bad[] = {"",
                                      "now",
                                      "Sun, 06 Nov 1994 08:49:37",
                                      "Sun, 06 Nov 1994 08:49:37 UTC",
                                      "Sun, 6 Nov 1994 08:49:37 GMT",
                                      "Sun, 31 Feb 1994 08:49:37 GMT",
                                      "Sun, 06 Nov 1994 08:49:37 GMT ",
                                      "Sun Nov 6 08:49:37 1994",
                                      "1994-11-06T08:49:37Z",
                                      "Sun, 06 Foo 1994 08:49:37 GMT"};
    int64_t s;
    for (size_t i = 0; i < HUB_COUNT(good); i++) {
        cr_expect(hub_time_parse_http(hub_view_of(good[i].text), now, &s), "%s", good[i].text);
        cr_expect_eq(s, good[i].s, "%s: %lld", good[i].text, (long long)s);
    }
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_not(hub_time_parse_http(hub_view_of(bad[i]), now, &s), "%s", bad[i]);
}

Test(time, clocks)
{
    const uint64_t before = hub_time_mono_us();
    cr_expect_leq(before, hub_time_mono_us());
    cr_expect_leq(before / 1000, hub_time_mono_ms());
    cr_expect_leq(hub_time_now_s() - 1, hub_time_now_ns() / 1000000000);
}

Test(time, rfc3339_with_fractions)
{
    int64_t ns;
    cr_assert(hub_time_parse_rfc3339(HUB_VIEW("2024-03-01T12:00:00Z"), &ns) &&
              ns == INT64_C(1709294400000000000));
    cr_assert(hub_time_parse_rfc3339(HUB_VIEW("2024-03-01T12:00:00.123Z"), &ns) &&
              ns == INT64_C(1709294400123000000));
    cr_assert(hub_time_parse_rfc3339(HUB_VIEW("1970-01-01T00:00:00.000000001Z"), &ns) && ns == 1);
    static const char *const bad[] = {"",
                                      "Z",
                                      "2024-03-01T12:00:00",
                                      "2024-03-01T12:00:00.Z1",
                                      "2024-13-01T12:00:00Z",
                                      "2024-00-01T12:00:00Z",
                                      "2024-02-30T12:00:00Z",
                                      "2024-03-01T12:00:00+01:00",
                                      "2024-03-01T12:00:00.1234567890Z",
                                      "9999-03-01T12:00:00Z",
                                      "1969-12-31T23:59:59Z"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_assert_not(hub_time_parse_rfc3339(hub_view_of(bad[i]), &ns), "%s", bad[i]);
}
