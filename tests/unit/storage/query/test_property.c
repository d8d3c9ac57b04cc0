/* The rows of properties, and what is written of them elsewhere. */
#include "storage/query/where.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>

#include <fcntl.h>
#include <stdio.h>

Test(property, words_are_found)
{
    for (unsigned i = 0; i < HUB_PROPERTY_ATTRIBUTE; i++) {
        enum hub_property_kind kind;
        const char *word = hub_property_word((enum hub_property_kind)i);
        cr_assert(hub_property_find(hub_view_of(word), &kind));
        cr_assert_eq(kind, i);
    }
    enum hub_property_kind kind;
    cr_assert_not(hub_property_find(HUB_VIEW("attribute"), &kind));
    cr_assert_not(hub_property_find(HUB_VIEW(""), &kind));
}

Test(property, a_spelt_name_is_read_as_the_same)
{
    static const char *const names[] = {
        "steps",           "jerk", "mean(\"obs/x\")", "max(\"a\"\"b\")", "\"level\"",
        "\"a \"\"b\"\"\"", "\"\"", "first(\"x\")",    "last(\"x\")[12]"};
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        HUB_CLEANUP(hub_where_freep) struct hub_where *holder = NULL;
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(100);
        struct hub_property name;
        cr_assert_eq(hub_property_parse(hub_view_of(names[i]), &holder, &name, NULL), HUB_OK);
        cr_assert_eq(hub_property_spell(&name, &out, NULL), HUB_OK);
        cr_assert_str_eq(out.data, names[i]);
    }
}

Test(property, each_metric_has_a_rule)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < HUB_ODD_RULES; i++) {
        const struct hub_odd_rule *rule = hub_odd_rule(i);
        cr_assert(hub_property_is_series(rule->of), "%s", rule->name);
        seen += hub_property_row(rule->of)->is_metric;
        for (unsigned k = 0; k < i; k++)
            cr_assert_str_neq(rule->name, hub_odd_rule(k)->name);
        cr_assert_eq(rule->test == HUB_ODD_ABOVE || rule->test == HUB_ODD_LASTING, i >= 4 && i < 10, "%s",
                     rule->name);
    }
    cr_assert_eq(seen, HUB_METRIC_COUNT);
    for (unsigned m = 0; m < HUB_METRIC_COUNT; m++)
        cr_assert(hub_metric_row(m)->is_metric && hub_metric_row(m)->how_far);
}

/* The guide has a line for each row. */
Test(property, the_guide_names_all)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf guide = HUB_BUF_INIT(MIB);
    cr_assert_eq(hub_fs_read(AT_FDCWD, HUB_FIXTURES "/../../web/guide/api.md", &guide, NULL), HUB_OK);
    for (unsigned i = 0; i < HUB_PROPERTY_ATTRIBUTE; i++) {
        const struct hub_property_row *row = hub_property_row((enum hub_property_kind)i);
        char line[300];
        snprintf(line, sizeof line, "\n| `%s%s` | %s | %s |\n", row->word, row->of_field ? "(\"FIELD\")" : "",
                 row->unit, row->meaning);
        cr_assert(strstr(guide.data, line), "web/guide/api.md lacks the line%s", line);
    }
}
