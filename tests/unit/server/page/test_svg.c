/* Drawings: bars where their numbers say, each opening its episodes. */
#include "server/page/svg.h"
#include "tests/support/page_kit.h"

#include <math.h>

static void expect_bars(const char *counts, const char *d)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(counts);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_assert_eq(page_bars_path(json, &out), HUB_OK);
    cr_expect_str_eq(out.data, d, "%s: %s", counts, out.data);
}

/* 12 wide, 9 high, y downwards: a bar is "v" up to its height, then "h" its width. */
Test(svg, bars)
{
    expect_bars("[0, 9]", "M0 9h6v-9h6V9z");
    expect_bars("[1, 0, 1000]", "M0 9v-1h4v1h4v-9h4V9z"); /* one in a thousand is seen */
    expect_bars("[5, 5, 5, 5]", "M0 9v-9h3h3h3h3V9z");
    expect_bars("[7]", "M5 9v-9h1V9z"); /* all of one value: in the middle */
    expect_bars("[0, 0]", "M0 9h6h6V9z");
}

Test(svg, histogram)
{
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp)
    json_t *h = page_kit_json("{\"edges\":[-1,0.30000000000000004,1],\"counts\":[1,3]}");
    const struct page_numbers of = {HUB_VIEW("<Return>"), 1204, -0.5, 1};
    page_kit_begin(&k, "/d/x", "lab/it's");
    page_histogram_figure(&k.page, &of, h, "return");
    page_kit_expect(&k, "<h3><bdi>&lt;Return&gt;</bdi></h3>");
    page_kit_expect(&k, "1,204 values from -1 to 1, mean -0.5; tallest bar 3");
    page_kit_expect(&k, "x=\"0.00\" y=\"62.67\" width=\"199.00\" height=\"31.33\""); /* a third of 94 */
    page_kit_expect(&k, "x=\"200.00\" y=\"0.00\" width=\"199.00\" height=\"94.00\"");
    /* each episode is in one bar: the edges are exact, and only the last is part of its bar */
    page_kit_expect(&k, "href=\"/d/lab/it%27s/episodes?where=return%20%3E%3D%20-1");
    page_kit_expect(&k, "%20and%20return%20%3C%200.30000000000000004\"");
    page_kit_expect(&k, "?where=return%20%3E%3D%200.30000000000000004%20and%20return%20%3C%3D%201");
    page_kit_expect(&k, "<span>-1</span><span>mean -0.5</span><span>1</span>");
    page_kit_end(&k);
}

Test(svg, histograms_of_little)
{
    struct page_kit k;
    static const struct {
        const char *json, *part, *none;
    } cases[] = {
        {"{\"edges\":[0,1,2],\"counts\":[4,0]}", "height=\"94.00\"", "<a "}, /* no key: opens nothing */
        {"{\"edges\":[0,1,2],\"counts\":[3,1]}", "<div class=\"ends\"><span>3</span></div>", "<a "},
        {"{\"edges\":[1800,1800],\"counts\":[4]}", "<bdi>1,800 in all 4.</bdi>", "<rect"}, /* one value */
        {"{\"edges\":[0,1,2],\"counts\":[0,1]}", "x=\"200.00\"", "x=\"0.00\""},    /* an empty bar is none */
        {"{\"edges\":[0,1,2],\"counts\":[1,1000000]}", "height=\"2.00\"", "0.01"}, /* at least to be seen */
        {"{\"edges\":[0,1],\"counts\":[1,2]}", "", "<figure"},
        {"{\"edges\":[],\"counts\":[]}", "", "<figure"},
        {"{}", "", "<figure"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *h = page_kit_json(cases[i].json);
        const struct page_numbers of = {HUB_VIEW("Steps"), 4, NAN, NAN};
        page_kit_begin(&k, "/d/x", "x");
        page_histogram_figure(&k.page, &of, h, NULL);
        page_kit_expect(&k, cases[i].part);
        page_kit_expect_not(&k, cases[i].none);
        page_kit_end(&k);
    }
}

Test(svg, outcome)
{
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp)
    json_t *outcome = page_kit_json(
        "{\"success\":{\"true\":5,\"false\":2,\"unknown\":1},\"terminated\":{\"true\":0,\"false\":8},"
        "\"truncated\":{\"true\":0,\"false\":0,\"unknown\":8}}");
    page_kit_begin(&k, "/d/x", "x");
    page_outcome_figure(&k.page, outcome);
    page_kit_expect(&k, "?where=success%20%3D%20true\"><bdi>success</bdi></a></dt>");
    page_kit_expect(&k, "width=\"62.50\""); /* 5 of 8 */
    page_kit_expect(&k, "?where=success%20%3D%20false\"><bdi>no success</bdi>");
    page_kit_expect(&k, "width=\"25.00\"");
    page_kit_expect(&k, "<bdi>terminated</bdi>");
    page_kit_expect_not(&k, "truncated"); /* no episode says it */
    page_kit_end(&k);
    page_kit_begin(&k, "/d/x", "x");
    page_outcome_figure(&k.page, NULL);
    cr_expect_eq(k.html.size, 0);
    page_kit_end(&k);
}

Test(svg, values)
{
    struct page_kit k;
    char json[1024] = "{\"values\":[{\"value\":\"lift <it> & go\",\"count\":2}";
    for (unsigned i = 0; i < 13; i++)
        strcat(json, ",{\"value\":\"t\",\"count\":1}");
    strcat(json, "],\"left_out\":{\"values\":5}}");
    HUB_CLEANUP(hub_json_decrefp) json_t *values = page_kit_json(json);
    page_kit_begin(&k, "/d/x", "x");
    page_values_figure(&k.page, values, "Tasks", "task", 8);
    page_kit_expect(&k, "?task=lift%20%3Cit%3E%20%26%20go\"><bdi>lift &lt;it&gt; &amp; go</bdi>");
    page_kit_expect(&k, "width=\"25.00\"");
    page_kit_expect(&k, "and 7 more"); /* 12 of 14 are shown, 5 were not listed */
    page_kit_end(&k);
}

Test(svg, grid)
{
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp)
    json_t *grid =
               page_kit_json("{\"x\":\"steps\",\"y\":\"return\",\"x_edges\":[0,10,20],\"y_edges\":[-1,0,1],"
                             "\"counts\":[[4,0],[0,1]]}"),
           *line = page_kit_json("{\"x\":\"steps\",\"y\":\"return\",\"x_edges\":[0,1],\"y_edges\":[-1,0,1],"
                                 "\"counts\":[[4,1]]}");
    page_kit_begin(&k, "/d/x", "x");
    page_grid_figure(&k.page, grid, "Return against steps");
    /* the first row is at the bottom; a quarter of the most is half as dark, as its root says */
    page_kit_expect(&k, "class=\"bar g9\" x=\"0.00\" y=\"47.00\" width=\"200.00\" height=\"47.00\"");
    page_kit_expect(&k, "<title>4: steps from 0 to 10, return from -1 to 0</title>");
    page_kit_expect(&k, "class=\"bar g5\" x=\"200.00\" y=\"0.00\"");
    page_kit_expect(&k, "vertical: return from -1 to 1; at most 4 in one cell");
    page_kit_end(&k);
    page_kit_begin(&k, "/d/x", "x");
    page_grid_figure(&k.page, line, "one of them is always the same");
    cr_expect_eq(k.html.size, 0);
    page_kit_end(&k);
}

Test(svg, sparkline)
{
    static const struct {
        const char *base64, *part; /* NULL: nothing is drawn */
    } cases[] = {
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "d=\"M0 22.5L4 22.5L8 22.5"},
        {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "L128 22.5\""},
        {"//////////////////////////////////////////8=", "d=\"M0 1.5L4 1.5"},
        {"AAAA", NULL},
        {"<script>", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct page_kit k;
        page_kit_begin(&k, "/d/x", "x");
        page_sparkline(&k.page.out, hub_view_of(cases[i].base64));
        if (cases[i].part)
            page_kit_expect(&k, cases[i].part);
        else
            cr_expect_eq(k.html.size, 0, "%s: %s", cases[i].base64, k.html.data);
        page_kit_end(&k);
    }
}
