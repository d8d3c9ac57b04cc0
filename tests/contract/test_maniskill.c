/* The ManiSkill driver over trajectories with and without their sidecar: what each set is said to hold. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

static void open_set(struct inspected *d, const char *name)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/maniskill/%s", HUB_FIXTURES, name);
    cr_assert_eq(inspected_open(d, HUB_INSPECT, path, &err), HUB_OK, "%s: %s", name, err.detail);
    cr_assert_str_eq(d->format, "maniskill");
    cr_assert_eq(d->part_status[0], HUB_OK, "%s: %s", name, d->part_errors[0].detail);
}

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
    struct inspected d;
    open_set(&d, c->name);
    const struct hub_findings *part = &d.parts[0];
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u", c->name, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->name, part->field_count);
    cr_expect_eq(d.plan.problem_count + part->problem_count, c->problems, "%s: %u problems", c->name,
                 d.plan.problem_count + part->problem_count);
    const struct hub_found_episode *last = &part->episodes[c->episodes - 1];
    cr_expect_eq(last->number, c->last);
    cr_expect_eq(last->steps, c->steps, "%s: %u", c->name, (unsigned)last->steps);
    cr_expect_eq(last->success, c->success, "%s: %d", c->name, last->success);
    cr_expect_str_eq(last->seed ? last->seed : "", c->seed);
    if (c->problem[0])
        cr_expect_not_null(inspected_problem(&d, c->problem, NULL));
    else
        cr_expect_not_null(strstr(inspected_fact(&d, "env_spec"), "PickCube-v1"));
    inspected_close(&d);
}

struct field_case {
    char set[16], path[48];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
};

ParameterizedTestParameters(maniskill, fields)
{
    static struct field_case cases[] = {
        {"motionplanning", "env_states/actors/cube", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STATE},
        {"rl", "obs", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"rl", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"rl", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP},
        {"rl", "success", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"rgbd", "obs/sensor_data/base_camera/rgb", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"rgbd", "obs/sensor_data/base_camera/depth", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"rgbd", "obs/extra/is_grasped", HUB_FIELD_BOOL, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"agents", "actions/panda-1", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, maniskill, fields, .timeout = 60)
{
    struct inspected d;
    open_set(&d, c->set);
    const struct hub_found_field *field = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(field, "%s has no %s", c->set, c->path);
    cr_expect_eq(field->type, c->type, "%s: %s", c->path, hub_field_type_name(field->type));
    cr_expect_eq(field->role, c->role, "%s: %s", c->path, hub_role_name(field->role));
    cr_expect_eq(field->axis, c->axis, "%s: %s", c->path, hub_axis_name(field->axis));
    cr_expect_null(field->unreadable);
    inspected_close(&d);
}
