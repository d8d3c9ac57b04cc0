/* storage/access/rule.c: rules as text. */
#include "storage/access/rule.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct line_case {
    char line[100];
    char who[60];
    char prefix[40];
    enum hub_level level;
};

ParameterizedTestParameters(rule, lines)
{
    static struct line_case cases[] = {
        {"* none lab/", "*", "lab/", HUB_LEVEL_NONE},
        {"signed-in read", "signed-in", "", HUB_LEVEL_READ},
        {"  token:ann   write\tlab/ann/  ", "token:ann", "lab/ann/", HUB_LEVEL_WRITE},
        {"user:ann@lab.example label lab/arm", "user:ann@lab.example", "lab/arm", HUB_LEVEL_LABEL},
        {"group:Domain Users read lab/", "group:Domain Users", "lab/", HUB_LEVEL_READ},
        {"group:/lab/staff admin", "group:/lab/staff", "", HUB_LEVEL_ADMIN},
        {"net:10.0.0.0/8 read lab/a b/", "net:10.0.0.0/8", "lab/a b/", HUB_LEVEL_READ},
        {"net:10.1.2.3 read x", "net:10.1.2.3/32", "x", HUB_LEVEL_READ},
        {"net:FD00:0::/8 read x", "net:fd00::/8", "x", HUB_LEVEL_READ},
        {"net:::1 read x", "net:::1/128", "x", HUB_LEVEL_READ},
        {"net:0.0.0.0/0 none", "net:0.0.0.0/0", "", HUB_LEVEL_NONE},
        {"* none lab/files/", "*", "lab/files~/", HUB_LEVEL_NONE}, /* as the id has it */
        {"* none lab/files~/", "*", "lab/files~/", HUB_LEVEL_NONE},
        {"* none lab/arm-v2", "*", "lab/arm-v2", HUB_LEVEL_NONE},
        {"user:read read read", "user:read", "read", HUB_LEVEL_READ},
    };
    return cr_make_param_array(struct line_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct line_case *c, rule, lines)
{
    struct hub_access_rules rules = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_access_rules_read(&rules, hub_view_of(c->line), true, &err), HUB_OK, "%s: %s", c->line,
                 err.detail);
    cr_assert_eq(rules.count, 1);
    cr_expect_str_eq(rules.items[0].who, c->who);
    cr_expect_str_eq(rules.items[0].prefix, c->prefix);
    cr_expect_eq(rules.items[0].level, c->level);
    cr_expect(rules.items[0].from_file);
    hub_access_rules_dispose(&rules);
}

Test(rule, that_are_none)
{
    static const char *const lines[] = {"",
                                        "*",
                                        "* lab/",
                                        "none lab/",
                                        "** none lab/",
                                        "everybody none lab/",
                                        "token: read",
                                        "token:-a read",
                                        "token:a/b read",
                                        "token:a b read",
                                        "user: read",
                                        "user:a\x01 read",
                                        "group: read",
                                        "net: read",
                                        "net:10.0.0.1/8 read",
                                        "net:10.0.0.0/33 read",
                                        "net:10.0.0 read",
                                        "net:fd00::/129 read",
                                        "net:example.com read",
                                        "* Read lab/",
                                        "* none /lab/",
                                        "* none lab//",
                                        "* none /",
                                        "* none ../lab/",
                                        "* none lab/../x",
                                        "* none lab/.git/",
                                        "* none lab/*",
                                        "* admin"};
    for (size_t i = 0; i < HUB_COUNT(lines); i++) {
        struct hub_access_rules rules = {0};
        struct hub_error err = {0};
        const bool globs = strchr(lines[i], '/') && hub_view_ends(hub_view_of(lines[i]), "/*");
        cr_expect_eq(hub_access_rules_read(&rules, hub_view_of(lines[i]), false, &err),
                     globs ? HUB_OK : HUB_INVALID, "%s", lines[i]); /* '*' may be in a name */
        cr_expect_eq(rules.count, globs);
        cr_expect(globs || *err.detail);
        hub_access_rules_dispose(&rules);
    }
}

Test(rule, the_error_names_the_network)
{
    struct hub_access_rules rules = {0};
    struct hub_error err = {0};
    cr_expect_eq(hub_access_rules_read(&rules, HUB_VIEW("net:10.1.2.3/8 read"), false, &err), HUB_INVALID);
    cr_expect(strstr(err.detail, "write 10.0.0.0/8"), "%s", err.detail);
}
