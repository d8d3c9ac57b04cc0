/* The table of episodes: filters, orders, and a number that leads to its episode. */
#include "server/page/episodes.h"
#include "tests/support/page_kit.h"
#include "tests/support/wire_kit.h"

TestSuite(episodes, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(episodes, outcomes)
{
    static const struct {
        const char *episode, *outcome;
    } cases[] = {
        {"{\"success\":true,\"terminated\":false}", "success"},
        {"{\"success\":false,\"terminated\":true}", "no success"},
        {"{\"terminated\":true,\"truncated\":true}", "terminated, truncated"},
        {"{\"terminated\":true,\"truncated\":false}", "terminated"},
        {"{\"truncated\":true}", "truncated"},
        {"{\"terminated\":false,\"truncated\":false}", "not ended"},
        {"{}", ""},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *episode = page_kit_json(cases[i].episode);
        cr_expect_str_eq(page_outcome_of(episode), cases[i].outcome, "%s", cases[i].episode);
    }
}

#define DOOR "/d/door-human-v0/episodes"

Test(episodes, lists)
{
    static const struct wire_case cases[] = {
        {DOOR, 200, "<caption>12 episodes</caption>", "Content-Type: text/html; charset=utf-8"},
        {DOOR, 200, "<a href=\"" DOOR "/11\">11</a>"},
        {DOOR "?where=number%20%3C%202", 200, "<caption>2 episodes</caption>"},
        {DOOR "?where=number%20%3D%207", 200, "<caption>1 episode</caption>"},
        {DOOR "?where=number+%3C+2&sort=-number", 200,
         "<a href=\"" DOOR "/1?where=number%20%3C%202&amp;sort=-number\">1</a>"},
        {DOOR "?where=number+%3C+2", 200, "[0, 1]</code>"}, /* to be pasted */
        {DOOR "?where=number+%3C+0", 200,
         "<bdi>No episode matches. Remove a filter:</bdi></p><ul class=\"chips\""},
        {DOOR "?where=number+%3C+0&sort=-steps", 200,
         "<li><a href=\"?sort=-steps\">where: <bdi>number &lt; 0</bdi>"},
        {DOOR "?where=success+%3D+true", 200, "No episode here has a value for success."},
        {DOOR "?where=%22%3E%3Cb%3E+%3D%3D", 400, "value=\"&quot;&gt;&lt;b&gt; ==\"",
         "Content-Type: text/html; charset=utf-8"},
        {DOOR "?where=%22%3E%3Cb%3E+%3D%3D", 400, "This filter cannot be read: <bdi>"},
        {DOOR "?sort=colour", 400, "sort must be one name"},
        {DOOR "?limit=5", 200, "rel=\"next\">Next</a>"},
        {"/d/lab/arm/episodes?split=train", 200, "<option value=\"train\" selected>train</option>"},
        {"/d/lab/arm/episodes", 200, "<bdi>pick up the &quot;red&quot; cube</bdi>"},
        {"/d/lab/none/episodes", 404, "<h1>Not found</h1>"},
        {DOOR "?colour=red", 400, "<h1>This link is not valid</h1>"},
        {DOOR "?number=7", 303, "", "Location: " DOOR "/7"},
        {DOOR "?number=7&where=number%3E1&limit=5&cursor=x", 303, "",
         "Location: " DOOR "/7?where=number%3E1"},
        {DOOR "?number=..%2F..%2F%3Cb%3E", 303, "", "Location: " DOOR "/..%2F..%2F%3Cb%3E"},
        {DOOR "?number=1%0D%0ASet-Cookie:+a", 303, "", "Location: " DOOR "/1%0D%0ASet-Cookie%3A%20a"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* What they are chosen and sorted by has a column; what none of them has has none. */
Test(episodes, columns)
{
    static const struct wire_case cases[] = {
        {DOOR, 200, "aria-sort=\"ascending\"><a href=\"?sort=-number\">Episode</a>"},
        {DOOR "?where=mean(%22rewards%22)%3C1e9", 200,
         "sort=mean%28%22rewards%22%29\">mean(&quot;rewards&quot;)</a>"},
        {DOOR "?where=mean(%22rewards%22)%3C1e9", 200,
         "<td class=\"n\" data-label=\"mean(&quot;rewards&quot;)\">"},
        {DOOR "?sort=-split", 200, "aria-sort=\"descending\"><a href=\"?sort=split\">split</a>"},
        {DOOR "?where=steps%3E1&sort=-return", 200, "Seed</a></th>\n</tr>"},
        {"/d/lab/arm/episodes", 200, "Task</a></th>\n</tr>"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* A filter is whole in the form, be it too long to be read, and in links, where it is three times as long. */
Test(episodes, a_long_filter)
{
    static char target[16384], part[16384];
    char text[4096] = "0";
    for (unsigned i = 1; i < 600; i++)
        snprintf(text + strlen(text), 8, ",%u", i);
    snprintf(target, sizeof target, DOOR "?where=number+in+(%s)", text);
    struct wire_answer answer = wire_ask(&(struct wire_case){target});
    snprintf(part, sizeof part, "name=\"where\" value=\"number in (%s)\"", text);
    cr_expect_eq(answer.status, 400);
    cr_expect(strstr(answer.body.data, part), "the form");
    *text = '\0';
    for (unsigned i = 0; i < 300; i++)
        strcat(text, "%E6%89%89");
    snprintf(target, sizeof target, "/d/lab/arm/episodes?where=task%%20%%3C%%20%%27%s%%27", text);
    answer = wire_ask(&(struct wire_case){target});
    cr_expect_eq(answer.status, 200);
    snprintf(part, sizeof part, "href=\"/d/lab/arm/episodes/3?where=task%%20%%3C%%20%%27%s%%27\">3</a>",
             text);
    cr_expect(strstr(answer.body.data, part), "the links");
}
