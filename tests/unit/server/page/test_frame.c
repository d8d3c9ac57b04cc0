/* The frame of pages: addresses, crumbs, orders, pages of lists, and what cannot be shown. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "tests/support/page_kit.h"

Test(frame, addresses)
{
    struct page_kit k;
    page_kit_begin(&k, "/d/x?sort=-id&q=a+b%26c&empty=&cursor=AB%2BC&q=two", "x");
    struct page *page = &k.page;
    static const struct hub_view hostile = HUB_VIEW("a b/<\"'>&?#%");
    const struct hub_view urls[] = {
        page_url(page, "/d/%p/episodes/%u", hostile, (uint64_t)UINT64_MAX),
        page_url(page, "/?prefix=%s", hostile),
        page_url(page, "%r", HUB_VIEW("?as=it&is")),
        page_query(page, "", NULL),
        page_query(page, "sort cursor", "sort", HUB_VIEW("name"), "none", HUB_VIEW(""), NULL),
        page_query(page, "sort cursor q", NULL),
        page_query(page, "sor curso q", NULL), /* whole names */
        page_url(page, "minari-cli revert %q", HUB_VIEW("it's")),
        page_url(page, "@/d/%p", HUB_VIEW("x")), /* the page is of no earlier revision */
        page_query_of(HUB_VIEW("http://hub/api/v1/datasets?limit=1&cursor=A")),
        page_query_of(HUB_VIEW("http://hub/")),
        page_query_of(HUB_VIEW("")),
    };
    static const char *const wanted[] = {
        "/d/a%20b/%3C%22%27%3E%26%3F%23%25/episodes/18446744073709551615",
        "/?prefix=a%20b%2F%3C%22%27%3E%26%3F%23%25",
        "?as=it&is",
        "?sort=-id&q=a%20b%26c&cursor=AB%2BC&q=two",
        "?q=a%20b%26c&q=two&sort=name",
        "?",
        "?sort=-id&cursor=AB%2BC",
        "minari-cli revert 'it'\\''s'",
        "/d/x",
        "?limit=1&cursor=A",
        "",
        "",
    };
    for (size_t i = 0; i < HUB_COUNT(wanted); i++)
        cr_expect(hub_view_is(urls[i], wanted[i]), "%s, not %s", urls[i].data, wanted[i]);
    page_kit_end(&k);
}

Test(frame, addresses_of_an_earlier_revision)
{
    struct page_kit k;
    page_kit_begin(&k, "/d/x", "x");
    struct page *page = &k.page;
    page->revision = HUB_VIEW("0a1");
    cr_expect(hub_view_is(page_url(page, "@/d/%p", HUB_VIEW("x")), "/d/x?revision=0a1"));
    cr_expect(hub_view_is(page_url(page, "@/d/x%r", HUB_VIEW("?")), "/d/x?revision=0a1"));
    cr_expect(hub_view_is(page_url(page, "@/d/x?a=%u#there", (uint64_t)1), "/d/x?a=1&revision=0a1#there"));
    cr_expect(hub_view_is(page_url(page, "@/d/x?revision=0b2"), "/d/x?revision=0b2"));
    cr_expect(hub_view_is(page_url(page, "/d/x/~revisions"), "/d/x/~revisions"));
    page_kit_end(&k);
}

Test(frame, crumbs)
{
    struct page_kit k;
    page_kit_begin(&k, "/d/x", "x");
    page_crumbs(&k.page, HUB_VIEW("lab/a b/<x>-v0"), "");
    page_kit_expect(&k, "<a href=\"/?prefix=lab/\"><bdi>lab</bdi></a>");
    page_kit_expect(&k, "<a href=\"/?prefix=lab%2Fa%20b/\"><bdi>a b</bdi></a>");
    page_kit_expect(&k, "<span aria-current=\"page\"><bdi>&lt;x&gt;-v0</bdi></span>");
    page_kit_end(&k);
    page_kit_begin(&k, "/d/x", "x");
    page_crumbs(&k.page, HUB_VIEW("x-v0"), "files");
    page_kit_expect(&k,
                    "<a href=\"/d/x-v0\"><bdi>x-v0</bdi></a> / <span aria-current=\"page\"><bdi>files</bdi>");
    page_kit_end(&k);
}

Test(frame, orders)
{
    static const struct {
        const char *target, *head;
    } cases[] = {
        {"/?q=a&cursor=C", "<th scope=\"col\" class=\"n\"><a href=\"?q=a&amp;sort=size\">Size</a></th>"},
        {"/?sort=size&cursor=C", "class=\"n\" aria-sort=\"ascending\"><a href=\"?sort=-size\">Size</a>"},
        {"/?sort=-size", "class=\"n\" aria-sort=\"descending\"><a href=\"?sort=size\">Size</a>"},
        {"/?sort=-sizes", "class=\"n\"><a href=\"?sort=size\">Size</a>"},
        {"/?sort=-", "class=\"n\"><a href=\"?sort=size\">Size</a>"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct page_kit k;
        page_kit_begin(&k, cases[i].target, "x");
        page_sort_head(&k.page, "n", "Size", "size");
        page_kit_expect(&k, cases[i].head);
        page_kit_end(&k);
    }
}

/* The cursor of the API's list, and what this page was asked. */
Test(frame, pages)
{
    static const struct {
        const char *target, *list, *part, *none;
    } cases[] = {
        {"/?q=a+b&cursor=OLD",
         "{\"next\":\"http://hub/api/v1/datasets?facets=x&limit=50&cursor=NEW%2B&include=y\",\"prev\":null}",
         "<a href=\"?q=a%20b&amp;cursor=NEW%2B\" rel=\"next\">Next</a>", "rel=\"prev\""},
        {"/?q=a&cursor=OLD", "{\"next\":null,\"prev\":\"http://hub/api/v1/datasets?cursor=P\"}",
         "<a href=\"?q=a&amp;cursor=P\" rel=\"prev\">Previous</a>", "rel=\"next\""},
        {"/?q=a&cursor=OLD", "{\"next\":null,\"prev\":\"http://hub/api/v1/datasets?cursor=P\"}",
         "<a href=\"?q=a\" rel=\"first\">First</a>", "OLD"},
        {"/", "{\"next\":\"http://hub/x?cursor=N\",\"prev\":null}", "<a href=\"?cursor=N\" rel=\"next\">",
         "first"},
        {"/", "{\"next\":null,\"prev\":null}", "", "<nav"},
        {"/", "{\"next\":\"http://hub/x?limit=1\"}", "", "<nav"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct page_kit k;
        HUB_CLEANUP(hub_json_decrefp) json_t *list = page_kit_json(cases[i].list);
        page_kit_begin(&k, cases[i].target, "x");
        page_pages(&k.page, list);
        page_kit_expect(&k, cases[i].part);
        page_kit_expect_not(&k, cases[i].none);
        page_kit_end(&k);
    }
}

Test(frame, of_another_revision)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *now = page_kit_json("{\"revision\":\"0123456789abcdef\"}");
    static const struct {
        const char *target;
        bool bar;
    } cases[] = {{"/d/x?revision=0123456789abcdef", false},
                 {"/d/x", false},
                 {"/d/x?revision=%3Cb%3Efedcba9876543210", true}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct page_kit k;
        page_kit_begin(&k, cases[i].target, "x");
        page_revision_bar(&k.page, now);
        if (cases[i].bar)
            page_kit_expect(&k, "(&lt;b&gt;fedcba987\xE2\x80\xA6 is now 0123456789ab\xE2\x80\xA6)");
        else
            cr_expect_eq(k.html.size, 0, "%s: %s", cases[i].target, k.html.data);
        page_kit_end(&k);
    }
}

Test(frame, problems)
{
    static const struct {
        const char *target;
        enum hub_problem_code problem;
        unsigned retry_s;
        const char *extra, *part;
    } cases[] = {
        {"/d/lab/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, NULL, "<h1>Not found</h1>"},
        {"/d/lab/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, NULL, "<a href=\"/d/lab\">One level up</a>"},
        {"/d/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, NULL,
         "<a href=\"/\">One level up</a>"}, /* nothing is at /d */
        {"/d/x/episodes?where=a", HUB_PROBLEM_BAD_WHERE, 0, NULL,
         "<a href=\"/d/x/episodes\">One level up</a>"},
        {"/d/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, NULL,
         "<bdi>there is no dataset &#39;&lt;b&gt;&#39;</bdi>"},
        {"/d/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, "\"nearest\":[\"a b/<i>\"],\"versions\":[]",
         "<a href=\"/d/a%20b/%3Ci%3E\"><bdi>a b/&lt;i&gt;</bdi></a>"},
        {"/d/x", HUB_PROBLEM_DATASET_NOT_FOUND, 0, "no JSON", "Status 404"},
        {"/d/x", HUB_PROBLEM_DATASET_CHANGING, 0, NULL, "<h1>These files are being written</h1>"},
        {"/d/x", HUB_PROBLEM_DATASET_CHANGING, 0, NULL, "data-seconds=\"3\" data-tries=\"100000\""},
        {"/d/x", HUB_PROBLEM_PENDING, 2, NULL,
         "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>\n</head>"},
        {"/nothing/here", HUB_PROBLEM_ROUTE_NOT_FOUND, 0, NULL, "<a href=\"/\">One level up</a>"},
        {"/d/x", HUB_PROBLEM_OVERLOADED, 0, NULL, "<h1>Not available now</h1>"},
        {"/d/x?a=b&c", HUB_PROBLEM_OVERLOADED, 7, NULL,
         "data-seconds=\"7\" data-tries=\"2\" role=\"status\"><a href=\"/d/x?a=b&amp;c\">Try again"},
        {"/d/x", HUB_PROBLEM_INTERNAL, 0, NULL, "<h1>This cannot be shown</h1>"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct page_kit k;
        page_kit_begin(&k, cases[i].target, "x");
        struct hub_error err = {.retry_after_s = cases[i].retry_s};
        hub_fail(&err, HUB_NOT_FOUND, "there is no dataset '<b>'");
        err.retry_after_s = cases[i].retry_s;
        cr_assert_eq(hub_page_shape.write(&k.html, &k.request, &err, &hub_problem_rows[cases[i].problem],
                                          cases[i].extra),
                     HUB_OK);
        page_kit_expect(&k, cases[i].part);
        page_kit_expect_not(&k, "<b>'");
        page_kit_expect(&k, "</html>");
        page_kit_end(&k);
    }
}
