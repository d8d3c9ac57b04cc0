/* A row of JSON as a tree whose numbers open as curves. */
#include "server/page/leaves.h"
#include "tests/support/page_kit.h"

static void expect_leaves(const char *target, const char *row, const char *part, const char *none)
{
    struct page_kit k;
    HUB_CLEANUP(hub_json_decrefp) json_t *value = page_kit_json(row);
    HUB_CLEANUP(hub_json_decrefp)
    json_t *dataset = page_kit_json(
        "{\"fields\":[{\"path\":\"in,fo:x\",\"type\":\"padded-json\",\"axis\":\"step\",\"shape\":[64]},"
        "{\"path\":\"reward\",\"type\":\"number\",\"role\":\"reward\",\"axis\":\"step\",\"shape\":[]}]}");
    page_kit_begin(&k, target, "x");
    const struct page_lanes lanes = {&k.page, HUB_VIEW("x"), 0, 9, 0, 0, 9, dataset, dataset};
    page_leaves(&lanes, json_array_get(json_object_get(dataset, "fields"), 0), value);
    if (part)
        page_kit_expect(&k, part);
    if (none)
        page_kit_expect_not(&k, none);
    page_kit_end(&k);
}

/* The lanes that are shown stay. A field's name and a pointer (RFC 6901) are coded within the list, and all
 * of it for the address. */
Test(leaves, links)
{
    static const struct {
        const char *target, *row, *part, *none;
    } cases[] = {
        {"/d/x/episodes/0", "{\"q\":1.5}",
         "<a href=\"?lanes=reward%2Creturn%2Cin%252Cfo%253Ax%3A%2Fq\"><bdi>q</bdi></a> <bdi>1.5</bdi>", NULL},
        {"/d/x/episodes/0?lanes=reward&at=3", "{\"q\":1}",
         "<a href=\"?at=3&amp;lanes=reward%2Cin%252Cfo%253Ax%3A%2Fq\">", NULL},
        {"/d/x/episodes/0?lanes=reward", "{\"a/b\":{\"~\":1}}", "%3A%2Fa~1b%2F~0\"><bdi>~</bdi>", NULL},
        {"/d/x/episodes/0?lanes=reward", "{\"a,b|c:d%e\":1}", "%3A%2Fa%252Cb%257Cc%253Ad%2525e\"", NULL},
        {"/d/x/episodes/0?lanes=reward", "[[7,8]]", "%3A%2F0%2F1\"><bdi>1</bdi></a> <bdi>8</bdi>", NULL},
        {"/d/x/episodes/0?lanes=reward", "{\"on\":true}", "%3A%2Fon\"", NULL},
        {"/d/x/episodes/0?lanes=reward", "{\"<b>\":\"<i>\"}",
         "<bdi>&lt;b&gt;</bdi> <bdi>&quot;&lt;i&gt;&quot;</bdi>", "<a "},
        {"/d/x/episodes/0?lanes=reward", "{\"none\":null,\"empty\":{},\"also\":[]}",
         "<bdi>none</bdi> <bdi>null</bdi>", "<a "},
        {"/d/x/episodes/0", "\"text\"", NULL, "<ul"}, /* nothing is in it */
        {"/d/x/episodes/0", "{}", NULL, "<ul"},
        /* the page has twelve lanes: there is no room for one more */
        {"/d/x/episodes/"
         "0?lanes=reward,reward,reward,reward,reward,reward,reward,reward,reward,reward,reward,reward",
         "{\"q\":1}", "<bdi>q</bdi> <bdi>1</bdi>", "<a "},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        expect_leaves(cases[i].target, cases[i].row, cases[i].part, cases[i].none);
}

Test(leaves, of_any_size)
{
    static char row[64 * KIB];
    char deep[512] = "";
    strcpy(row, "[0");
    for (unsigned i = 1; i < 300; i++)
        snprintf(row + strlen(row), 8, ",%u", i);
    strcat(row, "]");
    expect_leaves("/d/x/episodes/0?lanes=reward", row, "<bdi>99</bdi></a>",
                  "<bdi>100</bdi>"); /* the first hundred */
    memset(row, 'n', 4000);          /* a pointer that no address is for */
    memcpy(row, "{\"", 2);
    strcpy(row + 4000, "\":1}");
    expect_leaves("/d/x/episodes/0?lanes=reward", row, "nnnn", "<a ");
    for (unsigned i = 0; i < 100; i++)
        strcat(deep, "[");
    strcat(deep, "1");
    for (unsigned i = 0; i < 100; i++)
        strcat(deep, "]");
    expect_leaves("/d/x/episodes/0?lanes=reward", deep, "<ul", "<a ");
}
