/* Folders that the library datasets saved: imitation's trajectories, tables of steps, splits; what each is
 * said to hold. Every row is compared by the oracle (tests/integration). */
#include "tests/support/contract.h"

struct set_case {
    char set[24];
    uint32_t episodes, fields;
    uint64_t steps; /* of the second episode, or of the only one */
    char problems[48];
};

ParameterizedTestParameters(datasets, sets)
{
    static struct set_case cases[] = {
        {"imitation-cartpole", 3, 5, 1, ""},
        {"imitation-norew", 3, 4, 4, ""},
        {"imitation-pictures", 2, 5, 3, ""},
        {"imitation-shards", 30, 5, 3, ""},
        {"replay", 3, 4, 6, ""},
        {"steps", 3, 9, 8, ""},
        {"steps-shards", 3, 9, 8, ""},
        {"no-episodes", 1, 2, 2, ""},
        {"empty", 0, 0, 0, ""},
        {"broken-cut", 1, 5, 3, "unreadable-file not-loadable"},
        {"broken-missing", 1, 5, 3, "missing-file not-loadable"},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, datasets, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("datasets", "datasets/%s", c->set);
    cr_assert_eq(d.plan.part_count, 1);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    if (c->episodes)
        cr_expect_eq(part->episodes[c->episodes > 1].steps, c->steps, "%s", c->set);
    contract_check_problems(&d, c->problems);
    contract_check_says(&d, inspected_fact(&d, "metadata"), "\"features\"");
}

ParameterizedTestParameters(datasets, fields)
{
    static struct contract_field_case cases[] = {
        {"imitation-cartpole", "obs", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE, "float64 4", 6},
        {"imitation-cartpole", "acts", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP, "float32 2", 5},
        {"imitation-cartpole", "infos", HUB_FIELD_TEXT, HUB_ROLE_INFO, HUB_AXIS_STEP, "var text", 5},
        {"imitation-cartpole", "rews", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP, "float32", 5},
        {"imitation-cartpole", "terminal", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_NONE, "bool", 1},
        {"imitation-norew", "acts", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP, "int64", 4},
        {"imitation-pictures", "obs", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE, "float64 6x5x3",
         4},
        {"replay", "observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP, "float64 3", 4},
        {"replay", "dones", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP, "bool", 4},
        {"steps", "image", HUB_FIELD_IMAGE_PNG, HUB_ROLE_OTHER, HUB_AXIS_STEP, "var bytes", 8},
        {"steps", "text", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_STEP, "var text", 8},
        {"steps", "grid", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, "uint8 2x3", 8},
        {"steps", "ragged", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, "var float64", 8},
        {"steps-shards", "action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP, "float64 2", 8},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, datasets, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("datasets", "datasets/%s", c->set);
    contract_check_field(&d, c);
}

Test(datasets, trajectories_of_imitation, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("datasets", "datasets/imitation-cartpole");
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect(e[0].number == 0 && e[2].number == 2);
    cr_expect(e[0].terminated == 1 && e[1].terminated == 0 && e[2].terminated == 1);
    cr_expect(e[0].truncated == -1 && e[0].has_return && e[0].return_computed);
    cr_expect_str_eq(e[2].name, "2");
}

Test(datasets, splits_are_folders, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("datasets", "datasets/splits");
    cr_assert_eq(d.plan.part_count, 2);
    contract_check_fact(&d, "splits", "{\"train\":3,\"test\":2}");
    cr_assert(d.parts[0].episode_count == 3 && d.parts[1].episode_count == 2);
    cr_expect_str_eq(d.parts[0].episodes[0].splits, "[\"train\"]");
    cr_expect_str_eq(d.parts[1].episodes[1].splits, "[\"test\"]");
    cr_expect_str_eq(d.parts[1].episodes[1].name, "test/1");
}

Test(datasets, an_episode_in_two_files, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("datasets", "datasets/steps-shards");
    const struct hub_layout layout = contract_layout(&d, "reward");
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 1);
    cr_expect_eq(layout.arrays[0].rows, 24);
    cr_expect_eq(layout.counts[HUB_T_PIECES], 3);
}

Test(datasets, a_description_that_is_none, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    cr_expect_eq(contract_try(&d, &err, "datasets/broken-state"), HUB_CORRUPT);
    contract_check_says(&d, err.detail, "state.json");
}
