/* Minari's Arrow and Parquet storage, as its releases write it and in other ways of writing Arrow: what each set
 * is said to hold. Every row is compared by the oracle (tests/integration). */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *set)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/%s", HUB_FIXTURES, set);
    const enum hub_status st = inspected_open(d, HUB_INSPECT, path, &err);
    cr_assert(!st, "%s: %s", set, err.detail);
    for (uint32_t i = 0; i < d->plan.part_count; i++)
        cr_assert_eq(d->part_status[i], HUB_OK, "%s: %s", set, d->part_errors[i].detail);
    return st;
}

#define COLUMNS "minari/root-0.5.3-columns/"

struct set_case {
    char set[56], format[16];
    uint32_t episodes, fields;
    char problems[3][24];
};

ParameterizedTestParameters(minari_columns, sets)
{
    static struct set_case cases[] = {
        {COLUMNS "arrow/door-human-v2", "minari-arrow", 12, 5, {""}},
        {COLUMNS "parquet/door-human-v2", "minari-parquet", 12, 5, {""}},
        {COLUMNS "arrow-0_5_0/door-human-v2", "minari-arrow", 12, 5, {""}},
        {COLUMNS "arrow/dict-v0", "minari-arrow", 2, 9, {""}},
        {COLUMNS "parquet/dict-v0", "minari-parquet", 2, 9, {""}},
        {COLUMNS "arrow/infos-v0", "minari-arrow", 2, 11, {""}},
        {COLUMNS "parquet/infos-v0", "minari-parquet", 2, 11, {""}},
        {COLUMNS "arrow/options-v0", "minari-arrow", 3, 5, {""}},
        {"arrow/types-v0", "minari-arrow", 6, 28, {""}},
        {"arrow/lists-v0", "minari-arrow", 3, 16, {""}},
        {"arrow/nulls-v0", "minari-arrow", 3, 15, {"nulls"}},
        {"arrow/codecs-v0", "minari-arrow", 6, 12, {""}},
        {"arrow/refused-v0", "minari-arrow", 2, 17, {""}},
        {"arrow/damaged-v0", "minari-arrow", 1, 5, {"not-loadable", "unreadable-episode", "not-fetched"}},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, minari_columns, sets, .timeout = 60)
{
    struct inspected d;
    open_set(&d, c->set);
    cr_expect_str_eq(d.format, c->format);
    cr_assert_eq(d.plan.part_count, 1);
    cr_expect_str_eq(inspected_fact(&d, "era"), "E5");
    cr_expect_eq(d.parts[0].episode_count, c->episodes, "%s: %u", c->set, d.parts[0].episode_count);
    cr_expect_eq(d.parts[0].field_count, c->fields, "%s: %u", c->set, d.parts[0].field_count);
    for (size_t p = 0; p < 3 && c->problems[p][0]; p++)
        cr_expect_not_null(inspected_problem(&d, c->problems[p], NULL), "%s lacks %s", c->set,
                           c->problems[p]);
    if (!c->problems[0][0])
        cr_expect_eq(d.plan.problem_count + d.parts[0].problem_count, 0, "%s", c->set);
    inspected_close(&d);
}

/* Episode 10 is not behind episode 1, and both storages tell the same of each. */
Test(minari_columns, episodes_are_as_with_hdf5, .timeout = 60)
{
    static const char *const sets[] = {COLUMNS "arrow/door-human-v2", COLUMNS "parquet/door-human-v2"};
    struct inspected d[2];
    for (size_t i = 0; i < 2; i++)
        open_set(&d[i], sets[i]);
    for (uint32_t e = 0; e < 12; e++) {
        const struct hub_found_episode *a = &d[0].parts[0].episodes[e], *b = &d[1].parts[0].episodes[e];
        cr_expect_eq(a->number, e);
        cr_expect_eq(a->steps, b->steps);
        cr_expect_str_eq(a->name, b->name);
        cr_expect_str_eq(a->statistics, b->statistics);
        cr_expect(a->has_return && !a->return_computed && a->episode_return == b->episode_return);
        cr_expect(a->terminated == 1 && a->truncated == 0 && b->terminated == 1 && b->truncated == 0);
    }
    cr_expect_str_eq(d[0].parts[0].episodes[3].name, "episode_3");
    cr_expect_str_eq(d[0].parts[0].episodes[3].seed, "203");
    cr_expect_not_null(strstr(inspected_fact(&d[0], "env_spec"), "AdroitHandDoor-v1"));
    cr_expect_str_eq(inspected_fact(&d[0], "stated_version"), "0.5.3");
    inspected_close(&d[0]);
    inspected_close(&d[1]);
}

Test(minari_columns, options_and_seeds_beyond_int64, .timeout = 60)
{
    struct inspected d;
    open_set(&d, COLUMNS "arrow/options-v0");
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect_str_eq(e[0].seed, "9223372036854775808");
    cr_expect_str_eq(e[1].seed, "18446744073709551615");
    cr_expect_str_eq(e[2].seed, "12345");
    cr_expect_str_eq(e[0].attributes,
                     "{\"options\":{\"goal\":[1.5,-2.0],\"level\":{\"name\":\"maze ü\",\"depth\":3}}}");
    cr_expect_str_eq(e[2].attributes, "{\"options\":{\"low\":-0.25,\"flag\":true}}");
    inspected_close(&d);
}

struct field_case {
    char set[48], path[40];
    enum hub_field_type type;
    enum hub_axis axis;
    uint8_t rank;
    uint32_t dims[3];
};

/* Shapes are those of the spaces; the padding is gone. */
ParameterizedTestParameters(minari_columns, fields)
{
    static struct field_case cases[] = {
        {COLUMNS "arrow/boxes-v0", "observations/cube", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 3, {2, 2, 2}},
        {COLUMNS "parquet/boxes-v0", "observations/cube", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 3, {2, 2, 2}},
        {COLUMNS "arrow/boxes-v0", "observations/point", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 0, {0}},
        {COLUMNS "arrow/boxes-v0", "actions", HUB_FIELD_NUMBER, HUB_AXIS_STEP, 3, {2, 2, 2}},
        {COLUMNS "arrow/multi-v0", "observations/panel", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 2, {2, 3}},
        {COLUMNS "parquet/multi-v0", "observations/grid", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 2, {2, 2}},
        {COLUMNS "arrow/tuple-v0", "observations/0", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 2, {2, 2}},
        {COLUMNS "arrow/speech-v0", "actions/say", HUB_FIELD_TEXT, HUB_AXIS_STEP, 0, {0}},
        {COLUMNS "parquet/speech-v0", "actions/say", HUB_FIELD_TEXT, HUB_AXIS_STEP, 0, {0}},
        {COLUMNS "arrow/image-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_AXIS_STATE, 0, {0}},
        {COLUMNS "parquet/gray-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_AXIS_STATE, 0, {0}},
        {COLUMNS "arrow/infos-v0", "infos/goal/pose/xyz", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 2, {2, 3}},
        {COLUMNS "parquet/infos-v0", "infos/goal/pose/xyz", HUB_FIELD_NUMBER, HUB_AXIS_STATE, 2, {2, 3}},
        {"arrow/lists-v0", "infos/picture", HUB_FIELD_IMAGE_RAW, HUB_AXIS_STATE, 3, {4, 4, 3}},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, minari_columns, fields, .timeout = 60)
{
    struct inspected d;
    struct hub_layout layout;
    open_set(&d, c->set);
    const struct hub_found_field *f = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(f, "%s", c->path);
    cr_expect_eq(f->type, c->type);
    cr_expect_eq(f->axis, c->axis);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    const struct hub_variant *v = &layout.variants[layout.arrays[0].variant];
    cr_expect_eq(v->rank, c->rank, "%s %s: %u", c->set, c->path, v->rank);
    for (unsigned i = 0; i < c->rank; i++)
        cr_expect_eq(v->dims[i], c->dims[i]);
    cr_expect_eq(hub_layout_window(&layout, 0)->count,
                 d.parts[0].episodes[0].steps + (c->axis == HUB_AXIS_STATE));
    inspected_close(&d);
}

Test(minari_columns, refused_by_name_and_nothing_else_hidden, .timeout = 60)
{
    struct inspected d;
    struct hub_layout layout;
    open_set(&d, "arrow/refused-v0");
    const struct hub_found_field *f = inspected_field(&d.parts[0], "dictionary");
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_expect_str_eq(hub_layout_unreadable(&layout), "dictionary-encoded; write it plain");
    f = inspected_field(&d.parts[0], "good");
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_expect_null(hub_layout_unreadable(&layout));
    inspected_close(&d);
}
