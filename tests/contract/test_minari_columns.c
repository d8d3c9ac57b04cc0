/* Minari's Arrow and Parquet storage, as its releases write it and in other ways of writing Arrow: what each
 * set is said to hold. Every row is compared by the oracle (tests/integration). */
#include "tests/support/contract.h"

#define COLUMNS "minari/root-0.5.3-columns/"

struct set_case {
    char set[56], format[16];
    uint32_t episodes, fields;
    char problems[56];
};

ParameterizedTestParameters(minari_columns, sets)
{
    static struct set_case cases[] = {
        {COLUMNS "arrow/door-human-v2", "minari-arrow", 12, 5, ""},
        {COLUMNS "parquet/door-human-v2", "minari-parquet", 12, 5, ""},
        {COLUMNS "arrow-0_5_0/door-human-v2", "minari-arrow", 12, 5, ""},
        {COLUMNS "arrow/dict-v0", "minari-arrow", 2, 9, ""},
        {COLUMNS "parquet/dict-v0", "minari-parquet", 2, 9, ""},
        {COLUMNS "arrow/infos-v0", "minari-arrow", 2, 11, ""},
        {COLUMNS "parquet/infos-v0", "minari-parquet", 2, 11, ""},
        {COLUMNS "arrow/options-v0", "minari-arrow", 3, 5, ""},
        {"arrow/types-v0", "minari-arrow", 6, 28, ""},
        {"arrow/lists-v0", "minari-arrow", 3, 16, ""},
        {"arrow/nulls-v0", "minari-arrow", 3, 15, "nulls"},
        {"arrow/codecs-v0", "minari-arrow", 6, 12, ""},
        {"arrow/refused-v0", "minari-arrow", 2, 17, ""},
        {"arrow/damaged-v0", "minari-arrow", 1, 5, "not-loadable unreadable-episode not-fetched"},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, minari_columns, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open(c->format, "%s", c->set);
    cr_assert_eq(d.plan.part_count, 1);
    contract_check_fact(&d, "era", "E5");
    contract_part(&d, 0, c->episodes, c->fields);
    contract_check_problems(&d, c->problems);
}

/* Episode 10 is not behind episode 1, and both storages tell the same of each. */
Test(minari_columns, episodes_are_as_with_hdf5, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("minari-arrow", COLUMNS "arrow/door-human-v2");
    HUB_CLEANUP(inspected_close)
    struct inspected other = contract_open("minari-parquet", COLUMNS "parquet/door-human-v2");
    for (uint32_t e = 0; e < 12; e++) {
        const struct hub_found_episode *a = &d.parts[0].episodes[e], *b = &other.parts[0].episodes[e];
        cr_expect_eq(a->number, e);
        cr_expect_eq(a->steps, b->steps);
        cr_expect_str_eq(a->name, b->name);
        cr_expect_str_eq(a->statistics, b->statistics);
        cr_expect(a->has_return && !a->return_computed && a->episode_return == b->episode_return);
        cr_expect(a->terminated == 1 && a->truncated == 0 && b->terminated == 1 && b->truncated == 0);
    }
    cr_expect_str_eq(d.parts[0].episodes[3].name, "episode_3");
    cr_expect_str_eq(d.parts[0].episodes[3].seed, "203");
    contract_check_says(&d, inspected_fact(&d, "env_spec"), "AdroitHandDoor-v1");
    contract_check_fact(&d, "stated_version", "0.5.3");
}

Test(minari_columns, options_and_seeds_beyond_int64, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("minari-arrow", COLUMNS "arrow/options-v0");
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect_str_eq(e[0].seed, "9223372036854775808");
    cr_expect_str_eq(e[1].seed, "18446744073709551615");
    cr_expect_str_eq(e[2].seed, "12345");
    cr_expect_str_eq(e[0].attributes,
                     "{\"options\":{\"goal\":[1.5,-2.0],\"level\":{\"name\":\"maze ü\",\"depth\":3}}}");
    cr_expect_str_eq(e[2].attributes, "{\"options\":{\"low\":-0.25,\"flag\":true}}");
}

/* Shapes are those of the spaces; the padding is gone. */
ParameterizedTestParameters(minari_columns, fields)
{
    static struct contract_field_case cases[] = {
        {COLUMNS "arrow/boxes-v0", "observations/cube", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "float32 2x2x2"},
        {COLUMNS "parquet/boxes-v0", "observations/cube", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "float32 2x2x2"},
        {COLUMNS "arrow/boxes-v0", "observations/point", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "float64"},
        {COLUMNS "arrow/boxes-v0", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP,
         "float32 2x2x2"},
        {COLUMNS "arrow/multi-v0", "observations/panel", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "int8 2x3"},
        {COLUMNS "parquet/multi-v0", "observations/grid", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "int32 2x2"},
        {COLUMNS "arrow/tuple-v0", "observations/_index_0", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "float32 2x2"},
        {COLUMNS "arrow/speech-v0", "actions/say", HUB_FIELD_TEXT, HUB_ROLE_ACTION, HUB_AXIS_STEP,
         "var text"},
        {COLUMNS "parquet/speech-v0", "actions/say", HUB_FIELD_TEXT, HUB_ROLE_ACTION, HUB_AXIS_STEP,
         "var text"},
        {COLUMNS "arrow/image-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE,
         "var bytes"},
        {COLUMNS "parquet/gray-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE, "var bytes"},
        {COLUMNS "arrow/infos-v0", "infos/goal/pose/xyz", HUB_FIELD_NUMBER, HUB_ROLE_INFO, HUB_AXIS_STATE,
         "float32 2x3"},
        {COLUMNS "parquet/infos-v0", "infos/goal/pose/xyz", HUB_FIELD_NUMBER, HUB_ROLE_INFO, HUB_AXIS_STATE,
         "float32 2x3"},
        {"arrow/lists-v0", "infos/picture", HUB_FIELD_IMAGE_RAW, HUB_ROLE_INFO, HUB_AXIS_STATE,
         "uint8 4x4x3"},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, minari_columns, fields, .timeout = 60)
{
    const char *format = strstr(c->set, "parquet") ? "minari-parquet" : "minari-arrow";
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open(format, "%s", c->set);
    c->rows = d.parts[0].episodes[0].steps + (c->axis == HUB_AXIS_STATE);
    contract_check_field(&d, c);
}

Test(minari_columns, refused_by_name_and_nothing_else_hidden, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-arrow", "arrow/refused-v0");
    const struct hub_layout refused = contract_layout(&d, "dictionary"), good = contract_layout(&d, "good");
    contract_check_text(&d, hub_layout_unreadable(&refused), "dictionary-encoded; write it plain");
    cr_expect_null(hub_layout_unreadable(&good));
}
