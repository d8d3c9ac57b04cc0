/* imitation's archives of trajectories: what each is said to hold. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *name, struct hub_error *err)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/imitation/%s", HUB_FIXTURES, name);
    return inspected_open_file(d, HUB_INSPECT, path, err);
}

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
        {"rollouts/plain.npz", 3, 4, {4, 4, 4}, {1, 1, 1}, false},
        {"rollouts/one.npz", 1, 5, {6}, {1}, true},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct file_case *c, imitation, files, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, c->path, &err), HUB_OK, "%s: %s", c->path, err.detail);
    cr_expect_str_eq(d.format, "imitation");
    cr_assert_eq(d.plan.part_count, 1);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->path, d.part_errors[0].detail);
    const struct hub_findings *part = &d.parts[0];
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u episodes", c->path, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->path, part->field_count);
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
    inspected_close(&d);
}

/* What fits neither the steps nor the trajectories is told, and hides nothing else. */
Test(imitation, rows_that_fit_nothing, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "odd/rows.npz", NULL), HUB_OK);
    cr_assert_eq(d.parts[0].episode_count, 2);
    cr_expect_eq(d.parts[0].episodes[0].steps, 4);
    cr_expect_eq(d.parts[0].episodes[0].episode_return, 6);
    cr_expect_eq(d.parts[0].episodes[1].episode_return, 9);
    cr_expect_not_null(inspected_problem(&d, "rows-differ", "obs"));
    inspected_close(&d);
}

struct broken_case {
    char path[24], why[64];
};

ParameterizedTestParameters(imitation, broken)
{
    static struct broken_case cases[] = {
        {"broken/indices.npz", "indices do not grow within the 6 rows of acts"},
        {"broken/objects.npz", "acts cannot be read"},
    };
    return cr_make_param_array(struct broken_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct broken_case *c, imitation, broken, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, c->path, NULL), HUB_OK);
    cr_assert_eq(d.part_status[0], HUB_CORRUPT);
    cr_expect_not_null(strstr(d.part_errors[0].detail, c->why), "%s", d.part_errors[0].detail);
    inspected_close(&d);
}
