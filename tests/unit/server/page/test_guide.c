/* The guide: its pages, the sections that a search finds, and the names of this hub in its commands. */
#include "server/page/guide.h"

#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(guide, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(guide, views)
{
    static const struct wire_case cases[] = {
        {"/~guide", 200, "<h1><bdi>Guide</bdi></h1>", "Content-Type: text/html; charset=utf-8"},
        {"/~guide", 200, "<li><a href=\"/~guide/start\">Start</a><p class=\"muted\">",
         "Cache-Control: no-cache"},
        {"/~guide", 200, "<form action=\"/~guide\" method=\"get\" role=\"search\"",
         "Referrer-Policy: same-origin"},
        {"/~guide/start", 200, "<h1 id=\"start\">Start</h1>", "Content-Type: text/html; charset=utf-8"},
        {"/~guide/start", 200, "<a href=\"/~guide/start\" aria-current=\"page\">Start</a>"},
        {"/~guide/start", 200, "<pre class=\"copy\" tabindex=\"0\"><code>"},
        {"/~guide/none", 404, "the guide has no page &#39;none&#39;",
         "Content-Type: text/html; charset=utf-8"},
        {"/~guide/none", 404, "<a href=\"/~guide\">One level up</a>"},
        {"/~guide/start/more", 404, "Status 404"},
        {"/~guide?colour=red", 400, "unknown parameter &#39;colour&#39;"},
        {"/~guide/start?q=a", 400, "unknown parameter &#39;q&#39;"},
        {"/~guide", 405, "<!doctype html>", NULL, NULL, HUB_POST, "x"},
        {"/d/lab/arm", 200, "<a href=\"/~guide\">Guide</a>"},
        {"/~guide/start", 200, "\x1F\x8B", "Content-Encoding: gzip", "Accept-Encoding: gzip"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* The guide has nothing in the API: no page says that it is there as JSON. */
Test(guide, is_no_json)
{
    const struct hub_view body = wire_body("/~guide");
    cr_expect_eq(wire_count(body, "application/json"), 0);
    cr_expect_eq(wire_count(body, "as <a"), 0);
}

Test(guide, every_page)
{
    cr_expect_gt(guide_page_count, 0);
    for (unsigned p = 0; p < guide_page_count; p++) {
        char target[128], heading[256];
        snprintf(target, sizeof target, "/~guide/%s", guide_pages[p].name.data);
        const struct hub_view body = wire_body(target);
        cr_expect_eq(wire_count(body, "<h1"), 1, "%s", target);
        for (unsigned s = 1; s < guide_pages[p].count; s++) {
            const struct guide_section *section = &guide_pages[p].sections[s];
            snprintf(heading, sizeof heading, " id=\"%s\"", section->anchor.data);
            cr_expect_eq(wire_count(body, heading), 1, "%s: %s", target, heading);
            snprintf(heading, sizeof heading, "<a href=\"/~guide/%s#%s\">", guide_pages[p].name.data,
                     section->anchor.data);
            cr_expect_geq(wire_count(body, heading), 1, "%s: %s", target, heading);
        }
        cr_expect_eq(wire_count(body, "http://hub:8080"), 0, "%s names another hub", target);
        cr_expect_eq(wire_count(body, "<script>"), 0, "%s", target);
        cr_expect_eq(wire_count(body, "style="), 0, "%s", target);
    }
}

/* A page that was seen is not sent again. */
Test(guide, conditions)
{
    char match[128];
    (void)wire_body("/~guide/start");
    snprintf(match, sizeof match, "If-None-Match: %s", wire_header("ETag"));
    const struct wire_case cases[] = {
        {"/~guide/start", 304, "", NULL, match},
        {"/~guide", 200, "<!doctype html>", NULL, match},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

Test(guide, searches)
{
    static const struct {
        const char *target, *has, *lacks;
    } cases[] = {
        {"/~guide?q=", "<h1><bdi>Guide</bdi></h1>", "have all these words"},
        {"/~guide?q=+%09+", "<h1><bdi>Guide</bdi></h1>", "have all these words"},
        {"/~guide?q=SAMPLES", "<a href=\"/~guide/start#build-and-serve\">Start: Build and serve</a>",
         "0 sections"},
        {"/~guide?q=samples+sErVe", "/~guide/start#build-and-serve",
         "0 sections"}, /* of its text and its title */
        {"/~guide?q=samples+neverwritten", "0 sections have all these words", "<li><a href=\"/~guide/start#"},
        {"/~guide?q=%3Cscript%3E", "name=\"q\" value=\"&lt;script&gt;\"", "<script>"},
        {"/~guide?q=%22%27%26", "value=\"&quot;&#39;&amp;\"", "value=\"\"\""},
        {"/~guide?q=%FF%00", "<h1", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct wire_answer answer = wire_ask(&(struct wire_case){cases[i].target});
        if (!cases[i].lacks && answer.status == 400) /* a NUL is no text */
            continue;
        cr_expect_eq(answer.status, 200, "%s", cases[i].target);
        cr_expect(wire_count(answer.body, cases[i].has), "%s has no %s: %s", cases[i].target, cases[i].has,
                  answer.body.data);
        cr_expect_not(cases[i].lacks && wire_count(answer.body, cases[i].lacks), "%s has %s", cases[i].target,
                      cases[i].lacks);
    }
}

/* Sections whose titles have the words stand before those that have them in their text. */
Test(guide, titles_first)
{
    const struct hub_view body = wire_body("/~guide?q=build");
    const char *first = strstr(body.data, "<ul class=\"found\">");
    cr_assert(first);
    cr_expect(strstr(first, "Build") && strstr(first, "Build") < strstr(first, "</a>"), "%s", first);
}
