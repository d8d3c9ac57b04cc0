/* server/mirror/spec.c: what a rule may ask for, and where its datasets go. */
#include "kit.h"
#include "server/mirror/spec.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(spec, .init = kit_begin, .fini = kit_end);

/* ---- what may be asked for ---- */

static const struct {
    const char *spec;      /* ' stands for " */
    const char *parameter; /* that is wrong; NULL: nothing */
} checks[] = {
    {"{'remote':'gcp://minari-datasets','root':'named'}", NULL},
    {"{'remote':'gcp://lab/D4RL','root':'named','as':'lab/"
     "','prefix':'x','every':10,'limit':65536,'delete':true,"
     "'internal':true,'include':['*.h5'],'exclude':[],'token-file':'/dev/null'}",
     NULL},
    {"{'remote':'hf://lab/so100@v2.1','root':'named'}", NULL},
    {"{'remote':'http://hub:8080','root':'named'}", NULL},
    {"{'remote':'gcp://lab','root':'named','only':'minari'}", NULL},
    {"{'remote':'gcp://lab','root':'named','only':'tree'}", NULL},
    {"{'remote':'gcp://lab','root':'named','only':'some'}", "only"},
    /* the remote */
    {"{'root':'named'}", "remote"},
    {"{'remote':'lab','root':'named'}", "remote"},
    {"{'remote':'ftp://lab','root':'named'}", "remote"},
    {"{'remote':'file:///etc','root':'named'}", "remote"},
    {"{'remote':'http://hub:99999','root':'named'}", "remote"},
    {"{'remote':'http://hub?x=1','root':'named'}", "remote"},
    {"{'remote':'http://hub#x','root':'named'}", "remote"},
    {"{'remote':'http://h ub','root':'named'}", "remote"},
    {"{'remote':'gcp://b/../../c','root':'named'}", "remote"},
    {"{'remote':7,'root':'named'}", "remote"},
    /* members and their types */
    {"{'remote':'gcp://b','root':'named','evry':10}", "evry"},
    {"{'remote':'gcp://b','root':'named','pull':true}", "pull"}, /* the program's own word */
    {"{'remote':'gcp://b','root':'named','every':'10'}", "every"},
    {"{'remote':'gcp://b','root':'named','every':10.0}", "every"},
    {"{'remote':'gcp://b','root':'named','delete':'yes'}", "delete"},
    {"{'remote':'gcp://b','root':'named','include':'*.h5'}", "include"},
    /* bounds */
    {"{'remote':'gcp://b','root':'named','every':9}", "every"},
    {"{'remote':'gcp://b','root':'named','every':2592001}", "every"},
    {"{'remote':'gcp://b','root':'named','every':2592000}", NULL},
    {"{'remote':'gcp://b','root':'named','limit':65535}", "limit"},
    {"{'remote':'gcp://b','root':'named','limit':-1}", "limit"},
    /* patterns */
    {"{'remote':'gcp://b','root':'named','include':['']}", "include"},
    {"{'remote':'gcp://b','root':'named','exclude':[7]}", "exclude"},
    /* names that escape */
    {"{'remote':'gcp://b','root':'named','as':'../up/'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'/abs'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':''}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'/'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'a//'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'.hidden'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'a\\nb'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'a/~files'}", "as"},
    {"{'remote':'gcp://b','root':'named','as':'a/files'}", NULL},
    /* files and roots */
    {"{'remote':'gcp://b','root':'named','token-file':'token'}", "token-file"},
    {"{'remote':'gcp://b','root':'named','token-file':'/nonexistent/token'}", "token-file"},
    {"{'remote':'gcp://b','root':'other'}", "root"},
    {"{'remote':'gcp://b'}", "root"}, /* there are several */
};

Test(spec, what_is_wrong_is_named)
{
    for (size_t i = 0; i < HUB_COUNT(checks); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json(checks[i].spec);
        struct hub_error err = {0};
        const enum hub_status st = hub_mirror_check(spec, &kit.roots, &err);
        cr_expect_eq(st, checks[i].parameter ? HUB_INVALID : HUB_OK, "%s: %s", checks[i].spec, err.detail);
        cr_expect_str_eq(err.parameter, checks[i].parameter ? checks[i].parameter : "", "%s", checks[i].spec);
    }
}

Test(spec, a_password_is_not_repeated)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json("{'remote':'http://me:secret@hub','root':'named'}");
    struct hub_error err = {0};
    cr_expect_eq(hub_mirror_check(spec, &kit.roots, &err), HUB_INVALID);
    cr_expect_null(strstr(err.detail, "secret"));
    cr_expect_null(strstr(err.value, "secret"));
}

Test(spec, a_rule_is_an_object_with_100_patterns_at_most)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *array = json_array(), *spec = kit_json("{'remote':'gcp://b','root':'named'}"),
           *patterns = json_array();
    struct hub_error err = {0};
    cr_expect_eq(hub_mirror_check(array, &kit.roots, NULL), HUB_INVALID);
    for (unsigned i = 0; i < 100; i++)
        json_array_append_new(patterns, json_string("*"));
    json_object_set(spec, "include", patterns);
    cr_expect_eq(hub_mirror_check(spec, &kit.roots, NULL), HUB_OK);
    json_array_append_new(patterns, json_string("*"));
    cr_expect_eq(hub_mirror_check(spec, &kit.roots, &err), HUB_INVALID);
    cr_expect_str_eq(err.parameter, "include");
}

Test(spec, what_is_left_out_is_filled_in)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json("{'remote':'gcp://b'}");
    uint32_t root = 99;
    kit.roots.roots[0].read_only = true;
    cr_assert_eq(hub_mirror_check(spec, &kit.roots, NULL), HUB_OK);
    cr_expect_str_eq(json_string_value(json_object_get(spec, "root")), "named",
                     "the only one that may be written");
    cr_expect_eq(json_integer_value(json_object_get(spec, "every")), 6 * 3600);
    cr_assert_eq(hub_mirror_root(spec, &kit.roots, &root, NULL), HUB_OK);
    cr_expect_eq(root, 1);
    json_object_set_new(spec, "root", json_string(kit.roots.roots[0].path));
    cr_expect_eq(hub_mirror_check(spec, &kit.roots, NULL), HUB_INVALID, "it is read only");
    cr_expect_eq(hub_mirror_root(spec, &kit.roots, &root, NULL), HUB_DENIED);
    json_object_set_new(spec, "root", json_string("gone"));
    cr_expect_eq(hub_mirror_root(spec, &kit.roots, &root, NULL), HUB_NOT_FOUND);
}

/* ---- names ---- */

Test(spec, a_rule_is_named_by_its_as_or_its_remote)
{
    static const struct {
        const char *spec, *name;
    } cases[] = {
        {"{'remote':'gcp://minari-datasets/D4RL'}", "minari-datasets-D4RL"},
        {"{'remote':'http://hub:8080'}", "hub-8080"},
        {"{'remote':'http://[::1]:80'}", "1-80"},
        {"{'remote':'gcp://b','as':'lab/'}", "lab"},
        {"{'remote':'gcp://b','as':'a b/\xc3\xa9_.c-v1'}", "a-b-_.c-v1"},
        {"{}", "mirror"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json(cases[i].spec);
        char name[HUB_RULE_NAME_CHARS + 1], tiny[5];
        hub_mirror_name(spec, name, sizeof name);
        cr_expect_str_eq(name, cases[i].name);
        hub_mirror_name(spec, tiny, sizeof tiny);
        cr_expect_lt(strlen(tiny), sizeof tiny);
        cr_expect_eq(hub_mirror_name_check(name, NULL), HUB_OK);
    }
}

Test(spec, names_of_rules)
{
    char name[HUB_RULE_NAME_CHARS + 2];
    static const char *const wrong[] = {"", "a/b", "../x", "a b", "a\n", "\xc3\xa9"};
    for (size_t i = 0; i < HUB_COUNT(wrong); i++)
        cr_expect_eq(hub_mirror_name_check(wrong[i], NULL), HUB_INVALID, "'%s'", wrong[i]);
    memset(name, 'x', sizeof name);
    name[HUB_RULE_NAME_CHARS + 1] = '\0';
    cr_expect_eq(hub_mirror_name_check(name, NULL), HUB_INVALID);
    name[HUB_RULE_NAME_CHARS] = '\0';
    cr_expect_eq(hub_mirror_name_check(name, NULL), HUB_OK);
}

Test(spec, where_a_dataset_goes)
{
    static const struct {
        const char *spec, *id, *path; /* NULL: it cannot go there */
    } cases[] = {
        {"{}", "D4RL/pen-v1", "D4RL/pen-v1"},
        {"{'as':'lab/'}", "D4RL/pen-v1", "lab/D4RL/pen-v1"},
        {"{'as':'mine-v3'}", "D4RL/pen-v1", "mine-v3"},
        {"{}", "../pen-v1", NULL},
        {"{}", "/pen-v1", NULL},
        {"{}", "", NULL},
        {"{'as':'lab/'}", "../../pen-v1", NULL},
        {"{'as':'lab/'}", "", NULL},
        {"{}", "a/files", "a/files"},
        {"{}", "a/files~", "a/files"}, /* the id of that folder on another hub */
        {"{'as':'rows~/'}", "files~", "rows/files"},
        {"{}", "~x", NULL},
        {"{}", ".minari-hub/trash", NULL},
        {"{}", "a\x01", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json(cases[i].spec);
        HUB_CLEANUP(hub_freep) char *path = NULL;
        cr_expect_eq(hub_mirror_path(spec, cases[i].id, &path, NULL), cases[i].path ? HUB_OK : HUB_INVALID,
                     "%s", cases[i].id);
        if (cases[i].path)
            cr_expect_str_eq(path, cases[i].path);
    }
}

/* ---- acts ---- */

static bool is_paused(const char *name)
{
    struct hub_rule rule;
    cr_assert_eq(hub_rule_find(kit.truth, name, &rule, NULL), HUB_OK);
    const bool paused = rule.paused;
    hub_rule_dispose(&rule);
    return paused;
}

Test(spec, acts)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json("{'remote':'gcp://b'}");
    struct hub_rule rule;
    kit_put_rule("mine", "{'remote':'gcp://b'}");
    cr_assert_eq(hub_rule_put(kit.truth, "filed", true, spec, NULL), HUB_OK);
    cr_assert_eq(hub_mirror_act(kit.truth, &kit.roots, "mine", "pause", NULL), HUB_OK);
    cr_expect(is_paused("mine"));
    cr_assert_eq(hub_mirror_act(kit.truth, &kit.roots, "mine", "resume", NULL), HUB_OK);
    cr_expect_not(is_paused("mine"));
    cr_assert_eq(hub_mirror_act(kit.truth, &kit.roots, "mine", "run", NULL), HUB_OK);
    cr_assert_eq(hub_mirror_act(kit.truth, &kit.roots, "mine", "remove", NULL), HUB_OK);
    cr_expect_eq(hub_rule_find(kit.truth, "mine", &rule, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_mirror_act(kit.truth, &kit.roots, "filed", "remove", NULL), HUB_DENIED,
                 "it is in a file");
    cr_expect_eq(hub_mirror_act(kit.truth, &kit.roots, "none", "run", NULL), HUB_NOT_FOUND);
}

Test(spec, two_rules_over_one_place)
{
    static const struct {
        const char *first, *second;
        bool meet;
    } cases[] = {
        {"{'remote':'gcp://a'}", "{'remote':'gcp://b'}", true},
        {"{'remote':'gcp://a'}", "{'remote':'gcp://b','prefix':'D4RL/'}", true},
        {"{'remote':'gcp://a','prefix':'pen/'}", "{'remote':'gcp://a','prefix':'D4RL/'}", false},
        {"{'remote':'gcp://a','as':'lab/'}", "{'remote':'gcp://b','as':'lab/'}", true},
        {"{'remote':'gcp://a','as':'lab/'}", "{'remote':'gcp://b','as':'lab/more/'}", true},
        {"{'remote':'gcp://a','as':'lab/'}", "{'remote':'gcp://b','as':'lab/one'}", true},
        {"{'remote':'gcp://a','as':'lab/'}", "{'remote':'gcp://b','as':'lab'}", false},
        {"{'remote':'gcp://a','as':'lab'}", "{'remote':'gcp://b','as':'lab'}", true},
        {"{'remote':'gcp://a','as':'lab/'}", "{'remote':'gcp://b','as':'other/'}", false},
        {"{'remote':'gcp://a'}", "{'remote':'gcp://b','as':'lab/'}", false},
        {"{'remote':'gcp://a'}", "{'remote':'gcp://b','root':'named'}", false},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *second = kit_json(cases[i].second);
        char note[HUB_MIRROR_NOTE];
        kit_put_rule("first", cases[i].first);
        if (!json_object_get(second, "root"))
            json_object_set_new(second, "root", json_string(kit_path("root")));
        cr_assert_eq(hub_mirror_overlap(kit.truth, "second", second, note, NULL), HUB_OK);
        cr_expect_eq(strncmp(note, "the rule 'first' copies gcp://a", 31) == 0, cases[i].meet, "%zu: %s", i,
                     note);
        cr_assert_eq(hub_mirror_overlap(kit.truth, "first", second, note, NULL), HUB_OK);
        cr_expect_str_eq(note, "", "not itself");
        cr_assert_eq(hub_rule_remove(kit.truth, "first", NULL), HUB_OK);
    }
}
