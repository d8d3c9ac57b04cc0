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

static void open_pushed(struct inspected *d, const char *name)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/imitation/pushed/%s", HUB_FIXTURES, name);
    cr_assert_eq(inspected_open(d, HUB_INSPECT, path, &err), HUB_OK, "%s: %s", name, err.detail);
    cr_assert_str_eq(d->format, "imitation");
}

ParameterizedTest(struct pushed_case *c, imitation, pushed, .timeout = 60)
{
    struct inspected d;
    open_pushed(&d, c->name);
    cr_assert_eq(d.plan.part_count, c->parts);
    cr_expect_str_eq(inspected_fact(&d, "splits"), c->splits, "%s", inspected_fact(&d, "splits"));
    cr_expect_eq(d.plan.problem_count, c->problems);
    const struct hub_findings *part = &d.parts[c->parts - 1];
    cr_assert_eq(d.part_status[c->parts - 1], HUB_OK, "%s: %s", c->name, d.part_errors[c->parts - 1].detail);
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u episodes", c->name, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->name, part->field_count);
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
    inspected_close(&d);
}

/* A list without items, and nothing else: the rows of the row group beside it are served. */
Test(imitation, empty_lists, .timeout = 60)
{
    struct inspected d;
    struct hub_layout layout;
    open_pushed(&d, "gaps");
    const struct hub_found_field *infos = inspected_field(&d.parts[0], "infos");
    cr_assert_eq(hub_layout_open(infos->layout, infos->layout_size, &layout, NULL), HUB_OK);
    const char *why = hub_layout_refusal(&layout, hub_layout_window(&layout, 1));
    cr_assert_not_null(why);
    cr_expect_str_eq(why, "a list that is empty or null");
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_expect_eq(hub_layout_window(&layout, 2)->count, 4);
    cr_expect_not_null(inspected_problem(&d, "unreadable-in-episodes", "infos"));
    inspected_close(&d);
}
