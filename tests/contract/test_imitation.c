/* imitation's archives of trajectories: what each is said to hold. */
#include "tests/support/contract.h"

struct file_case {
    char path[24];
    uint32_t episodes, fields;
    uint64_t steps[3];
    int8_t terminated[3];
    bool rewards;
};

ParameterizedTestParameters(imitation, files)
{
    static struct file_case cases[] = {
        {"rollouts/final.npz", 3, 5, {5, 1, 9}, {1, 0, 1}, true},
        {"rollouts/plain.npz", 3, 3, {4, 4, 4}, {1, 1, 1}, false},
        {"rollouts/one.npz", 1, 5, {6}, {1}, true},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct file_case *c, imitation, files, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("imitation", "imitation/%s", c->path);
    cr_assert_eq(d.plan.part_count, 1);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(part->problem_count, 0, "%s", c->path);
    for (uint32_t i = 0; i < c->episodes; i++) {
        cr_expect_eq(part->episodes[i].steps, c->steps[i], "%s: episode %u", c->path, i);
        cr_expect_eq(part->episodes[i].terminated, c->terminated[i], "%s: episode %u", c->path, i);
        cr_expect_eq(part->episodes[i].has_return, c->rewards);
        cr_expect_eq(part->episodes[i].return_computed, c->rewards);
    }
    cr_expect_eq(inspected_field(part, "obs")->axis, HUB_AXIS_STATE);
    cr_expect_eq(inspected_field(part, "acts")->axis, HUB_AXIS_STEP);
    cr_expect_eq(inspected_field(part, "terminal")->axis, HUB_AXIS_NONE);
    cr_expect_null(inspected_field(part, "indices"));
    if (inspected_field(part, "infos/step")) { /* a dictionary a step, pickled */
        cr_expect_eq(inspected_field(part, "infos/step")->axis, HUB_AXIS_STEP);
        cr_expect_eq(inspected_field(part, "infos/step")->type, HUB_FIELD_NUMBER);
    }
    cr_expect_eq(inspected_field(part, "infos/step") != NULL, c->rewards, "%s", c->path);
}

/* A list of its objects in a pickle is not dm_control's, which packs them. */
Test(imitation, a_pickle_of_trajectories, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("imitation", "il/imitation/rollout.pkl");
    contract_check_fact(&d, "era", "");
    const struct hub_findings *part = contract_part(&d, 0, 2, 7);
    cr_expect_eq(part->episodes[0].steps, 4);
    cr_expect_eq(part->problem_count, 0);
}

/* What fits neither the steps nor the trajectories is told, and hides nothing else. */
Test(imitation, rows_that_fit_nothing, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("imitation", "imitation/odd/rows.npz");
    cr_assert_eq(d.parts[0].episode_count, 2);
    cr_expect_eq(d.parts[0].episodes[0].steps, 4);
    cr_expect_eq(d.parts[0].episodes[0].episode_return, 6);
    cr_expect_eq(d.parts[0].episodes[1].episode_return, 9);
    cr_expect_not_null(inspected_problem(&d, "rows-differ", "obs"));
}

struct broken_case {
    char path[24], why[64];
};

ParameterizedTestParameters(imitation, broken)
{
    static struct broken_case cases[] = {
        {"broken/indices.npz", "indices do not increase within the 6 rows of acts"},
        {"broken/objects.npz", "acts cannot be read"},
    };
    return cr_make_param_array(struct broken_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct broken_case *c, imitation, broken, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    cr_assert_eq(contract_try(&d, &err, "imitation/%s", c->path), HUB_OK, "%s", err.detail);
    cr_assert_eq(d.part_status[0], HUB_CORRUPT);
    contract_check_says(&d, d.part_errors[0].detail, c->why);
}

struct pushed_case {
    char name[12], splits[24], first_name[12];
    int64_t first_number; /* of the last part's first episode */
    uint32_t parts, episodes, steps, fields;
    double first_return;
    uint32_t problems;
};

/* Episodes, steps and fields are those of the last part. */
ParameterizedTestParameters(imitation, pushed)
{
    static struct pushed_case cases[] = {
        {"cartpole", "{\"train\":11}", "6", 6, 2, 5, 23, 5, 2.1185305416584015, 0},
        {"plain", "{\"train\":3}", "0", 0, 1, 3, 12, 4, 0, 0},
        {"gaps", "{\"train\":3}", "0", 0, 1, 3, 9, 5, 0.5897855460643768, 0},
        {"long", "{\"train\":3}", "0", 0, 1, 3, 1240, 5, 12.07300154917175, 0},
        {"splits", "{\"test\":2,\"train\":3}", "train/0", -1, 2, 3, 8, 5, 0.5897855460643768, 0},
        {"missing", "{\"train\":2}", "1", 1, 2, 1, 4, 5, -2.2640683352947235, 2},
    };
    return cr_make_param_array(struct pushed_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct pushed_case *c, imitation, pushed, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("imitation", "imitation/pushed/%s", c->name);
    cr_assert_eq(d.plan.part_count, c->parts);
    contract_check_fact(&d, "splits", c->splits);
    cr_expect_eq(d.plan.problem_count, c->problems);
    const struct hub_findings *part = contract_part(&d, c->parts - 1, c->episodes, c->fields);
    cr_expect_eq(part->problem_count, inspected_problem(&d, "unreadable-in-episodes", "infos") ? 1 : 0, "%s",
                 c->name);
    uint64_t steps = 0;
    for (uint32_t i = 0; i < part->episode_count; i++)
        steps += part->episodes[i].steps;
    cr_expect_eq(steps, c->steps, "%s: %llu steps", c->name, (unsigned long long)steps);
    cr_expect_str_eq(part->episodes[0].name, c->first_name);
    cr_expect_eq(part->episodes[0].number, c->first_number);
    cr_expect_str_eq(part->episodes[0].splits, "[\"train\"]");
    cr_expect_eq(part->episodes[0].has_return, c->first_return != 0);
    cr_expect_float_eq(part->episodes[0].episode_return, c->first_return, 1e-6);
    cr_expect_eq(inspected_field(part, "obs")->axis, HUB_AXIS_STATE);
    cr_expect_eq(inspected_field(part, "acts")->axis, HUB_AXIS_STEP);
    cr_expect_eq(inspected_field(part, "infos")->axis, HUB_AXIS_STEP);
    cr_expect_eq(inspected_field(part, "infos")->type, HUB_FIELD_TEXT);
    cr_expect_eq(inspected_field(part, "terminal")->axis, HUB_AXIS_NONE);
}

/* A list without items, and nothing else: the rows of the row group beside it are served. */
Test(imitation, empty_lists, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("imitation", "imitation/pushed/gaps");
    const struct hub_layout layout = contract_layout(&d, "infos");
    contract_check_text(&d, hub_layout_refusal(&layout, hub_layout_window(&layout, 1)),
                        "a list that is empty or null");
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_expect_eq(hub_layout_window(&layout, 2)->count, 4);
    cr_expect_not_null(inspected_problem(&d, "unreadable-in-episodes", "infos"));
}
