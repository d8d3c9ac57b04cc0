/* storage/access/access.c: which rule decides. */
#include "storage/access/access.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static struct hub_access_table *table_of(const char *const *lines)
{
    struct hub_access_rules rules = {0};
    struct hub_access_table *table = NULL;
    struct hub_error err = {0};
    for (; *lines; lines++)
        cr_assert_eq(hub_access_rules_read(&rules, hub_view_of(*lines), false, &err), HUB_OK, "%s: %s",
                     *lines, err.detail);
    cr_assert_eq(hub_access_new(rules.items, rules.count, NULL, 0, &table, &err), HUB_OK, "%s", err.detail);
    hub_access_rules_dispose(&rules);
    return table;
}

/* Who asks, as text: words of token:NAME, user:NAME, group:NAME and addresses. */
struct asker {
    struct hub_principal is;
    char words[8][64];
    const char *groups[8];
};
static void ask_as(const char *who, struct asker *out)
{
    char text[256], *rest = NULL;
    *out = (struct asker){0};
    snprintf(text, sizeof text, "%s", who);
    unsigned n = 0;
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest), n++) {
        const char *colon = strchr(word, ':');
        snprintf(out->words[n], sizeof out->words[n], "%s", colon ? colon + 1 : word);
        if (strncmp(word, "token:", 6) == 0)
            out->is.token = out->words[n];
        else if (strncmp(word, "user:", 5) == 0)
            out->is.user = out->words[n];
        else if (strncmp(word, "group:", 6) == 0)
            out->groups[out->is.group_count++] = out->words[n];
        else if (strcmp(word, "local") == 0)
            out->is.local_admin = true;
        else
            cr_assert(hub_address_read(hub_view_of(word), &out->is.address), "%s", word);
    }
    out->is.groups = out->groups;
}

static const char *const rules[] = {
    "* none lab/",
    "signed-in read lab/shared/",
    "token:ann write lab/ann/",
    "token:ann none lab/ann/frozen",
    "user:bob label lab/",
    "user:bob read lab/arm",
    "group:staff read lab/",
    "group:chiefs write lab/",
    "group:staff none lab/arm-v2",
    "net:10.0.0.0/8 read lab/",
    "net:10.1.0.0/16 none lab/",
    "net:fd00::/8 label lab/",
    "token:boss admin",
    "* none lab/arm",
    "* none secret",
    "token:carl read secret-v3",
    "user:dora admin dora/",
    NULL,
};

static const struct {
    const char *who, *id, *level;
} cases[] = {
    {"", "public", "read"},
    {"", "public/x-v1", "read"},
    {"", "lab", "read"}, /* lab/ is what lies below */
    {"", "labs/x", "read"},
    {"", "lab/x", "none"},
    {"", "lab/x/y/z-v1", "none"},
    {"", "lab/", "none"},
    {"", "lab/arm", "none"},
    {"", "secret", "none"},
    {"", "secret-v1", "none"},
    {"", "secret-v10", "none"},
    {"", "secret-vx", "read"},
    {"", "secrets", "read"},
    {"", "secret/x", "read"},
    {"", "x/secret", "read"},
    {"local", "lab/x", "admin"},
    {"local", "public", "admin"},
    {"token:nobody", "lab/x", "none"},
    {"token:nobody", "lab/shared/x", "read"},
    {"", "lab/shared/x", "none"},
    {"user:eve", "lab/shared/x", "read"},
    {"group:staff", "lab/x", "read"}, /* a group counts without a user, too */
    {"token:ann", "lab/ann/x", "write"},
    {"token:ann", "lab/ann/deep/x", "write"},
    {"token:ann", "lab/ann/frozen", "none"},
    {"token:ann", "lab/ann/frozen-v7", "none"},
    {"token:ann", "lab/ann/frozen/x", "write"},
    {"token:ann", "lab/ann", "none"},
    {"token:ann", "lab/x", "none"},
    {"token:Ann", "lab/ann/x", "none"},
    {"token:anna", "lab/ann/x", "none"},
    {"user:ann", "lab/ann/x", "none"},
    {"token:ann", "public", "read"},
    {"user:bob", "lab/x", "label"},
    {"user:bob", "lab/arm", "read"},
    {"user:bob", "lab/arm-v1", "read"},
    {"user:bob", "lab/arm-v2", "read"},
    {"user:bob group:staff", "lab/arm-v2", "none"}, /* the longer prefix */
    {"user:bob group:chiefs", "lab/x", "label"},    /* a user before groups */
    {"user:eve group:staff", "lab/x", "read"},
    {"user:eve group:staff group:chiefs", "lab/x", "write"},
    {"user:eve group:chiefs group:staff", "lab/x", "write"},
    {"user:eve group:chiefs group:staff", "lab/arm-v2", "none"},
    {"user:eve group:chiefs", "lab/arm-v2", "none"}, /* by * none lab/arm */
    {"user:eve group:strangers", "lab/x", "none"},
    {"10.2.3.4", "lab/x", "read"},
    {"10.1.3.4", "lab/x", "none"}, /* the smaller network */
    {"11.2.3.4", "lab/x", "none"},
    {"::ffff:10.2.3.4", "lab/x", "read"},
    {"fd12::1", "lab/x", "label"},
    {"fe80::1", "lab/x", "none"},
    {"10.2.3.4", "lab/arm", "none"},
    {"token:nobody 10.2.3.4", "lab/x", "read"},
    {"token:nobody 10.1.3.4", "lab/shared/x", "read"},
    {"user:bob 10.1.3.4", "lab/x", "label"},
    {"user:eve group:staff 10.1.3.4", "lab/x", "read"},
    {"token:boss", "lab/x", "admin"}, /* for whom nothing is hidden */
    {"token:boss", "lab/arm-v2", "admin"},
    {"token:boss", "public", "admin"},
    {"token:carl", "secret-v3", "read"},
    {"token:carl", "secret-v2", "none"},
    {"token:carl", "secret", "none"},
    {"token:carl", "secret-v03", "none"},
    {"user:dora", "dora/x", "admin"},
    {"user:dora", "lab/x", "none"},
    {"user:dora", "public", "read"},
    {"token:boss user:bob", "lab/x", "admin"},
    {"token:ann user:bob", "lab/x", "label"},
};

Test(access, decides)
{
    struct hub_access_table *table = table_of(rules);
    cr_assert_geq(HUB_COUNT(cases), 60);
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct asker asker;
        uint64_t mask[HUB_ACCESS_MASK_WORDS];
        const struct hub_view id = hub_view_of(cases[i].id);
        ask_as(cases[i].who, &asker);
        const enum hub_level level = hub_access_level(table, &asker.is, id);
        cr_expect_str_eq(hub_level_names[level], cases[i].level, "\"%s\" of %s is %s", cases[i].who,
                         cases[i].id, hub_level_names[level]);
        hub_access_mask(table, &asker.is, mask);
        cr_expect_eq(hub_access_mask_has(mask, hub_access_class(table, id)), level >= HUB_LEVEL_READ,
                     "the mask of \"%s\" for %s", cases[i].who, cases[i].id);
    }
    hub_access_put(table);
}

Test(access, no_rule_hides_nothing)
{
    struct hub_access_table *table = table_of((const char *const[]){NULL});
    uint64_t mask[HUB_ACCESS_MASK_WORDS];
    cr_expect(hub_access_is_open(table));
    cr_expect_not(hub_access_hides(table));
    cr_expect_eq(hub_access_class_count(table), 1);
    cr_expect_eq(hub_access_class(table, HUB_VIEW("lab/x")), 0);
    cr_expect_eq(hub_access_level(table, &(struct hub_principal){0}, HUB_VIEW("lab/x")), HUB_LEVEL_READ);
    hub_access_mask(table, &(struct hub_principal){0}, mask);
    cr_expect_eq(mask[0], 1);
    hub_access_put(table);
}
