#include "client/lib/internal.h"
#include "storage/remote/items.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

struct items_case {
    char object[160];
    size_t count;
    char last[80];
};

ParameterizedTestParameters(items, raw)
{
    static struct items_case cases[] = {
        {"{\"items\":[{\"a\":1},{\"b\":\"]},{\"}],\"next\":null}", 2, "{\"b\":\"]},{\"}"},
        {" { \"x\" : [[1],[2]] , \"items\" : [ 1 , 2.50 , \"q\\\"]\" ] } ", 3, "\"q\\\"]\""},
        {"{\"x\":{\"items\":[9]},\"items\":[]}", 0, ""},
        {"{\"items\":[0.1000]}", 1, "0.1000"}, /* digits stay as they came */
        {"{\"items\":[[[]],null,true]}", 3, "true"},
        {"{\"items\":{}}", 0, ""},
        {"{}", 0, ""},
        {"{\"a\\\"items\":[1,2],\"items\":[3]}", 1, "3"},
        {"{\"items\":[1],\"items\":[2,3]}", 2, "3"}, /* the last of equal keys counts, as for the parser */
    };
    return cr_make_param_array(struct items_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct items_case *c, items, raw)
{
    struct hub_view *items = NULL;
    size_t count = 0;
    cr_assert_eq(hub_raw_items(hub_view_of(c->object), "items", 10, &items, &count, NULL), HUB_OK);
    cr_assert_eq(count, c->count, "%s", c->object);
    if (count)
        cr_assert(hub_view_is(items[count - 1], c->last), "%.*s", (int)items[count - 1].size,
                  items[count - 1].data);
    free(items);
}

struct path_case {
    char path[40];
    bool good;
};

ParameterizedTestParameters(items, paths)
{
    static struct path_case cases[] = {
        {"data/main_data.hdf5", true},
        {"a", true},
        {"a b/\xc3\xa9", true},
        {"", false},
        {"/etc/passwd", false},
        {"../x", false},
        {"a/../b", false},
        {"a//b", false},
        {"a/", false},
        {"./a", false},
        {"a/.hidden", false},
        {"a\nb", false},
        {"\xff", false},
        {".minari-hub.json", false},
    };
    return cr_make_param_array(struct path_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct path_case *c, items, paths)
{
    cr_assert_eq(hub_path_check(c->path, NULL) == HUB_OK, c->good, "'%s'", c->path);
}

Test(items, a_summary)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    const char *text =
        "{\"id\":\"a-v1\",\"version\":1,\"format\":\"minari-hdf5\",\"status\":\"ready\",\"episodes\":2,"
        "\"steps\":-5,\"authors\":[\"x\",3,\"y\"],\"loadable_by\":[\"0.5.0\"]}";
    struct minari_summary s;
    struct hub_error err = {0};
    cr_assert_eq(hub_json_parse(hub_view_of(text), 1000, &doc, NULL), HUB_OK);
    cr_assert_eq(hub_summary_read(doc, &s, &err), HUB_OK);
    cr_assert_eq(s.version, 1);
    cr_assert_eq(s.steps, 0, "a negative count is none");
    cr_assert(s.author_count == 2 && strcmp(s.authors[1], "y") == 0);
    cr_assert(s.loadable_count == 1 && strcmp(s.loadable_by[0], "0.5.0") == 0);
    free((void *)s.authors);
    json_object_del(doc, "id");
    cr_assert_eq(hub_summary_read(doc, &s, &err), HUB_CORRUPT);
}
