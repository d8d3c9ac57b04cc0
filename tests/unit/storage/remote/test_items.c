/* storage/remote/items.c: the text of the items of a page, as it came. */
#include "storage/remote/items.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const struct items_case {
    const char *object;
    size_t max, count;
    const char *first, *last;
} cases[] = {
    {"{\"items\":[{\"a\":1},{\"b\":2}]}", 9, 2, "{\"a\":1}", "{\"b\":2}"},
    {"{\"items\":[{\"a\":1},{\"b\":\"]},{\"}],\"next\":null}", 9, 2, "{\"a\":1}", "{\"b\":\"]},{\"}"},
    /* not written again */
    {" { \"x\" : [1] , \"items\" : [ {\"a\": 1.0 } , 2 ] } ", 9, 2, "{\"a\": 1.0 }", "2"},
    {" { \"x\" : [[1],[2]] , \"items\" : [ 1 , 2.50 , \"q\\\"]\" ] } ", 9, 3, "1", "\"q\\\"]\""},
    {"{\"items\":[0.1000]}", 9, 1, "0.1000", "0.1000"}, /* digits stay as they came */
    {"{\"items\":[[[]],null,true]}", 9, 3, "[[]]", "true"},
    {"{\"items\":[1,2,3]}", 2, 2, "1", "2"},
    {"{\"items\":[]}", 9, 0, NULL, NULL},
    {"{\"items\":{\"a\":1}}", 9, 0, NULL, NULL},
    {"{\"items\":{}}", 9, 0, NULL, NULL},
    {"{\"items\":\"[1,2]\"}", 9, 0, NULL, NULL},
    {"{\"other\":[1]}", 9, 0, NULL, NULL},
    {"{\"x\":{\"items\":[1]}}", 9, 0, NULL, NULL}, /* of the object itself only */
    {"{\"x\":{\"items\":[9]},\"items\":[]}", 9, 0, NULL, NULL},
    {"{\"items\":[1],\"items\":[2,3]}", 9, 2, "2", "3"}, /* of equal keys the last, as jansson has it */
    {"{\"a\\\"items\":[1,2],\"items\":[3]}", 9, 1, "3", "3"},
    {"{\"items\":[\"]\",\"\\\"\"]}", 9, 2, "\"]\"", "\"\\\"\""},
    {"{}", 9, 0, NULL, NULL},
};

Test(items, are_given_as_they_came)
{
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_freep) struct hub_view *items = NULL;
        size_t count = 99;
        cr_assert_eq(hub_raw_items(hub_view_of(cases[i].object), "items", cases[i].max, &items, &count, NULL),
                     HUB_OK);
        cr_assert_eq(count, cases[i].count, "%s", cases[i].object);
        if (!count)
            continue;
        cr_expect(hub_view_is(items[0], cases[i].first), "%s", cases[i].object);
        cr_expect(hub_view_is(items[count - 1], cases[i].last), "%s", cases[i].object);
    }
}
