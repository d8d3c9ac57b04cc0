/* Spaces as nested lists. */
#include "server/page/spaces.h"
#include "tests/support/page_kit.h"

static void expect_item(const char *space, const char *item)
{
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(space);
    page_kit_begin(&k, "/d/x", "x");
    page_space_tree(&k.page, "action", json);
    page_kit_expect(&k, item);
    page_kit_end(&k);
}

Test(spaces, what_is_said)
{
    static const struct {
        const char *space, *item;
    } cases[] = {
        {"{\"type\":\"Box\",\"dtype\":\"float32\",\"shape\":[2,3],\"low\":-1.0,\"high\":0.5}",
         "<code><bdi>action</bdi></code> <bdi>Box float32 (2, 3) from -1 to 0.5</bdi>"},
        {"{\"type\":\"Box\",\"dtype\":\"float64\",\"shape\":[39],\"low\":\"-Infinity\",\"high\":"
         "\"Infinity\"}",
         "<bdi>Box float64 (39) from -\xE2\x88\x9E to \xE2\x88\x9E</bdi>"},
        {"{\"type\":\"Box\",\"dtype\":\"int8\",\"shape\":[2],\"low\":[0,\"-Infinity\"],\"high\":[1,2]}",
         "<bdi>Box int8 (2) from (0, -\xE2\x88\x9E) to (1, 2)</bdi>"},
        {"{\"type\":\"Box\",\"dtype\":\"int8\",\"shape\":[13],\"low\":0,\"high\":[1,2,3,4,5,6,7,8,9,10,11,12,"
         "13]}",
         "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, \xE2\x80\xA6 13)"},
        {"{\"type\":\"Discrete\",\"start\":0,\"n\":4}", "<bdi>Discrete 0 to 3</bdi>"},
        {"{\"type\":\"Discrete\",\"start\":-1,\"n\":3}", "<bdi>Discrete -1 to 1</bdi>"},
        {"{\"type\":\"Discrete\",\"n\":4}", "<bdi>Discrete 0 to 3</bdi>"}, /* Gymnasium starts at 0 */
        {"{\"type\":\"<b>\"}", "<bdi>&lt;b&gt;</bdi>"},
        {"{}", "<code><bdi>action</bdi></code> <bdi></bdi>"},
        {"{\"type\":\"Dict\",\"spaces\":{\"a<b\":{\"type\":\"Text\"}}}",
         "<ul><li><code><bdi>a&lt;b</bdi></code> <bdi>Text</bdi>"},
        {"{\"type\":\"Dict\",\"spaces\":[[\"arm\",{\"type\":\"Text\"}]]}",
         "<code><bdi>arm</bdi></code> <bdi>Text</bdi>"},
        {"{\"type\":\"Tuple\",\"spaces\":[{\"type\":\"Text\"},{\"type\":\"Discrete\",\"start\":0,\"n\":2}]}",
         "<code><bdi>1</bdi></code> <bdi>Discrete 0 to 1</bdi>"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_item(cases[i].space, cases[i].item);
}

/* Numbers that no space has do no harm. */
Test(spaces, of_any_size)
{
    static const char *const spaces[] = {
        "{\"type\":\"Discrete\",\"start\":9223372036854775807,\"n\":9223372036854775807}",
        "{\"type\":\"Discrete\",\"start\":1e300,\"n\":-1e300}",
        "{\"type\":\"Discrete\",\"start\":\"nan\",\"n\":\"inf\"}",
        "{\"type\":\"Box\",\"shape\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"
        "27,28]}",
        "{\"type\":\"Box\",\"low\":[],\"high\":[[],[1]],\"shape\":7}",
    };
    for (size_t i = 0; i < HUB_COUNT(spaces); i++)
        expect_item(spaces[i], "<div class=\"space\">");
}

Test(spaces, depth)
{
    struct page_kit k;
    char json[4096] = "";
    for (unsigned i = 0; i < 40; i++)
        strcat(json, "{\"type\":\"Tuple\",\"spaces\":[");
    strcat(json, "{}");
    for (unsigned i = 0; i < 40; i++)
        strcat(json, "]}");
    HUB_CLEANUP(hub_json_decrefp) json_t *deep = page_kit_json(json);
    unsigned levels = 0;
    page_kit_begin(&k, "/d/x", "x");
    page_space_tree(&k.page, "action", deep);
    for (const char *at = k.html.data; (at = strstr(at, "<li>")); at++)
        levels++;
    cr_expect_leq(levels, 10);
    page_kit_end(&k);
    page_kit_begin(&k, "/d/x", "x");
    page_space_tree(&k.page, "action", NULL);
    cr_expect_eq(k.html.size, 0);
    page_kit_end(&k);
}
