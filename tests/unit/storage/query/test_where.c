/* What `where` says, and of which episodes it holds. */
#include "storage/query/where.h"

#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>

/* ---- an episode ---- */

#define INTEGER(n)                                                                                           \
    {                                                                                                        \
        .kind = HUB_VALUE_INT, .number = (n)                                                                 \
    }
#define REAL(x)                                                                                              \
    {                                                                                                        \
        .kind = HUB_VALUE_REAL, .real = (x)                                                                  \
    }
#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        .kind = HUB_VALUE_TEXT, .text = {(literal), sizeof(literal) - 1 }                                    \
    }

static const struct {
    enum hub_property_kind kind;
    const char *of;
    struct hub_value values[2];
    size_t count;
} has[] = {
    {HUB_PROPERTY_NUMBER, "", {INTEGER(7)}, 1},
    {HUB_PROPERTY_STEPS, "", {INTEGER(9007199254740993)}, 1}, /* 2^53 + 1 */
    {HUB_PROPERTY_SEED, "", {{.kind = HUB_VALUE_UINT, .large = UINT64_MAX}}, 1},
    {HUB_PROPERTY_RETURN, "", {REAL(2.5)}, 1},
    {HUB_PROPERTY_SUCCESS, "", {INTEGER(1)}, 1},
    {HUB_PROPERTY_TASK, "", {TEXT("lift"), TEXT("it's")}, 2},
    {HUB_PROPERTY_NAME, "", {TEXT("demo_7")}, 1},
    {HUB_PROPERTY_MEAN, "rewards", {REAL(NAN)}, 1},
    {HUB_PROPERTY_MAX, "a\"b", {REAL(1e300)}, 1},
    {HUB_PROPERTY_ATTRIBUTE, "level", {TEXT("hard")}, 1},
    {HUB_PROPERTY_ATTRIBUTE, "negative", {INTEGER(INT64_MIN)}, 1},
    {HUB_PROPERTY_ATTRIBUTE, "wide", {TEXT("9007199254740993")}, 1},
    {HUB_PROPERTY_ATTRIBUTE, "digits", {TEXT("1234")}, 1},
};

static enum hub_status get(void *user, const struct hub_property *name, struct hub_values *out,
                           struct hub_error *err)
{
    unsigned *asked = user;
    (void)err;
    ++*asked;
    for (size_t i = 0; i < HUB_COUNT(has); i++)
        if (has[i].kind == name->kind && hub_view_is(name->of, has[i].of))
            *out = (struct hub_values){has[i].values, has[i].count};
    return HUB_OK;
}

static bool holds(const char *text, unsigned *asked)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *where = NULL;
    struct hub_error err = {0};
    bool chosen = false;
    *asked = 0;
    cr_assert_eq(hub_where_parse(hub_view_of(text), &where, &err), HUB_OK, "%s: %s", text, err.detail);
    cr_assert_eq(hub_where_holds(where, &(struct hub_episode_values){get, asked}, &chosen, &err), HUB_OK);
    return chosen;
}

Test(where, chooses)
{
    static const char *const yes[] = {
        "number = 7",
        "number = 7.0",
        "number in (1, 7)",
        "steps = 9007199254740993",
        "steps != 9007199254740992",
        "steps > 9007199254740992.0",
        "steps >= 9007199254740993 and steps <= 9007199254740993",
        "seed = 18446744073709551615",
        "seed > 9223372036854775807",
        "seed < 1.9e19",
        "return > 2 and return < 3",
        "return>=2.5 and return<=2.5",
        "return = 25e-1",
        "success = true",
        "success = 1",
        "not success = false",
        "task = 'lift'",
        "task = 'it''s'",
        "task in ('push', 'lift')",
        "task != 'push'",
        "split != 'train'",
        "split is null",
        "task is not null",
        "name = 'demo_7' and (number = 1 or number = 7)",
        "number = 7 or number = 8 and number = 9",
        "not (number = 1 or number = 2)",
        "\"level\" = 'hard'",
        "\"level\" != 3",
        "\"absent\" is null",
        "\"negative\" = -9223372036854775808",
        "\"negative\" < -9.2e18",
        "\"wide\" = 9007199254740993",
        "\"wide\" != 9007199254740992",
        "\"wide\" = '9007199254740993'",
        "\"wide\" < 18446744073709551615",
        "seed > '9007199254740993'",
        "max(\"a\"\"b\") > 1e299",
        "mean(\"rewards\") != 0",
        "min(\"rewards\") is null",
        "terminated is null",
        "terminated = true or number = 7",
        " ( ( number = 7 ) ) ",
    };
    unsigned asked;
    for (size_t i = 0; i < HUB_COUNT(yes); i++)
        cr_assert(holds(yes[i], &asked), "%s", yes[i]);
}

Test(where, leaves_out)
{
    static const char *const no[] = {
        "number = 8",
        "number != 7",
        "steps = 9007199254740992",
        "steps <= 9007199254740992.0",
        "return > 2.5",
        "success = false",
        "task != 'lift'",
        "not task in ('push', 'lift')",
        "split = 'train'",
        "task is null",
        /* what is missing is unknown, and so is its contrary */
        "terminated = true",
        "not terminated = true",
        "not (terminated = true and number = 7)",
        "terminated != true",
        "\"absent\" = 1",
        "not \"absent\" = 1",
        "not (\"absent\" = 1 or number = 8)",
        "\"level\" < 3",
        "not \"level\" < 3",
        "\"wide\" > 9007199254740993",
        "\"digits\" = 1234",
        "\"digits\" > 1",
        "mean(\"rewards\") = 0",
        "mean(\"rewards\") < 0",
        "not mean(\"rewards\") < 0",
    };
    unsigned asked;
    for (size_t i = 0; i < HUB_COUNT(no); i++)
        cr_assert(!holds(no[i], &asked), "%s", no[i]);
}

Test(where, asks_no_more_than_decides)
{
    unsigned asked;
    cr_assert(!holds("number = 8 and task = 'lift' and return > 1", &asked));
    cr_assert_eq(asked, 1);
    cr_assert(holds("number = 7 or task = 'lift'", &asked));
    cr_assert_eq(asked, 1);
}

/* ---- refusals ---- */

static void refused(const char *text, size_t at, const char *because)
{
    struct hub_where *where = NULL;
    struct hub_error err = {0};
    char position[32];
    snprintf(position, sizeof position, "at %zu (", at);
    cr_assert_eq(hub_where_parse(hub_view_of(text), &where, &err), HUB_INVALID, "%s", text);
    cr_assert_eq(err.problem, HUB_PROBLEM_BAD_WHERE);
    cr_assert_str_eq(err.parameter, "where");
    cr_assert(!at || strstr(err.detail, position), "%s: %s", text, err.detail);
    cr_assert(strstr(err.detail, because), "%s: %s", text, err.detail);
}

Test(where, says_what_is_wrong_and_where)
{
    refused("", 1, "sum(\"FIELD\")");
    refused("last = 1", 6, "last(\"FIELD\")[2]");
    refused("last(rewards) = 1", 6, "last(\"FIELD\")[2]");
    refused("last(\"x\"[2]) = 1", 9, "last(\"FIELD\")[2]");
    refused("first(\"x\")[-1] = 1", 12, "from 0");
    refused("first(\"x\")[1.5] = 1", 12, "from 0");
    refused("first(\"x\")[4294967296] = 1", 12, "from 0");
    refused("first(\"x\")[1 = 1", 14, "] was expected");
    refused("first(\"x\")[1] = 'a'", 17, "a number");
    refused("mean(\"x\")[1] = 1", 10, "in or is");
    refused("reward > 3", 1, "return, success");
    refused("number == 3", 9, "a value must be");
    refused("number 3", 8, "in or is");
    refused("number =", 9, "the end");
    refused("number = 3 number = 4", 12, "and, or or the end");
    refused("number = 'three'", 10, "a number");
    refused("task = 'open", 8, "not closed");
    refused("task = 1.5", 8, "'text'");
    refused("name > 3", 8, "'text'");
    refused("return = 1.2.3", 10, "a number must be");
    refused("return = 0x10", 10, "a number must be");
    refused("return = 1e999", 10, "a number must be");
    refused("return = 18446744073709551616", 10, "2^64-1");
    refused("seed = -9223372036854775809", 8, "2^64-1");
    refused("number in ()", 12, "a value must be");
    refused("number in (1 2)", 14, "end with )");
    refused("task is 3", 9, "null");
    refused("(number = 1", 12, "or )");
    refused("mean(rewards) > 1", 6, "mean(\"FIELD\")");
    refused("not", 4, "a name is");
    refused("number = 1 AND number = 2", 12, "and, or");
    refused("number = 1; drop table x", 11, "and, or");
}

/* ---- steps ---- */

static void steps_refused(const char *text, size_t at, const char *because)
{
    struct hub_where *where = NULL;
    struct hub_error err = {0};
    char position[32];
    snprintf(position, sizeof position, "at %zu (", at);
    cr_assert_eq(hub_step_where_parse(hub_view_of(text), &where, &err), HUB_INVALID, "%s", text);
    cr_assert_eq(err.problem, HUB_PROBLEM_BAD_WHERE);
    cr_assert_str_eq(err.parameter, "step_where");
    cr_assert(strstr(err.detail, position) && strstr(err.detail, because), "%s: %s", text, err.detail);
}

Test(where, names_of_steps_are_fields)
{
    static const char text[] = "rewards < -10 or not (\"next.\"\"x\"[2] in (1, 2.5) and number is not null)";
    struct hub_where *where = NULL;
    cr_assert_eq(hub_step_where_parse(hub_view_of(text), &where, NULL), HUB_OK);
    static const struct {
        const char *of;
        bool of_row;
        uint32_t component;
    } want[] = {{"rewards", false, 0}, {"next.\"x", true, 2}, {"number", false, 0}};
    for (unsigned i = 0; i < HUB_COUNT(want); i++) {
        const struct hub_property *name = hub_where_name(where, i);
        cr_assert_eq(name->kind, HUB_PROPERTY_STEP_FIELD);
        cr_assert(hub_view_is(name->of, want[i].of));
        cr_assert_eq(name->of_row, want[i].of_row);
        cr_assert_eq(name->component, want[i].component);
    }
    cr_assert_null(hub_where_name(where, HUB_COUNT(want)));
    hub_where_free(where);
    steps_refused("", 1, "a name must be a field");
    steps_refused("rewards = 'a'", 11, "a number");
    steps_refused("\"actions\"[-1] = 1", 11, "from 0");
    steps_refused("\"actions\"[1 = 1", 13, "] was expected");
    steps_refused("max(\"rewards\") = 1", 4, "a name must be followed by");
}

Test(where, has_ceilings)
{
    char deep[80] = "", many[2000] = "number=1";
    struct hub_where *where = NULL;
    for (int i = 0; i < 16; i++)
        strcat(deep, "(");
    strcat(deep, "number=1");
    for (int i = 0; i < 16; i++)
        strcat(deep, ")");
    cr_assert_eq(hub_where_parse(hub_view_of(deep), &where, NULL), HUB_OK);
    hub_where_free(where);
    memmove(deep + 1, deep, sizeof deep - 1);
    refused(deep, 17, "16 deep");
    for (int i = 1; i < 64; i++)
        strcat(many, " or number=1");
    cr_assert_eq(hub_where_parse(hub_view_of(many), &where, NULL), HUB_OK);
    hub_where_free(where);
    strcat(many, " or number=1");
    refused(many, 769, "64 tests");
    memset(many, ' ', 1025);
    many[1025] = '\0';
    refused(many, 0, "1025 bytes");
}

/* Names of fields and attributes have an index each, beside which an order and columns have theirs. */
Test(where, a_row_of_a_field)
{
    static const char text[] =
        "last(\"observations/distance\")[2] < 0.05 and first(\"rewards\") = 0 or \"level\" = 1";
    struct hub_where *where = NULL, *holder = NULL;
    struct hub_property names[2];
    unsigned count;
    cr_assert_eq(hub_where_parse(hub_view_of(text), &where, NULL), HUB_OK);
    const struct hub_property *last = hub_where_name(where, 0), *first = hub_where_name(where, 1);
    cr_assert(last->kind == HUB_PROPERTY_LAST && hub_view_is(last->of, "observations/distance"));
    cr_assert(last->of_row && last->component == 2 && last->index == 0);
    cr_assert(first->kind == HUB_PROPERTY_FIRST && !first->of_row && first->index == 1);
    cr_assert_eq(hub_where_name(where, 2)->index, 2);
    hub_where_free(where);
    cr_assert_eq(hub_properties_parse(HUB_VIEW("steps,last(\"x\")[7]"), &holder, names, 2, &count, NULL),
                 HUB_OK);
    cr_assert(names[1].kind == HUB_PROPERTY_LAST && names[1].component == 7);
    cr_assert(names[1].index >= HUB_WHERE_TESTS && names[1].index < HUB_NAMES);
    hub_where_free(holder);
}

Test(where, a_name_alone)
{
    struct hub_where *holder = NULL;
    struct hub_property name;
    cr_assert_eq(hub_property_parse(HUB_VIEW("mean(\"obs/x\")"), &holder, &name, NULL), HUB_OK);
    cr_assert_eq(name.kind, HUB_PROPERTY_MEAN);
    cr_assert(hub_view_is(name.of, "obs/x"));
    hub_where_free(holder);
    cr_assert_eq(hub_property_parse(HUB_VIEW("return desc"), &holder, &name, NULL), HUB_INVALID);
    cr_assert_eq(hub_property_parse(HUB_VIEW(""), &holder, &name, NULL), HUB_INVALID);
}
