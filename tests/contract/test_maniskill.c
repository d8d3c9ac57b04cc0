/* The ManiSkill driver over trajectories with and without their sidecar: what each set is said to hold. */
#include "tests/support/contract.h"

struct set_case {
    char name[16], problem[20], seed[8];
    uint32_t episodes, fields, problems;
    int64_t last;
    uint64_t steps;
    int8_t success;
};

/* Number, steps, seed and success are those of the last episode. */
ParameterizedTestParameters(maniskill, sets)
{
    static struct set_case cases[] = {
        {"motionplanning", "", "1011", 12, 7, 0, 11, 5, 1},
        {"rl", "", "1001", 2, 9, 0, 1, 7, 1},
        {"rgbd", "", "1002", 3, 14, 0, 2, 5, 0},
        {"agents", "", "1001", 2, 10, 0, 1, 3, 1},
        {"alone", "missing-file", "", 3, 9, 1, 10, 3, 1},
        {"odd", "count-mismatch", "1002", 3, 9, 3, 2, 3, 0},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, maniskill, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("maniskill", "maniskill/%s", c->name);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(contract_problems(&d), c->problems, "%s: %u problems", c->name, contract_problems(&d));
    contract_check_problems(&d, c->problem);
    const struct hub_found_episode *last = &part->episodes[c->episodes - 1];
    cr_expect_eq(last->number, c->last);
    cr_expect_eq(last->steps, c->steps, "%s: %u", c->name, (unsigned)last->steps);
    cr_expect_eq(last->success, c->success, "%s: %d", c->name, last->success);
    contract_check_text(&d, last->seed, c->seed);
    if (!c->problem[0])
        contract_check_says(&d, inspected_fact(&d, "env_spec"), "PickCube-v1");
}

ParameterizedTestParameters(maniskill, fields)
{
    static struct contract_field_case cases[] = {
        {"motionplanning", "env_states/actors/cube", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STATE},
        {"rl", "obs", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"rl", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"rl", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP},
        {"rl", "success", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"rgbd", "obs/sensor_data/base_camera/rgb", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"rgbd", "obs/sensor_data/base_camera/depth", HUB_FIELD_IMAGE_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"rgbd", "obs/extra/is_grasped", HUB_FIELD_BOOL, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"agents", "actions/panda-1", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, maniskill, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("maniskill", "maniskill/%s", c->set);
    contract_check_field(&d, c);
}
