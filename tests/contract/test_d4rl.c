/* The D4RL driver over flat files: where episodes are cut, and what is told of it. */
#include "tests/support/contract.h"

struct cut_case {
    char name[32], problem[20];
    uint32_t problems, episodes, fields;
    uint64_t steps[5];
    int8_t terminated[5], truncated[5];
};

ParameterizedTestParameters(d4rl, cuts)
{
    static struct cut_case cases[] = {
        {"halfcheetah_medium-v2.hdf5",
         "open-tail",
         1,
         5,
         13,
         {300, 150, 300, 300, 150},
         {0, 1, 0, 0, 0},
         {1, 0, 1, 1, 0}},
        {"hopper_medium-v0.hdf5", "boundary-unknown", 2, 3, 4, {30, 30, 30}, {1, 1, 0}, {-1, -1, -1}},
        {"walker2d_derived.hdf5", "", 0, 3, 5, {100, 150, 150}, {0, 1, 1}, {-1, -1, -1}},
        {"antmaze_umaze-v2.h5", "", 0, 4, 6, {10, 10, 20, 20}, {1, 0, 1, 0}, {0, 1, 1, 1}},
        {"empty.hdf5", "", 0, 0, 5, {0}, {0}, {0}},
        {"odd.hdf5", "rows-differ", 1, 3, 6, {10, 10, 10}, {-1, -1, -1}, {1, 1, 1}},
        {"packed.hdf5", "", 0, 4, 5, {10, 20, 20, 14}, {1, 0, 1, 0}, {0, 1, 0, 1}},
        {"policy.hdf5", "", 0, 3, 6, {10, 10, 10}, {1, 1, 1}, {0, 0, 0}},
    };
    return cr_make_param_array(struct cut_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct cut_case *c, d4rl, cuts, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("d4rl", "d4rl/%s", c->name);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    for (uint32_t i = 0; i < c->episodes; i++) {
        const struct hub_found_episode *e = &part->episodes[i];
        cr_expect_eq(e->steps, c->steps[i], "%s %u: %u", c->name, i, (unsigned)e->steps);
        cr_expect_eq(e->terminated, c->terminated[i], "%s %u", c->name, i);
        cr_expect_eq(e->truncated, c->truncated[i], "%s %u", c->name, i);
    }
    cr_expect_eq(part->problem_count, c->problems, "%s", c->name);
    contract_check_problems(&d, c->problem);
}

ParameterizedTestParameters(d4rl, fields)
{
    static struct contract_field_case cases[] = {
        {"halfcheetah_medium-v2.hdf5", "next_observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STEP},
        {"halfcheetah_medium-v2.hdf5", "timeouts", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"halfcheetah_medium-v2.hdf5", "infos/qpos", HUB_FIELD_NUMBER, HUB_ROLE_INFO, HUB_AXIS_STEP},
        {"halfcheetah_medium-v2.hdf5", "metadata/policy/fc0/weight", HUB_FIELD_NUMBER, HUB_ROLE_OTHER,
         HUB_AXIS_NONE},
        {"halfcheetah_medium-v2.hdf5", "metadata/algorithm", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_NONE},
        {"policy.hdf5", "metadata/policy/fc0/weight", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_NONE},
        {"odd.hdf5", "observations/image", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"odd.hdf5", "terminals", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_NONE}, /* of another length */
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, d4rl, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("d4rl", "d4rl/%s", c->set);
    contract_check_field(&d, c);
}
