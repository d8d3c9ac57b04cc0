/* The MolmoSpaces driver over houses written as its generation writes them: what each set is said to hold. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/rows.h"

static void open_set(struct inspected *d, const char *name)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/molmospaces/%s", HUB_FIXTURES, name);
    cr_assert_eq(inspected_open(d, HUB_INSPECT, path, &err), HUB_OK, "%s: %s", name, err.detail);
    cr_assert_str_eq(d->format, "molmospaces");
    for (uint32_t i = 0; i < d->plan.part_count; i++)
        cr_assert_eq(d->part_status[i], HUB_OK, "%s: %s", name, d->part_errors[i].detail);
}

struct set_case {
    char name[16], splits[32], first_part[64], first[80], attributes[80];
    uint32_t parts, episodes, fields, problems;
};

/* Episodes, fields, problems and attributes are those of the first part. */
ParameterizedTestParameters(molmospaces, sets)
{
    static struct set_case cases[] = {
        {"pick", "{\"train\":6,\"val\":1}", "train/house_2/trajectories_batch_1_of_2.h5",
         "train/house_2/trajectories_batch_1_of_2.h5/traj_0",
         "{\"house\":2,\"batch\":1,\"valid\":true,\"usable_steps\":5}", 4, 3, 26, 0},
        {"split", "", "house_3/trajectories_batch_1_of_1.h5", "house_3/trajectories_batch_1_of_1.h5/traj_0",
         "{\"house\":3,\"batch\":1,\"usable_steps\":4}", 2, 1, 24, 0},
        {"house", "", "trajectories_batch_1_of_1.h5", "trajectories_batch_1_of_1.h5/traj_0",
         "{\"batch\":1,\"usable_steps\":5}", 1, 2, 22, 0},
        {"odd", "{\"train\":5}", "train/house_7/trajectories_batch_1_of_1.h5",
         "train/house_7/trajectories_batch_1_of_1.h5/traj_0",
         "{\"house\":7,\"batch\":1,\"valid\":true,\"usable_steps\":5}", 2, 5, 26, 7},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, molmospaces, sets, .timeout = 60)
{
    struct inspected d;
    open_set(&d, c->name);
    const struct hub_findings *part = &d.parts[0];
    cr_expect_str_eq(inspected_fact(&d, "splits"), c->splits, "%s", inspected_fact(&d, "splits"));
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    cr_expect_str_eq(d.plan.parts[0].name, c->first_part);
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u episodes", c->name, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->name, part->field_count);
    cr_expect_eq(part->problem_count, c->problems, "%s: %u problems", c->name, part->problem_count);
    cr_expect_str_eq(part->episodes[0].name, c->first);
    cr_expect_str_eq(part->episodes[0].task, "pick up the cup 0");
    cr_expect_str_eq(part->episodes[0].attributes, c->attributes, "%s", part->episodes[0].attributes);
    inspected_close(&d);
}

/* The folder of a dataset that is one house says which. */
Test(molmospaces, a_house_alone, .timeout = 60)
{
    struct inspected d;
    char dir[] = "/tmp/molmospaces-XXXXXX", place[64];
    cr_assert_not_null(mkdtemp(dir));
    snprintf(place, sizeof place, "%s/house_12", dir);
    cr_assert_eq(symlink(HUB_FIXTURES "/molmospaces/house", place), 0);
    cr_assert_eq(inspected_open(&d, HUB_INSPECT, place, NULL), HUB_OK);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s", d.part_errors[0].detail);
    cr_expect_str_eq(d.parts[0].episodes[0].name, "trajectories_batch_1_of_1.h5/traj_0");
    cr_expect_str_eq(d.parts[0].episodes[0].attributes, "{\"house\":12,\"batch\":1,\"usable_steps\":5}", "%s",
                     d.parts[0].episodes[0].attributes);
    inspected_close(&d);
    cr_assert_eq(unlink(place) || rmdir(dir), 0);
}

struct field_case {
    char path[64];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
};

ParameterizedTestParameters(molmospaces, fields)
{
    static struct field_case cases[] = {
        {"actions/joint_pos", HUB_FIELD_PADDED_JSON, HUB_ROLE_ACTION, HUB_AXIS_SHIFTED},
        {"obs/agent/qpos", HUB_FIELD_PADDED_JSON, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"obs/extra/tcp_pose", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"obs/sensor_param/wrist_camera/extrinsic_cv", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"obs/sensor_data/wrist_camera", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_NONE},
        {"env_states/articulations/panda", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STATE},
        {"rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_SHIFTED},
        {"success", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"terminated", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"truncated", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"obs_scene", HUB_FIELD_TEXT, HUB_ROLE_OBSERVATION, HUB_AXIS_NONE},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, molmospaces, fields, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "pick");
    const struct hub_found_field *field = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(field, "no %s", c->path);
    cr_expect_eq(field->type, c->type, "%s: %s", c->path, hub_field_type_name(field->type));
    cr_expect_eq(field->role, c->role, "%s: %s", c->path, hub_role_name(field->role));
    cr_expect_eq(field->axis, c->axis, "%s: %s", c->path, hub_axis_name(field->axis));
    cr_expect_null(field->unreadable);
    inspected_close(&d);
}

/* By the names in the file, or where there are none by those of the cameras. */
Test(molmospaces, videos_are_found, .timeout = 60)
{
    static const char *const sets[] = {"pick", "split"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        struct inspected d;
        open_set(&d, sets[i]);
        const struct hub_findings *part = &d.parts[0];
        cr_assert_eq(part->media_count, 2 * part->episode_count, "%s: %u", sets[i], part->media_count);
        cr_expect_str_eq(part->media[1].camera, "wrist_camera");
        cr_expect_float_eq((double)part->media[1].fps_num / part->media[1].fps_den, 15.15, 0.01);
        cr_expect_not_null(
            strstr(d.files[part->media[1].file].path, "/episode_00000000_wrist_camera_batch_1_of_"));
        inspected_close(&d);
    }
}

Test(molmospaces, what_is_odd_is_told, .timeout = 60)
{
    static const char *const codes[] = {"missing-file",  "count-mismatch", "bad-mask",      "cut-rows",
                                        "bad-json-rows", "bad-trajectory", "missing-video", "index-differs",
                                        "rows-differ",   "not-fetched"};
    struct inspected d;
    open_set(&d, "odd");
    for (size_t i = 0; i < HUB_COUNT(codes); i++)
        cr_expect_not_null(inspected_problem(&d, codes[i], NULL), "%s", codes[i]);
    inspected_close(&d);
}

/* As stats/traj_N has them: texts of JSON for rows of JSON, and datasets for numbers. */
Test(molmospaces, statistics_of_episodes, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "pick");
    const char *first = d.parts[0].episodes[0].statistics, *third = d.parts[0].episodes[2].statistics;
    cr_assert(first && third);
    cr_expect_not_null(
        strstr(first, "\"actions/joint_pos/arm\":{\"mean\":[0.0,0.0,0.0,0.0,0.0,0.0,0.0],\"count\":6}"), "%s",
        first);
    cr_expect_not_null(
        strstr(first, "\"obs/extra/tcp_pose\":{\"count\":6,\"max\":[0.0,0.0,0.0,0.0,0.0,0.0,0.0],"), "%s",
        first);
    cr_expect_not_null(strstr(third, "\"count\":8"), "%s", third);
    inspected_close(&d);
    open_set(&d, "split"); /* generated, and nothing more */
    cr_expect_null(d.parts[0].episodes[0].statistics);
    inspected_close(&d);
}
