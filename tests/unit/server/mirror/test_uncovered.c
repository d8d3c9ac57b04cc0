/* server/mirror/uncovered.c: rules with a token file whose copies anybody may read. */
#include "kit.h"
#include "server/mirror/uncovered.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(uncovered, .init = kit_begin, .fini = kit_end);

#define TOKEN "'remote':'hf://org','token-file':'/t',"

static const struct {
    const char *spec;  /* ' stands for " */
    const char *rule;  /* of access; NULL: none */
    const char *hides; /* the prefix that is offered; NULL: nothing is said */
} cases[] = {
    {"{'remote':'hf://org','root':'named'}", NULL, NULL},
    {"{" TOKEN "'root':'named','as':'copy/'}", NULL, "named/copy/"},
    {"{" TOKEN "'root':'named','as':'one'}", NULL, "named/one"},
    {"{" TOKEN "'root':'named'}", NULL, "named/"},
    {"{" TOKEN "'root':'named','prefix':'D4RL/door/human'}", NULL, "named/D4RL/door/"},
    {"{" TOKEN "'root':'named','as':'one','prefix':'D4RL/door'}", NULL, "named/one"},
    {"{" TOKEN "'root':'/path','as':'copy/'}", NULL, "copy/"},
    {"{" TOKEN "'root':'/path'}", NULL, "NAME/"},
    /* a rule of anybody decides, whatever it says */
    {"{" TOKEN "'root':'named','as':'copy/'}", "* none named/copy/", NULL},
    {"{" TOKEN "'root':'named','as':'copy/'}", "* none", NULL},
    {"{" TOKEN "'root':'named','as':'copy/'}", "* read named/", NULL},
    {"{" TOKEN "'root':'named','as':'copy/'}", "token:ann read named/copy/", "named/copy/"},
    {"{" TOKEN "'root':'named','as':'copy/'}", "* none named/other/", "named/copy/"},
};

static struct hub_access_table *compile(const char *line)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules all = {0};
    struct hub_access_table *table = NULL;
    if (!line)
        return NULL;
    cr_assert_eq(hub_access_rules_read(&all, hub_view_of(line), false, NULL), HUB_OK);
    cr_assert_eq(hub_access_new(all.items, all.count, NULL, 0, &table, NULL), HUB_OK);
    return table;
}

Test(uncovered, names_the_command)
{
    static struct hub_roots roots = {.roots = {{.name = "named", .path = "/named"}, {.path = "/path"}},
                                     .count = 2};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json(cases[i].spec);
        struct hub_access_table *table = compile(cases[i].rule);
        char note[HUB_MIRROR_NOTE] = "", command[200];
        const bool said = hub_mirror_uncovered(spec, &roots, table, note);
        snprintf(command, sizeof command, "`minari-hub access set '*' none %s`", cases[i].hides);
        cr_expect_eq(said, cases[i].hides != NULL, "%zu: %s", i, note);
        cr_expect(said ? strstr(note, command) != NULL : !*note, "%zu: %s", i, note);
        hub_access_put(table);
    }
}

Test(uncovered, follows_another_note)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = kit_json(cases[1].spec);
    char note[HUB_MIRROR_NOTE] = "before";
    cr_expect(hub_mirror_uncovered(spec, &(struct hub_roots){0}, NULL, note));
    cr_expect(strncmp(note, "before; it takes", 16) == 0, "%s", note);
}
