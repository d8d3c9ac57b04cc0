/* storage/ids/id.c: the hub's own rule, versions and order. */
#include "storage/ids/id.h"

#include <criterion/criterion.h>

Test(id, hub_rule)
{
    static const char *const good[] = {"door-human-v1", "D4RL/door/human-v2", "lerobot/pusht image", "a",
                                       "a/b/c.zarr",    "\xE7\x8C\xAB",       "files-of-mine",       "x~"};
    static const char *const bad[] = {"",          "/",
                                      "/a",        "a/",
                                      "a//b",      ".",
                                      "..",        "../x",
                                      "a/../b",    "a/./b",
                                      ".hidden",   "a/.git",
                                      "a\nb",      "a\x7F",
                                      "a\xC2\x85", "caf\xC3",
                                      "a/files",   "a/rows",
                                      "episodes",  "a/sample/b",
                                      "batch",     "a/archive.tar",
                                      "~x",        "a/~admin"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect_eq(hub_id_check(hub_view_of(good[i]), NULL), HUB_OK, "%s", good[i]);
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_error err = {0};
        cr_expect_eq(hub_id_check(hub_view_of(bad[i]), &err), HUB_INVALID, "%s", bad[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_BAD_ID);
    }
    char longest[256];
    memset(longest, 'x', sizeof(longest));
    cr_expect_eq(hub_id_check((struct hub_view){longest, 255}, NULL), HUB_OK);
    cr_expect_eq(hub_id_check((struct hub_view){longest, 256}, NULL), HUB_INVALID);
    cr_expect_eq(hub_id_check((struct hub_view){"a\0b", 3}, NULL), HUB_INVALID);
}

/* As Python Minari has it, but for empty parts and the words that end an id. */
Test(id, names_of_namespaces)
{
    static const char *const good[] = {"ab",
                                       "a/b",
                                       "a_b",
                                       "_x",
                                       "--",
                                       "ab/cd",
                                       "example_-123",
                                       "D4RL/door",
                                       "\xE7\x8C\xAB\xE7\x8C\xAB",
                                       "nested/nested/nested/namespace"};
    static const char *const bad[] = {
        "",     "\xE7\x8C\xAB", "a",  "-",       "/a",   "a/",   "a b",     "a.b",        "/",   "./", "../",
        "a//b", "/namespace",   "~x", "a/files", "a\nb", ".hid", "caf\xC3", "namespace/", "a/~x"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect_eq(hub_namespace_check(hub_view_of(good[i]), NULL), HUB_OK, "%s", good[i]);
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_error err = {0};
        cr_expect_eq(hub_namespace_check(hub_view_of(bad[i]), &err), HUB_INVALID, "%s", bad[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_BAD_ID);
    }
}

Test(id, long_ids_are_refused)
{
    char text[HUB_MAX_ID + 2];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 ? '/' : 'a';
    cr_expect_eq(hub_id_check((struct hub_view){text, HUB_MAX_ID - 1}, NULL), HUB_OK);
    cr_expect_eq(hub_id_check((struct hub_view){text, HUB_MAX_ID + 1}, NULL), HUB_INVALID);
}

Test(id, alias)
{
    static const struct {
        const char *id, *alias;
        bool has;
        uint32_t version;
    } cases[] = {
        {"door-human-v1", "door-human", true, 1},
        {"door-human-v10", "door-human", true, 10},
        {"door-human-v1-extra", "door-human-v1-extra", false, 0},
        {"D4RL/door/human-v2", "D4RL/door/human", true, 2},
        {"a-v1/b", "a-v1/b", false, 0},
        {"a/-v1", "a/-v1", false, 0},
        {"-v1", "-v1", false, 0},
        {"x-v", "x-v", false, 0},
        {"x-v01", "x", true, 1},
        {"x-v1000000000", "x-v1000000000", false, 0},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_view alias;
        uint32_t version = 0;
        cr_expect_eq(hub_id_split_alias(hub_view_of(cases[i].id), &alias, &version), cases[i].has, "%s",
                     cases[i].id);
        cr_expect(hub_view_is(alias, cases[i].alias), "%s", cases[i].id);
        cr_expect_eq(version, cases[i].version, "%s", cases[i].id);
    }
}

Test(id, order_of_listings)
{
    static const char *const sorted[] = {
        "door-human",
        "door-human-v0",
        "door-human-v1",
        "door-human-v2",
        "door-human-v10",
        "door-human-v1-extra",
        "door-human-v1-extra-v0",
        "zebra-v0",
        "D4RL/door/cloned-v2",
        "D4RL/door/human-v2",
        "D4RL/door/human-v10",
        "D4RL/pen/human-v1",
        "mujoco/hopper/expert-v0",
    };
    for (size_t i = 0; i < HUB_COUNT(sorted); i++) {
        for (size_t j = 0; j < HUB_COUNT(sorted); j++) {
            const int order = hub_id_compare(hub_view_of(sorted[i]), hub_view_of(sorted[j]));
            cr_expect_eq((order > 0) - (order < 0), (i > j) - (i < j), "%s %s", sorted[i], sorted[j]);
        }
    }
    cr_expect_neq(hub_id_compare(HUB_VIEW("x-v1"), HUB_VIEW("x-v01")), 0);
}
