/* storage/base/id.c: what both eras of Minari say about each id, and the hub's own rule. */
#include "storage/base/id.h"

#include <criterion/criterion.h>

struct parts {
    enum hub_id_verdict verdict;
    const char *first; /* environment or namespace */
    const char *name;
    uint32_t version;
};

#define OK(first, name, version)                                                                             \
    {                                                                                                        \
        HUB_ID_OK, first, name, version                                                                      \
    }
#define M                                                                                                    \
    {                                                                                                        \
        HUB_ID_MALFORMED, "", "", 0                                                                          \
    }
#define T(first, name)                                                                                       \
    {                                                                                                        \
        HUB_ID_MISSING_VERSION, first, name, 0                                                               \
    }

static const struct id_case {
    const char *text;
    struct parts e4, e5;
} ids[] = {
    {"door-human-v0", OK("door", "human", 0), OK("", "door-human", 0)},
    {"door-human-v10", OK("door", "human", 10), OK("", "door-human", 10)},
    {"door-human-v01", OK("door", "human", 1), OK("", "door-human", 1)},
    {"door-human", T("door", "human"), T("", "door-human")},
    {"human-v0", T("human", "v0"), OK("", "human", 0)},
    {"-human-v0", OK("", "human", 0), OK("", "-human", 0)},
    {"human", M, T("", "human")},
    {"door-v0", T("door", "v0"), OK("", "door", 0)},
    {"a-b-c-v2", OK("a", "b-c", 2), OK("", "a-b-c", 2)},
    {"pointmaze-umaze-v1-v2", OK("pointmaze", "umaze-v1", 2), OK("", "pointmaze-umaze-v1", 2)},
    {"Door_2-human.x:1-v3", OK("Door_2", "human.x:1", 3), M},
    {"door-human-v1.0", T("door", "human-v1.0"), M},
    {"door-human-v-1", T("door", "human-v-1"), T("", "door-human-v-1")},
    {"door--v0", T("door", "-v0"), OK("", "door-", 0)},
    {"D4RL/door/human-v2", M, OK("D4RL/door", "human", 2)},
    {"mujoco/hopper/expert-v0", M, OK("mujoco/hopper", "expert", 0)},
    {"D4RL/pointmaze/large-dense-v2", M, OK("D4RL/pointmaze", "large-dense", 2)},
    {"a/test-v0", M, M},
    {"ab/test-v0", M, OK("ab", "test", 0)},
    {"ab/test", M, T("ab", "test")},
    {"ab//test-v0", M, M},
    {"/b-v0", M, M},
    {"ab/../x-v0", M, M},
    {"a.b/x-v0", M, M},
    {"ab//cd/test-v0", M, OK("ab//cd", "test", 0)},
    {"door human-v0", M, M},
    {"", M, M},
    {"door-human-v0\n", M, M},
    /* beyond the reference's table */
    {"door-human-v1-extra", T("door", "human-v1-extra"), T("", "door-human-v1-extra")},
    {"aB1-_/env-name/eF3-_-v456", M, OK("aB1-_/env-name", "eF3-_", 456)},
    {"name_123/space/dummy-dict/test-v0", M, OK("name_123/space/dummy-dict", "test", 0)},
    {"no-env/buffers-v0", M, OK("no-env", "buffers", 0)},
    {"caf\xC3\xA9-\xE7\x8C\xAB-v1", OK("caf\xC3\xA9", "\xE7\x8C\xAB", 1),
     OK("", "caf\xC3\xA9-\xE7\x8C\xAB", 1)},
    {"\xC3\xA9/test-v0", M, M},   /* one character is too short for a namespace, however many bytes it has */
    {"caf\xC3-x-v1", M, M},       /* not UTF-8 */
    {"a\xE2\x80\x83-b-v1", M, M}, /* U+2003 is a space */
    {"../x-v0", M, M},
    {"-v0", T("", "v0"), T("", "-v0")},
    {"-", M, T("", "-")},
    {"door-human-v999999999", OK("door", "human", 999999999), OK("", "door-human", 999999999)},
    {"door-human-v1000000000", {HUB_ID_VERSION_TOO_BIG, "", "", 0}, {HUB_ID_VERSION_TOO_BIG, "", "", 0}},
    {"door-human-v99999999999999999999999",
     {HUB_ID_VERSION_TOO_BIG, "", "", 0},
     {HUB_ID_VERSION_TOO_BIG, "", "", 0}},
};

static void expect_parts(const char *text, enum hub_id_era era, const struct parts *want)
{
    struct hub_id id = {0};
    const enum hub_id_verdict got = hub_id_parse(hub_view_of(text), era, &id);
    cr_expect_eq(got, want->verdict, "E%d '%s': verdict %d, not %d", (int)era, text, (int)got,
                 (int)want->verdict);
    if (got != HUB_ID_OK && got != HUB_ID_MISSING_VERSION)
        return;
    const struct hub_view first = era == HUB_ID_E4 ? id.environment : id.ns;
    cr_expect(hub_view_is(first, want->first), "E%d '%s': first part '%.*s'", (int)era, text, (int)first.size,
              first.data);
    cr_expect(hub_view_is(id.name, want->name), "E%d '%s': name '%.*s'", (int)era, text, (int)id.name.size,
              id.name.data);
    cr_expect_eq(id.version, want->version, "E%d '%s': version %u", (int)era, text, id.version);
    cr_expect_eq(id.has_version, got == HUB_ID_OK);
}

Test(id, grammars)
{
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        expect_parts(ids[i].text, HUB_ID_E4, &ids[i].e4);
        expect_parts(ids[i].text, HUB_ID_E5, &ids[i].e5);
    }
}

Test(id, format_is_the_inverse)
{
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        if (strcmp(ids[i].text, "door-human-v01") == 0)
            continue; /* leading zeros are lost */
        for (enum hub_id_era era = HUB_ID_E4; era <= HUB_ID_E5; era++) {
            HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
            struct hub_id id = {0};
            const enum hub_id_verdict verdict = hub_id_parse(hub_view_of(ids[i].text), era, &id);
            if (verdict == HUB_ID_MALFORMED || verdict == HUB_ID_VERSION_TOO_BIG)
                continue;
            cr_assert_eq(hub_id_format(&id, era, &out, NULL), HUB_OK);
            cr_expect_str_eq(out.data, ids[i].text);
        }
    }
}

Test(id, explain)
{
    struct hub_error err = {0};
    cr_expect_eq(hub_id_explain(HUB_ID_OK, HUB_VIEW("x"), &err), HUB_OK);
    cr_expect_eq(hub_id_explain(HUB_ID_MISSING_VERSION, HUB_VIEW("door-human"), &err), HUB_INVALID);
    cr_expect_str_eq(err.problem, "bad-id");
    cr_expect(strstr(err.detail, "door-human"));
    cr_expect_eq(hub_id_explain(HUB_ID_VERSION_TOO_BIG, HUB_VIEW("door-human-v1000000000"), &err),
                 HUB_INVALID);
    cr_expect(strstr(err.detail, "999999999"));
}

Test(id, namespaces)
{
    static const char *const good[] = {
        "ab", "a/b", "a_b", "_x", "--", "a//b", "ab/cd", "example_-123", "nested/nested/nested/namespace"};
    static const char *const bad[] = {"a", "-",  "/a",  "a/",         "a b",        "a.b",
                                      "/", "./", "../", "/namespace", "namespace/", ""};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect(hub_id_namespace_valid(hub_view_of(good[i])), "%s", good[i]);
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_not(hub_id_namespace_valid(hub_view_of(bad[i])), "%s", bad[i]);
}

Test(id, hub_rule)
{
    static const char *const good[] = {"door-human-v1", "D4RL/door/human-v2", "lerobot/pusht image", "a",
                                       "a/b/c.zarr",    "\xE7\x8C\xAB",       "files-of-mine",       "x~"};
    static const char *const bad[] = {
        "",        "/",        "/a",         "a/",     "a//b",          ".",     "..",        "../x",
        "a/../b",  "a/./b",    ".hidden",    "a/.git", "a\nb",          "a\x7F", "a\xC2\x85", "caf\xC3",
        "a/files", "episodes", "a/sample/b", "batch",  "a/archive.tar", "~x",    "a/~admin"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect_eq(hub_id_check(hub_view_of(good[i]), NULL), HUB_OK, "%s", good[i]);
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_error err = {0};
        cr_expect_eq(hub_id_check(hub_view_of(bad[i]), &err), HUB_INVALID, "%s", bad[i]);
        cr_expect_str_eq(err.problem, "bad-id");
    }
    char longest[256];
    memset(longest, 'x', sizeof(longest));
    cr_expect_eq(hub_id_check((struct hub_view){longest, 255}, NULL), HUB_OK);
    cr_expect_eq(hub_id_check((struct hub_view){longest, 256}, NULL), HUB_INVALID);
    cr_expect_eq(hub_id_check((struct hub_view){"a\0b", 3}, NULL), HUB_INVALID);
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
