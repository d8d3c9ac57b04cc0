/* Folders that the library datasets saved: imitation's trajectories, tables of steps, splits; what each is said
 * to hold. Every row is compared by the oracle (tests/integration). */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *set, struct hub_error *err)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/datasets/%s", HUB_FIXTURES, set);
    return inspected_open(d, HUB_INSPECT, path, err);
}

struct set_case {
    char set[24];
    uint32_t episodes, fields;
    uint64_t steps; /* of the second episode, or of the only one */
    char problems[3][24];
};

ParameterizedTestParameters(datasets, sets)
{
    static struct set_case cases[] = {
        {"imitation-cartpole", 3, 5, 1, {""}},
        {"imitation-norew", 3, 4, 4, {""}},
        {"imitation-pictures", 2, 5, 3, {""}},
        {"imitation-shards", 30, 5, 3, {""}},
        {"replay", 3, 4, 6, {""}},
        {"steps", 3, 9, 8, {""}},
        {"steps-shards", 3, 9, 8, {""}},
        {"no-episodes", 1, 2, 2, {""}},
        {"empty", 0, 0, 0, {""}},
        {"broken-cut", 1, 5, 3, {"unreadable-file", "not-loadable"}},
        {"broken-missing", 1, 5, 3, {"missing-file", "not-loadable"}},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, datasets, sets, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, c->set, &err), HUB_OK, "%s: %s", c->set, err.detail);
    cr_expect_str_eq(d.format, "datasets");
    cr_assert_eq(d.plan.part_count, 1);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->set, d.part_errors[0].detail);
    const struct hub_findings *part = &d.parts[0];
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u", c->set, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u", c->set, part->field_count);
    if (c->episodes)
        cr_expect_eq(part->episodes[c->episodes > 1].steps, c->steps, "%s", c->set);
    for (size_t p = 0; p < 3 && c->problems[p][0]; p++)
        cr_expect_not_null(inspected_problem(&d, c->problems[p], NULL), "%s lacks %s", c->set,
                           c->problems[p]);
    if (!c->problems[0][0])
        cr_expect_eq(d.plan.problem_count + part->problem_count, 0, "%s", c->set);
    cr_expect_not_null(strstr(inspected_fact(&d, "metadata"), "\"features\""));
    inspected_close(&d);
}

struct field_case {
    char set[24], path[16];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    uint8_t kind, rank;
    uint32_t dims[3];
    uint64_t count; /* of the first window */
};

ParameterizedTestParameters(datasets, fields)
{
    static struct field_case cases[] = {
        {"imitation-cartpole",
         "obs",
         HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE,
         HUB_KIND_FLOAT,
         1,
         {4},
         6},
        {"imitation-cartpole",
         "acts",
         HUB_FIELD_NUMBER,
         HUB_ROLE_ACTION,
         HUB_AXIS_STEP,
         HUB_KIND_FLOAT,
         1,
         {2},
         5},
        {"imitation-cartpole",
         "infos",
         HUB_FIELD_TEXT,
         HUB_ROLE_INFO,
         HUB_AXIS_STEP,
         HUB_KIND_VAR,
         0,
         {0},
         5},
        {"imitation-cartpole",
         "rews",
         HUB_FIELD_NUMBER,
         HUB_ROLE_REWARD,
         HUB_AXIS_STEP,
         HUB_KIND_FLOAT,
         0,
         {0},
         5},
        {"imitation-cartpole",
         "terminal",
         HUB_FIELD_BOOL,
         HUB_ROLE_DONE,
         HUB_AXIS_NONE,
         HUB_KIND_BOOL,
         0,
         {0},
         1},
        {"imitation-norew",
         "acts",
         HUB_FIELD_NUMBER,
         HUB_ROLE_ACTION,
         HUB_AXIS_STEP,
         HUB_KIND_INT,
         0,
         {0},
         4},
        {"imitation-pictures",
         "obs",
         HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE,
         HUB_KIND_FLOAT,
         3,
         {6, 5, 3},
         4},
        {"replay",
         "observations",
         HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION,
         HUB_AXIS_STEP,
         HUB_KIND_FLOAT,
         1,
         {3},
         4},
        {"replay", "dones", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP, HUB_KIND_BOOL, 0, {0}, 4},
        {"steps", "image", HUB_FIELD_IMAGE_PNG, HUB_ROLE_OTHER, HUB_AXIS_STEP, HUB_KIND_VAR, 0, {0}, 8},
        {"steps", "text", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_STEP, HUB_KIND_VAR, 0, {0}, 8},
        {"steps", "grid", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, HUB_KIND_UINT, 2, {2, 3}, 8},
        {"steps", "ragged", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STEP, HUB_KIND_VAR, 0, {0}, 8},
        {"steps-shards",
         "action",
         HUB_FIELD_NUMBER,
         HUB_ROLE_ACTION,
         HUB_AXIS_STEP,
         HUB_KIND_FLOAT,
         1,
         {2},
         8},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, datasets, fields, .timeout = 60)
{
    struct inspected d;
    struct hub_layout layout;
    cr_assert_eq(open_set(&d, c->set, NULL), HUB_OK);
    const struct hub_found_field *f = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(f, "%s", c->path);
    cr_expect_eq(f->type, c->type, "%s", c->path);
    cr_expect_eq(f->role, c->role, "%s", c->path);
    cr_expect_eq(f->axis, c->axis, "%s", c->path);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    const struct hub_variant *v = &layout.variants[layout.arrays[0].variant];
    cr_expect_eq(v->kind, c->kind, "%s", c->path);
    cr_expect_eq(v->rank, c->rank, "%s: %u", c->path, v->rank);
    for (unsigned i = 0; i < c->rank; i++)
        cr_expect_eq(v->dims[i], c->dims[i]);
    cr_expect_eq(hub_layout_window(&layout, 0)->count, c->count, "%s", c->path);
    inspected_close(&d);
}

Test(datasets, trajectories_of_imitation, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "imitation-cartpole", NULL), HUB_OK);
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect(e[0].number == 0 && e[2].number == 2);
    cr_expect(e[0].terminated == 1 && e[1].terminated == 0 && e[2].terminated == 1);
    cr_expect(e[0].truncated == -1 && e[0].has_return && e[0].return_computed);
    cr_expect_str_eq(e[2].name, "2");
    inspected_close(&d);
}

Test(datasets, splits_are_folders, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, "splits", &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(d.plan.part_count, 2);
    cr_expect_str_eq(inspected_fact(&d, "splits"), "{\"train\":3,\"test\":2}");
    cr_assert(d.parts[0].episode_count == 3 && d.parts[1].episode_count == 2);
    cr_expect_str_eq(d.parts[0].episodes[0].splits, "[\"train\"]");
    cr_expect_str_eq(d.parts[1].episodes[1].splits, "[\"test\"]");
    cr_expect_str_eq(d.parts[1].episodes[1].name, "test/1");
    inspected_close(&d);
}

Test(datasets, an_episode_in_two_files, .timeout = 60)
{
    struct inspected d;
    struct hub_layout layout;
    cr_assert_eq(open_set(&d, "steps-shards", NULL), HUB_OK);
    const struct hub_found_field *f = inspected_field(&d.parts[0], "reward");
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 1);
    cr_expect_eq(layout.arrays[0].rows, 24);
    cr_expect_eq(layout.counts[HUB_T_PIECES], 3);
    inspected_close(&d);
}

Test(datasets, a_description_that_is_none, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_expect_eq(open_set(&d, "broken-state", &err), HUB_CORRUPT);
    cr_expect_not_null(strstr(err.detail, "state.json"), "%s", err.detail);
    inspected_close(&d);
}
