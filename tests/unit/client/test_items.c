#include "client/lib/internal.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

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
