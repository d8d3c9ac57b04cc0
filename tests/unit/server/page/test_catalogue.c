/* The catalogue: what is found, how it is narrowed, and its pages. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(catalogue, .init = wire_open, .fini = wire_close, .timeout = 60);

#define BROWSER "Accept: text/html,application/xhtml+xml"

Test(catalogue, views)
{
    static const struct wire_case cases[] = {
        {"/", 200, "{", "Content-Type: application/json"}, /* scripts read it as JSON */
        {"/", 200, "{", "Vary: Accept", "Accept: */*"},
        {"/", 200, "<h1><bdi>Datasets</bdi></h1>", "Content-Type: text/html; charset=utf-8", BROWSER},
        {"/", 200, "<caption>5 datasets</caption>", "Vary: Accept", BROWSER},
        {"/", 200, "<b>24</b><span>episodes</span>", "Cache-Control: no-cache",
         "Accept: TEXT/HTML"}, /* 12 + 8 + 4 */
        {"/", 200, "<b>256</b><span>steps</span>", "Referrer-Policy: same-origin",
         BROWSER}, /* 140 + 99 + 17 */
        {"/", 200, "<a href=\"/d/D4RL/door/human-v2\"><bdi>D4RL/door/human-v2</bdi></a>", NULL, BROWSER},
        {"/", 200, "<a href=\"?format=lerobot\"><bdi>lerobot</bdi><span>1</span></a>", NULL, BROWSER},
        {"/", 200, "<summary id=\"filters-title\">Filters</summary>", NULL, BROWSER},
        {"/?format=lerobot&q=arm", 200, "<summary id=\"filters-title\">Filters (1)</summary>", NULL, BROWSER},
        {"/", 200, "<a href=\"?robot=so100\"><bdi>so100</bdi><span>1</span></a>", NULL, BROWSER},
        {"/?format=lerobot", 200, "<a href=\"?\" aria-current=\"true\"><bdi>lerobot</bdi><span>1<span", NULL,
         BROWSER},
        {"/?format=lerobot", 200, "<a href=\"?format=minari-hdf5\"><bdi>minari-hdf5</bdi>", NULL, BROWSER},
        /* what is chosen stays among what can be, where nothing has it */
        {"/?q=nothing&format=lerobot", 200,
         "<a href=\"?q=nothing\" aria-current=\"true\"><bdi>lerobot</bdi><span>0<span", NULL, BROWSER},
        {"/?problems=true", 200, "problems: <bdi>with problems</bdi>", NULL, BROWSER},
        {"/?prefix=D4RL/", 200, "<li class=\"l1\"><a href=\"?prefix=D4RL%2Fdoor%2F\"><bdi>door</bdi>", NULL,
         BROWSER},
        {"/?prefix=lab/", 200, "<caption>2 datasets</caption>", NULL, BROWSER},
        {"/?prefix=lab/&q=arm", 200, "<li><a href=\"?q=arm\">prefix: <bdi>lab/</bdi>", NULL, BROWSER},
        {"/?prefix=lab/&q=arm", 200, "<input type=\"hidden\" name=\"prefix\" value=\"lab/\">", NULL, BROWSER},
        {"/?prefix=lab/", 200, "<a href=\"?\" aria-current=\"true\"><bdi>lab</bdi>", NULL, BROWSER},
        {"/?q=arm", 200, "<a href=\"?q=arm&amp;prefix=lab%2F\"><bdi>lab</bdi><span>1</span></a>", NULL,
         BROWSER},
        {"/?q=arm", 200, "<caption>1 dataset</caption>", NULL, BROWSER},
        {"/?q=arm&sort=-size", 200, "aria-sort=\"descending\"><a href=\"?q=arm&amp;sort=size\">Size</a>",
         NULL, BROWSER},
        {"/?q=%22%3E%3Cscript%3E", 200, "name=\"q\" value=\"&quot;&gt;&lt;script&gt;\"", NULL, BROWSER},
        {"/?q=nothing", 200, "Nothing matches.", NULL, BROWSER},
        {"/?env=%3Cb%3E", 200, "env: <bdi>&lt;b&gt;</bdi>", NULL, BROWSER},
        {"/?colour=red", 400, "<h1>This link is not valid</h1>", "Content-Type: text/html; charset=utf-8",
         BROWSER},
        {"/?status=ill", 400, "status must be one of", "Cache-Control: no-store", BROWSER},
        {"/?cursor=x", 400, "Status 400", NULL, BROWSER},
        {"/?limit=0", 400, "limit", NULL, BROWSER},
        {"/", 405, "urn:minari-hub:method-not-allowed", NULL, BROWSER, HUB_POST, "x"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* The pages follow each other and go back, whatever the order; what was asked stays. */
Test(catalogue, pages)
{
    static const char *const orders[] = {"id", "-size", "modified"};
    for (size_t i = 0; i < HUB_COUNT(orders); i++) {
        char target[2048], seen[1024] = "";
        unsigned pages = 0;
        snprintf(target, sizeof target, "/?sort=%s&limit=2", orders[i]);
        while (*target && pages < 9) {
            const struct wire_answer answer = wire_ask(&(struct wire_case){target, .headers = BROWSER});
            cr_expect_eq(answer.status, 200, "%s", target);
            pages++;
            strncat(seen, wire_between("<tr><th scope=\"row\"><a href=\"", "\""), 100);
            cr_expect_eq(strstr(answer.body.data, "rel=\"prev\"") != NULL, pages > 1, "%s", target);
            const char *next = strstr(answer.body.data, "rel=\"next\"");
            *target = '\0';
            if (!next)
                continue;
            while (next > answer.body.data && *next != '?')
                next--;
            cr_expect(strstr(next, "limit=2"), "%.200s", next);
            size_t used = (size_t)snprintf(target, sizeof target, "/");
            for (; *next != '"' && used + 2 < sizeof target; next += strncmp(next, "&amp;", 5) == 0 ? 5 : 1)
                target[used++] = *next;
            target[used] = '\0';
        }
        cr_expect_eq(pages, 3, "%s: %u pages: %s", orders[i], pages, seen);
    }
}
