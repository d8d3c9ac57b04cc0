/* The robomimic driver over files written as robomimic writes them: what each is said to hold. */
#include "tests/support/contract.h"

struct set_case {
    char name[16], era[16];
    uint32_t episodes, fields, problems;
    char splits[80];
};

ParameterizedTestParameters(robomimic, sets)
{
    static struct set_case cases[] = {
        {"lift-ph", "", 5, 15, 2, "{\"20_percent\":1,\"better\":2,\"nobody\":0,\"train\":4,\"valid\":1}"},
        {"lift-mh", "", 3, 10, 0, "{\"train\":2}"},
        {"lift-raw", "robosuite", 3, 3, 0, ""},
        {"empty", "", 0, 0, 0, ""},
        {"hopper", "", 2, 5, 0, ""},
        {"bare", "robosuite", 2, 2, 1, ""},
        {"isaac", "isaac-lab", 2, 12, 0, ""},
        {"mimicgen", "mimicgen", 2, 15, 0, ""},
        {"libero", "libero", 2, 11, 0, ""},
        {"robocasa", "", 2, 9, 0, ""},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, robomimic, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/%s", c->name);
    cr_assert_eq(d.plan.part_count, 1);
    contract_check_fact(&d, "era", c->era);
    contract_check_fact(&d, "splits", c->splits);
    contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(contract_problems(&d), c->problems, "%s: %u problems", c->name, contract_problems(&d));
}

Test(robomimic, neighbours_are_not_ours, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    cr_expect_eq(contract_try(&d, &err, "robomimic/neighbours"), HUB_NOT_ACCEPTABLE);
    cr_expect_str_eq(d.format, "generic");
}

ParameterizedTestParameters(robomimic, fields)
{
    static struct contract_field_case cases[] = {
        {"lift-ph", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"lift-ph", "action_dict/rel_pos", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"lift-ph", "obs/object", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"lift-ph", "next_obs/object", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"lift-ph", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP},
        {"lift-ph", "dones", HUB_FIELD_NUMBER, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"lift-ph", "states", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP},
        {"lift-ph", "initial_state/articulation/robot/joint_position", HUB_FIELD_NUMBER, HUB_ROLE_OTHER,
         HUB_AXIS_NONE},
        {"lift-ph", "src_demo_inds", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_NONE},
        {"lift-ph", "model_file", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_NONE},
        {"isaac", "initial_state/rigid_object/cube_1/root_pose", HUB_FIELD_NUMBER, HUB_ROLE_OTHER,
         HUB_AXIS_NONE},
        {"isaac", "states/articulation/robot/root_pose", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP},
        {"isaac", "obs/datagen_info/subtask_term_signals/grasp_1", HUB_FIELD_BOOL, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STEP},
        {"mimicgen", "datagen_info/object_poses/coffee_pod", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP},
        {"mimicgen", "src_demo_labels", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP},
        {"libero", "obs/agentview_rgb", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"lift-mh", "obs/agentview_image", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"lift-mh", "obs/agentview_depth", HUB_FIELD_IMAGE_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, robomimic, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/%s", c->set);
    contract_check_field(&d, c);
}

Test(robomimic, demos_come_in_number_order_with_gaps, .timeout = 60)
{
    static const struct {
        int64_t number;
        uint64_t steps;
        int8_t success;
        const char *name, *splits;
    } demos[] = {{0, 5, 0, "demo_0", "[\"better\",\"train\"]"},
                 {2, 9, -1, "demo_2", "[\"20_percent\",\"train\"]"},
                 {3, 5, -1, "demo_3", "[\"valid\"]"}, /* of 7 actions: num_samples says 5 */
                 {10, 4, 1, "demo_10", "[\"better\",\"train\"]"},
                 {11, 6, -1, "demo_11", "[\"train\"]"}}; /* num_samples says 8 */
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/lift-ph");
    cr_assert_eq(d.parts[0].episode_count, HUB_COUNT(demos));
    for (size_t i = 0; i < HUB_COUNT(demos); i++) {
        const struct hub_found_episode *e = &d.parts[0].episodes[i];
        cr_expect_eq(e->number, demos[i].number);
        cr_expect_eq(e->steps, demos[i].steps, "%s", e->name);
        cr_expect_eq(e->success, demos[i].success, "%s", e->name);
        cr_expect_str_eq(e->name, demos[i].name);
        cr_expect_str_eq(e->splits, demos[i].splits);
        cr_expect(e->has_return && e->return_computed);
        cr_expect_float_eq(e->episode_return, i == 2 ? 0 : 1, 1e-12, "%s", e->name);
    }
    cr_expect_str_eq(d.parts[0].episodes[1].attributes,
                     "{\"ep_meta\":{\"lang\":\"lift the cube 2\",\"layout_id\":2}}");
    cr_expect_not_null(inspected_problem(&d, "bad-split", "better"));
    cr_expect_not_null(inspected_problem(&d, "length-mismatch", NULL));
}

Test(robomimic, env_args_are_facts, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/empty");
    contract_check_fact(&d, "env_spec", "{\"env_name\":\"Isaac-Stack-Cube-Franka-v0\",\"type\":2}");
    contract_check_fact(&d, "claimed_steps", "0");
    contract_check_fact(
        &d, "metadata",
        "{\"env_args\":{\"env_name\":\"Isaac-Stack-Cube-Franka-v0\",\"type\":2},\"total\":0}");
}

struct told_case {
    char set[16], task[32], seed[8];
    int8_t success;
};

/* Of the last demo. */
ParameterizedTestParameters(robomimic, reported)
{
    static struct told_case cases[] = {
        {"isaac", "", "41", 1},
        {"libero", "put the bowl on the plate", "", -1},
        {"robocasa", "open the right drawer", "", -1},
        {"lift-ph", "lift the cube 11", "", -1},
    };
    return cr_make_param_array(struct told_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct told_case *c, robomimic, reported, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/%s", c->set);
    const struct hub_found_episode *e = &d.parts[0].episodes[d.parts[0].episode_count - 1];
    contract_check_text(&d, e->task, c->task);
    contract_check_text(&d, e->seed, c->seed);
    cr_expect_eq(e->success, c->success, "%s", c->set);
}

Test(robomimic, actions_beyond_one_are_reported, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("robomimic", "robomimic/bare");
    cr_expect_not_null(inspected_problem(&d, "actions-not-normalized", "actions"));
}
