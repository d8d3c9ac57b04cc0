/* Slots of templates: no text of a dataset becomes markup, and numbers are shown as people read them. */
#include "server/page/out.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#define EXPECT_PUT(wanted, call)                                                                             \
    do {                                                                                                     \
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(64 * KIB);                            \
        struct page_out out = {.buf = &buf};                                                                 \
        cr_assert_eq(hub_buf_add_text(&buf, "", NULL), HUB_OK);                                              \
        call;                                                                                                \
        cr_expect_str_eq(buf.data, wanted, "%s, not %s", buf.data, wanted);                                  \
    } while (0)

Test(out, text)
{
    static const struct {
        const char *text, *html;
    } cases[] = {
        {"", ""},
        {"door-human-v2", "door-human-v2"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onmouseover='x'", "&quot; onmouseover=&#39;x&#39;"},
        {"a&lt;b", "a&amp;lt;b"},
        {"two\nlines\tand a tab", "two\nlines\tand a tab"},
        {"\xE6\x89\x89 \xF0\x9F\x9A\xAA", "\xE6\x89\x89 \xF0\x9F\x9A\xAA"},
        {"abc\xE2\x80\xAE"
         "cba",
         "abcU+202Ecba"}, /* would turn what follows */
        {"a\xE2\x80\x8B"
         "b",
         "aU+200Bb"}, /* is not seen */
        {"\xEF\xBB\xBF", "U+FEFF"},
        {"\xF3\xA0\x81\x81", "U+E0041"},
        {"\x1B[31m\x7F", "U+001B[31mU+007F"},
        {"\xC2\x85", "U+0085"},
        {"a\xFF"
         "b",
         "a\xEF\xBF\xBD"
         "b"}, /* no UTF-8 */
        {"\xC3", "\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        EXPECT_PUT(cases[i].html, page_put_text(&out, hub_view_of(cases[i].text)));
    EXPECT_PUT("aU+0000b", page_put_text(&out, (struct hub_view){"a\0b", 3}));
}

Test(out, a_long_text_is_cut_between_characters)
{
    char text[2002], html[2100];
    memset(text, 'a', sizeof text);
    text[2000] = '\0';
    EXPECT_PUT(text, page_put_text(&out, hub_view_of(text)));
    memcpy(text + 1999, "\xC3\xB6", 3);
    EXPECT_PUT(text, page_put_text(&out, hub_view_of(text)));
    memset(text, 'a', 2001);
    text[2001] = '\0';
    EXPECT_PUT(text, page_put_whole(&out, hub_view_of(text))); /* what is pasted is not */
    snprintf(html, sizeof html, "%.2000s\xE2\x80\xA6 (2001 bytes in all)", text);
    EXPECT_PUT(html, page_put_text(&out, hub_view_of(text)));
}

Test(out, addresses)
{
    static const struct {
        const char *url, *html;
    } cases[] = {
        {"/", "/"},
        {"/d/a%20b?x=1&y=2", "/d/a%20b?x=1&amp;y=2"},
        {"?where=a%20%3C%201", "?where=a%20%3C%201"},
        {"#versions", "#versions"},
        {"", "#"},
        {"//elsewhere.example/", "#"}, /* another host */
        {"/\\elsewhere.example/", "#"},
        {"javascript:alert(1)", "#"},
        {"https://elsewhere.example/", "#"},
        {"relative", "#"},
        {"/a b", "#"},
        {"/a\"onclick=x", "#"},
        {"/a'b", "#"},
        {"/a<b", "#"},
        {"/a\\b", "#"},
        {"/a\nb", "#"},
        {"/\xC3\xB6", "#"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        EXPECT_PUT(cases[i].html, page_put_url(&out, hub_view_of(cases[i].url)));
}

Test(out, links_elsewhere)
{
    EXPECT_PUT("<a rel=\"noopener noreferrer nofollow\" href=\"https://a.example/?x=1&amp;y=&quot;\">"
               "https://a.example/?x=1&amp;y=&quot;</a>",
               page_put_link(&out, HUB_VIEW("https://a.example/?x=1&y=\"")));
    EXPECT_PUT("javascript:alert(1)", page_put_link(&out, HUB_VIEW("javascript:alert(1)")));
    EXPECT_PUT("//a.example", page_put_link(&out, HUB_VIEW("//a.example")));
    EXPECT_PUT("", page_put_link(&out, HUB_VIEW("")));
}

Test(out, numbers)
{
    static const struct {
        uint64_t value;
        const char *count, *bytes;
    } cases[] = {
        {0, "0", "0 B"},
        {999, "999", "999 B"},
        {1000, "1,000", "1 KB"},
        {1499, "1,499", "1 KB"},
        {999499, "999,499", "999 KB"},
        {999500, "999,500", "1.0 MB"}, /* and not 1000 KB */
        {7100000, "7,100,000", "7.1 MB"},
        {41000000000u, "41,000,000,000", "41.00 GB"},
        {UINT64_MAX, "18,446,744,073,709,551,615", "18446744.07 TB"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        EXPECT_PUT(cases[i].count, page_put_count(&out, cases[i].value));
        EXPECT_PUT(cases[i].bytes, page_put_bytes(&out, cases[i].value));
    }
    EXPECT_PUT("-9223372036854775808", page_put_number(&out, INT64_MIN));
    EXPECT_PUT("1000", page_put_number(&out, 1000)); /* an episode's number has no comma */
}

Test(out, reals)
{
    static const struct {
        double value;
        const char *real, *coord;
    } cases[] = {
        {0, "0", "0.00"},
        {-0.0, "0", NULL},
        {1203.4, "1,203.4", "1203.40"},
        {12345.6, "12,346", NULL},
        {-1000000, "-1,000,000", "0.00"},
        {1e14, "100,000,000,000,000", NULL},
        {1e15, "1e+15", NULL},
        {-45.25, "-45.25", "-45.25"},
        {0.1 + 0.2, "0.3", "0.30"},
        {123456, "123,456", "123456.00"},
        {1e-7, "1e-07", "0.00"},
        {NAN, "NaN", "0.00"},
        {INFINITY, "\xE2\x88\x9E", "0.00"},
        {-INFINITY, "-\xE2\x88\x9E", "0.00"},
        {1e300, "1e+300", "0.00"}, /* no drawing is that wide */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        EXPECT_PUT(cases[i].real, page_put_real(&out, cases[i].value));
        if (cases[i].coord)
            EXPECT_PUT(cases[i].coord, page_put_coord(&out, cases[i].value));
    }
}

Test(out, drawings_and_times)
{
    EXPECT_PUT("M0 22.5L4,-1.5h3V9z", page_put_path(&out, HUB_VIEW("M0 22.5L4,-1.5h3V9z")));
    EXPECT_PUT("M0 0", page_put_path(&out, HUB_VIEW("M0 0\"><script>")));
    EXPECT_PUT("<time datetime=\"2026-11-22T23:19:57.183Z\">2026-11-22 23:19</time>",
               page_put_time(&out, HUB_VIEW("2026-11-22T23:19:57.183Z")));
    EXPECT_PUT("2026", page_put_time(&out, HUB_VIEW("2026")));
    EXPECT_PUT("<time datetime=\"&quot;&gt;4567890123456789\">&quot;&gt;45678901 34567</time>",
               page_put_time(&out, HUB_VIEW("\">4567890123456789")));
}

Test(out, the_first_failure_stays)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(8);
    struct hub_error err = {0};
    struct page_out out = {.buf = &buf, .err = &err};
    page_put_text(&out, HUB_VIEW("123456789"));
    cr_expect_eq(out.status, HUB_TOO_BIG);
    const size_t size = buf.size;
    page_put_number(&out, 1);
    page_put_url(&out, HUB_VIEW("/"));
    cr_expect_eq(out.status, HUB_TOO_BIG);
    cr_expect_eq(buf.size, size);
}
