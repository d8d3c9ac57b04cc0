#include "client/cli/tree.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct text_case {
    uint64_t n;
    char text[16];
};

ParameterizedTestParameters(table, numbers)
{
    static struct text_case cases[] = {
        {0, "0"},           {999, "999"},          {1000, "1K"},
        {1499, "1K"},       {1500, "2K"},          {2500, "2K"}, /* half to even */
        {6729, "7K"},       {999499, "999K"},      {999500, "1000K"},
        {1000000, "1M"},    {338004, "338K"},      {49758953, "50M"},
        {1000000000, "1B"}, {2500000000000, "2T"}, {UINT64_MAX, "18446744T"},
    };
    return cr_make_param_array(struct text_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct text_case *c, table, numbers)
{
    char text[TABLE_NUMBER];
    table_number(c->n, text);
    cr_assert_str_eq(text, c->text);
}

ParameterizedTestParameters(table, sizes)
{
    static struct text_case cases[] = {
        {0, "0.0 MB"},
        {7100000, "7.1 MB"},
        {999960000, "1000.0 MB"},
        {1000000000, "1.00 GB"},
        {1096400000, "1.10 GB"},
        {1234567000000, "1.23 TB"},
        {999999000000000, "1000.00 TB"},
    };
    return cr_make_param_array(struct text_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct text_case *c, table, sizes)
{
    char text[TABLE_NUMBER];
    hub_number_size(c->n, text);
    cr_assert_str_eq(text, c->text);
}

/* Namespace and id of "D4RL/door/human-v2". */
static struct minari_summary dataset(const char *id, const char *ns, const char *const *authors)
{
    return (struct minari_summary){.id = id,
                                   .ns = ns,
                                   .name = "x",
                                   .version = 0,
                                   .format = "minari-hdf5",
                                   .status = "ready",
                                   .episodes = 10,
                                   .steps = 1000,
                                   .size = 1000000,
                                   .authors = authors,
                                   .author_count = authors ? 1 : 0};
}

static const char *name_at(const struct text_table *t, size_t row)
{
    const char *text = t->rows[row].cells[0];
    return text ? text : "--";
}

/* Breadth first, as Minari's own list: the first group with more than one child is opened whatever its size.
 */
Test(tree, big_groups_become_one_row)
{
    static const char *const someone[] = {"someone"};
    struct minari_summary all[15];
    const struct minari_summary *list[15];
    char ids[12][40], caption[128];
    struct text_table t = {0};
    all[0] = dataset("D4RL/door/human-v2", "D4RL/door", NULL);
    all[1] = dataset("D4RL/pen/human-v2", "D4RL/pen", NULL);
    for (int i = 0; i < 12; i++) {
        snprintf(ids[i], sizeof ids[i], "atari/game-%02d-v0", i);
        all[2 + i] = dataset(ids[i], "atari", someone);
    }
    all[14] = dataset("alone-v0", NULL, NULL);
    for (int i = 0; i < 15; i++)
        list[i] = &all[i];
    cr_assert(tree_fill(&t, list, 15, false, caption));
    cr_assert_str_eq(caption, "Number of datasets: 15, total size: 15.0 MB");
    cr_assert_str_eq(name_at(&t, 0), "atari/... (12 datasets)");
    cr_assert_str_eq(t.rows[0].cells[1], "120");
    cr_assert_str_eq(t.rows[0].cells[2], "12K");
    cr_assert_str_eq(t.rows[0].cells[3], "12.0 MB");
    cr_assert_str_eq(t.rows[0].cells[4], "someone");
    cr_assert_str_eq(name_at(&t, 1), "--");
    cr_assert_str_eq(name_at(&t, 2), "alone-v0");
    bool opened = false;
    for (size_t i = 3; i < t.row_count; i++)
        opened = opened || !strcmp(name_at(&t, i), "D4RL/door/human-v2");
    cr_assert(opened);
    table_dispose(&t);
}

Test(tree, a_single_group_is_opened)
{
    struct minari_summary all[12];
    const struct minari_summary *list[12];
    char ids[12][40], caption[128];
    struct text_table t = {0};
    for (int i = 0; i < 12; i++) {
        snprintf(ids[i], sizeof ids[i], "atari/game-%02d-v0", i);
        all[i] = dataset(ids[i], "atari", NULL);
        list[i] = &all[i];
    }
    cr_assert(tree_fill(&t, list, 12, false, caption));
    cr_assert_str_eq(name_at(&t, 0), "atari/game-00-v0");
    cr_assert_str_eq(name_at(&t, 11), "atari/game-11-v0");
    cr_assert_str_eq(t.rows[0].cells[4], "Unknown");
    table_dispose(&t);
}

Test(tree, an_order_that_was_asked_for_stays)
{
    struct minari_summary all[] = {dataset("lab/deep/big-v0", "lab/deep", NULL), dataset("a-v0", NULL, NULL),
                                   dataset("lab/small-v0", "lab", NULL)};
    const struct minari_summary *list[] = {&all[0], &all[1], &all[2]};
    char caption[128];
    struct text_table t = {0};
    cr_assert(tree_fill(&t, list, 3, true, caption));
    cr_assert_eq(t.row_count, 3);
    for (size_t i = 0; i < 3; i++)
        cr_assert_str_eq(name_at(&t, i), all[i].id);
    cr_assert_str_eq(caption, "Number of datasets: 3, total size: 3.0 MB");
    table_dispose(&t);
}

Test(tree, columns_for_what_is_not_minaris)
{
    struct minari_summary a = dataset("a-v0", NULL, NULL), b = dataset("b", NULL, NULL);
    const struct minari_summary *list[] = {&a, &b};
    char caption[128];
    struct text_table t = {0};
    b.format = "lerobot";
    b.status = "broken";
    cr_assert(tree_fill(&t, list, 2, false, caption));
    cr_assert_eq(t.count, 7);
    cr_assert_str_eq(t.columns[4].name, "Format");
    cr_assert_str_eq(t.columns[5].name, "Status");
    cr_assert_str_eq(t.rows[1].cells[4], "lerobot");
    cr_assert_str_eq(t.rows[1].cells[5], "broken");
    table_dispose(&t);
    a.unloadable = true;
    t = (struct text_table){0};
    cr_assert(tree_fill(&t, list, 1, false, caption));
    cr_assert_str_eq(t.rows[0].cells[4], "not loadable");
    table_dispose(&t);
}

Test(table, printing)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct text_table t = {.columns = {{"Name", false}, {"N", true}}, .count = 2};
    cr_assert(
        table_add(&t, (const char *const[]){"h\xc3\xa9\033[31m", "1"})); /* an escape cannot get through */
    cr_assert(table_add(&t, NULL));
    cr_assert(table_add(&t, (const char *const[]){"longer", "22"}));
    table_print(&t, out, false, false);
    fflush(out);
    cr_assert_str_eq(text, "Name      N\nh\xc3\xa9?[31m   1\nlonger   22\n");
    fclose(out);
    free(text);
    out = open_memstream(&text, &size);
    table_print(&t, out, true, false);
    fclose(out);
    cr_assert_str_eq(text, "┏━━━━━━━━━┳━━━━┓\n"
                           "┃ Name    ┃  N ┃\n"
                           "┡━━━━━━━━━╇━━━━┩\n"
                           "│ h\xc3\xa9?[31m │  1 │\n"
                           "├─────────┼────┤\n"
                           "│ longer  │ 22 │\n"
                           "└─────────┴────┘\n");
    free(text);
    table_dispose(&t);
}
