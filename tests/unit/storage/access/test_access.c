/* storage/access/access.c: which rule decides. */
#include "storage/access/access.h"
#include "storage/ids/id.h"

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
    {"", "lab", "none"}, /* loose files in the folder */
    {"", "lab-v1", "read"},
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
    {"token:ann", "lab/ann", "write"},
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

/* ---- the same by a loop over all rules ---- */

static bool prefix_matches(struct hub_view prefix, struct hub_view id)
{
    struct hub_view alias, inner;
    uint32_t version;
    if (!prefix.size || hub_view_ends(prefix, "/"))
        return (prefix.size <= id.size && memcmp(prefix.data, id.data, prefix.size) == 0) ||
               (prefix.size == id.size + 1 && memcmp(prefix.data, id.data, id.size) == 0);
    return hub_view_equal(prefix, id) ||
           (hub_id_split_alias(id, &alias, &version) && !hub_id_split_alias(alias, &inner, &version) &&
            hub_view_equal(prefix, alias));
}

/* How much a rule weighs among those of one prefix; 0: it is not about the principal. */
static unsigned weight(const struct hub_access_rule *rule, const struct hub_principal *p)
{
    struct hub_who_parts who;
    cr_assert_eq(hub_who_read(hub_view_of(rule->who), &who, NULL), HUB_OK);
    switch (who.kind) {
    case HUB_WHO_ALL:
        return 1;
    case HUB_WHO_SIGNED_IN:
        return p->token || p->user ? 2 : 0;
    case HUB_WHO_NETWORK:
        return hub_cidr_has(&who.network, &p->address) ? 3 + who.network.bits : 0;
    case HUB_WHO_GROUP:
        for (uint32_t i = 0; i < p->group_count; i++)
            if (hub_view_is(who.name, p->groups[i]))
                return 200 + rule->level;
        return 0;
    case HUB_WHO_USER:
        return p->user && hub_view_is(who.name, p->user) ? 300 + rule->level : 0;
    case HUB_WHO_TOKEN:
        return p->token && hub_view_is(who.name, p->token) ? 300 + rule->level : 0;
    }
    return 0;
}

static enum hub_level naive_level(const struct hub_access_rule *all, uint32_t count,
                                  const struct hub_principal *p, struct hub_view id)
{
    enum hub_level level = HUB_LEVEL_READ, whole = HUB_LEVEL_READ;
    size_t longest = 0;
    unsigned best = 0, best_whole = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_view prefix = hub_view_of(all[i].prefix);
        const unsigned is = weight(&all[i], p);
        /* a name is longer than the folder of the same name, and both longer than all others */
        const size_t size = 2 * (prefix.size - hub_view_ends(prefix, "/")) + !hub_view_ends(prefix, "/");
        if (is && !prefix.size && is > best_whole) {
            best_whole = is;
            whole = all[i].level;
        }
        if (!is || !prefix_matches(prefix, id) || (best && size < longest) ||
            (best && size == longest && is <= best))
            continue;
        best = is;
        longest = size;
        level = all[i].level;
    }
    return whole == HUB_LEVEL_ADMIN ? HUB_LEVEL_ADMIN : level;
}

static const char *const whos[] = {
    "*",       "signed-in", "token:a",        "token:b",         "user:u",       "user:v",
    "group:g", "group:h",   "net:10.0.0.0/8", "net:10.1.0.0/16", "net:fd00::/8", "net:0.0.0.0/0"};
static const char *const prefixes[] = {"",      "a/",       "a/b/", "a/b",    "a/b-v1", "a/b-v2", "a-v1", "a",
                                       "a/b/c", "a/b/c-v3", "x/",   "x/y-v1", "b",      "b-v1/",  "b-v1"};
static const char *const ids[] = {"a",      "a-v1",  "a-v2",     "a/b",   "a/b-v1", "a/b-v2",
                                  "a/b-v3", "a/b/c", "a/b/c-v3", "a/b/d", "a/c",    "x/y-v1",
                                  "x/y-v2", "x/y",   "b",        "b-v1",  "b-v1/c", "b-v2",
                                  "z",      "a/",    "a/b/",     "x/",    "b-v1-v1"};
static const char *const askers[] = {"",
                                     "token:a",
                                     "token:b 10.1.2.3",
                                     "token:zzz",
                                     "user:u",
                                     "user:v group:g 10.2.3.4",
                                     "user:w group:g group:h",
                                     "10.1.2.3",
                                     "10.200.0.1",
                                     "fd12::1",
                                     "192.168.0.1",
                                     "local"};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void compare(const struct hub_access_table *table, const struct hub_access_rule *all, uint32_t count)
{
    for (size_t a = 0; a < HUB_COUNT(askers); a++) {
        struct asker asker;
        uint64_t mask[HUB_ACCESS_MASK_WORDS];
        ask_as(askers[a], &asker);
        hub_access_mask(table, &asker.is, mask);
        for (size_t i = 0; i < HUB_COUNT(ids); i++) {
            const struct hub_view id = hub_view_of(ids[i]);
            const enum hub_level level = hub_access_level(table, &asker.is, id);
            const enum hub_level naive =
                asker.is.local_admin ? HUB_LEVEL_ADMIN : naive_level(all, count, &asker.is, id);
            cr_assert_eq(level, naive, "\"%s\" of %s: %s, not %s", askers[a], ids[i], hub_level_names[level],
                         hub_level_names[naive]);
            cr_assert_eq(hub_access_mask_has(mask, hub_access_class(table, id)), level >= HUB_LEVEL_READ);
        }
    }
}

Test(access, decides_as_a_loop_over_all_rules)
{
    uint32_t seed = 1;
    const struct hub_token tokens[] = {{.name = "a", .id = "aaaaaaaaaa"}, {.name = "b", .id = "bbbbbbbbbb"}};
    for (int round = 0; round < 400; round++) {
        struct hub_access_rules drawn = {0};
        struct hub_access_table *table = NULL;
        struct hub_error err = {0};
        uint32_t count = next_random(&seed) % 25, kept;
        for (uint32_t i = 0; i < count; i++) {
            const struct hub_access_rule rule = {.who = whos[next_random(&seed) % HUB_COUNT(whos)],
                                                 .prefix = prefixes[next_random(&seed) % HUB_COUNT(prefixes)],
                                                 .level = next_random(&seed) % 3 ? next_random(&seed) % 4
                                                                                 : HUB_LEVEL_NONE};
            cr_assert_eq(hub_access_rules_add(&drawn, &rule, &err), HUB_OK, "%s", err.detail);
        }
        cr_assert_eq(hub_access_new(drawn.items, drawn.count, tokens, 2, &table, &err), HUB_OK);
        const struct hub_access_rule *all = hub_access_rules_of(table, &kept);
        compare(table, all, kept);
        hub_access_put(table);
        hub_access_rules_dispose(&drawn);
    }
}

/* By a rule of their own, of a group, a network or of everybody; not where a closer one takes it away. */
Test(access, who_writes_something)
{
    static const char *const lines[] = {"* none lab/",
                                        "token:ann write lab/ann/",
                                        "token:bob read lab/",
                                        "group:chiefs admin lab/",
                                        "net:10.0.0.0/8 write open/",
                                        "token:cut write own",
                                        "token:root admin ",
                                        NULL};
    static const struct {
        const char *who;
        bool writes;
    } writers[] = {
        {"token:ann", true},          {"token:bob", false}, {"group:chiefs", true}, {"10.1.2.3", true},
        {"192.168.0.1", false},       {"token:cut", true},  {"token:root", true},   {"", false},
        {"token:bob 10.1.1.1", true}, {"local", true}};
    struct hub_access_table *table = table_of(lines);
    for (size_t i = 0; i < HUB_COUNT(writers); i++) {
        struct asker asker;
        ask_as(writers[i].who, &asker);
        cr_expect_eq(hub_access_writes_some(table, &asker.is), writers[i].writes, "%s", writers[i].who);
        asker.is.reads_only = true;
        if (!asker.is.local_admin)
            cr_expect_not(hub_access_writes_some(table, &asker.is), "%s by a link", writers[i].who);
    }
    hub_access_put(table);
}

Test(access, explains)
{
    struct hub_access_table *table = table_of(rules);
    struct asker asker;
    ask_as("user:bob", &asker);
    struct hub_access_decision is = hub_access_explain(table, &asker.is, HUB_VIEW("lab/arm-v1"));
    cr_assert_eq(is.why, HUB_ACCESS_RULE);
    cr_expect_str_eq(is.rule->who, "user:bob");
    cr_expect_str_eq(is.rule->prefix, "lab/arm");
    is = hub_access_explain(table, &asker.is, HUB_VIEW("public"));
    cr_expect(is.why == HUB_ACCESS_DEFAULT && !is.rule && is.level == HUB_LEVEL_READ);
    ask_as("token:boss", &asker);
    is = hub_access_explain(table, &asker.is, HUB_VIEW("lab/x"));
    cr_expect(is.why == HUB_ACCESS_HUB_ADMIN && is.level == HUB_LEVEL_ADMIN);
    cr_expect_str_eq(is.rule->prefix, "");
    ask_as("local", &asker);
    cr_expect_eq(hub_access_explain(table, &asker.is, HUB_VIEW("lab/x")).why, HUB_ACCESS_LOCAL_ADMIN);
    cr_expect(hub_access_is_ruled(table, HUB_VIEW("lab/nothing-there")));
    hub_access_put(table);
}

Test(access, of_two_rules_the_declared_one_counts)
{
    struct hub_access_rules all = {0};
    struct hub_access_table *table = NULL;
    uint32_t count;
    static const struct {
        const char *line;
        bool from_file;
    } given[] = {{"* none a/", false},   {"* read a/", true},    {"* none a/", false},
                 {"user:u read", false}, {"user:u none", false}, {"net:10.0.0.0/8 none b", false}};
    for (size_t i = 0; i < HUB_COUNT(given); i++)
        cr_assert_eq(hub_access_rules_read(&all, hub_view_of(given[i].line), given[i].from_file, NULL),
                     HUB_OK);
    cr_assert_eq(hub_access_new(all.items, all.count, NULL, 0, &table, NULL), HUB_OK);
    const struct hub_access_rule *kept = hub_access_rules_of(table, &count);
    cr_assert_eq(count, 3);
    cr_expect(strcmp(kept[0].who, "user:u") == 0 && kept[0].level == HUB_LEVEL_NONE,
              "the last of the stored");
    cr_expect(strcmp(kept[1].who, "*") == 0 && kept[1].level == HUB_LEVEL_READ && kept[1].from_file);
    hub_access_put(table);
    hub_access_rules_dispose(&all);
}

/* Prefixes below which nothing is hidden are one class. */
Test(access, only_what_is_hidden_makes_classes)
{
    static const char *const lines[] = {"user:u write a/", "* none b/", "user:u read b/c/", "* read", NULL};
    struct hub_access_table *table = table_of(lines);
    cr_expect_eq(hub_access_class_count(table), 3);
    cr_expect_eq(hub_access_class(table, HUB_VIEW("a/x")), 0);
    cr_expect_eq(hub_access_class(table, HUB_VIEW("z")), 0);
    cr_expect_neq(hub_access_class(table, HUB_VIEW("b/x")), hub_access_class(table, HUB_VIEW("b/c/x")));
    hub_access_put(table);
}
