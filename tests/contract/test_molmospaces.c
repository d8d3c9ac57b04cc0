/* The MolmoSpaces driver over houses written as its generation writes them: what each set is said to hold. */
#include "tests/support/contract.h"
#include "tests/support/scan_root.h"

#include <math.h>

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
         "{\"house\":2,\"batch\":1,\"valid\":true,\"usable_steps\":5}", 4, 3, 41, 0},
        {"split", "", "house_3/trajectories_batch_1_of_1.h5", "house_3/trajectories_batch_1_of_1.h5/traj_0",
         "{\"house\":3,\"batch\":1,\"usable_steps\":4}", 2, 1, 39, 0},
        {"house", "", "trajectories_batch_1_of_1.h5", "trajectories_batch_1_of_1.h5/traj_0",
         "{\"batch\":1,\"usable_steps\":5}", 1, 2, 37, 0},
        {"odd", "{\"train\":5}", "train/house_7/trajectories_batch_1_of_1.h5",
         "train/house_7/trajectories_batch_1_of_1.h5/traj_0",
         "{\"house\":7,\"batch\":1,\"valid\":true,\"usable_steps\":5}", 2, 5, 41, 7},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, molmospaces, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/%s", c->name);
    contract_check_fact(&d, "splits", c->splits);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    contract_check_text(&d, d.plan.parts[0].name, c->first_part);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(part->problem_count, c->problems, "%s: %u problems", c->name, part->problem_count);
    contract_check_text(&d, part->episodes[0].name, c->first);
    contract_check_text(&d, part->episodes[0].task, "pick up the cup 0");
    contract_check_text(&d, part->episodes[0].attributes, c->attributes);
}

/* The folder of a dataset that is one house says which. */
Test(molmospaces, a_house_alone, .timeout = 60)
{
    char *folder = scan_directory(), house[100];
    snprintf(house, sizeof house, "%s/house_12", folder);
    scan_copy("molmospaces/house", house);
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "%s", house);
    contract_check_text(&d, d.parts[0].episodes[0].name, "trajectories_batch_1_of_1.h5/traj_0");
    contract_check_text(&d, d.parts[0].episodes[0].attributes,
                        "{\"house\":12,\"batch\":1,\"usable_steps\":5}");
    scan_remove(folder);
}

ParameterizedTestParameters(molmospaces, fields)
{
    static struct contract_field_case cases[] = {
        {"pick", "actions/joint_pos", HUB_FIELD_PADDED_JSON, HUB_ROLE_ACTION, HUB_AXIS_SHIFTED},
        {"pick", "obs/agent/qpos", HUB_FIELD_PADDED_JSON, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"pick", "obs/extra/tcp_pose", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"pick", "obs/sensor_param/wrist_camera/extrinsic_cv", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"pick", "obs/sensor_data/wrist_camera", HUB_FIELD_TEXT, HUB_ROLE_OBSERVATION, HUB_AXIS_NONE},
        {"pick", "env_states/articulations/panda", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STATE},
        {"pick", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_SHIFTED},
        {"pick", "success", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"pick", "terminated", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"pick", "truncated", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_SHIFTED},
        {"pick", "obs_scene", HUB_FIELD_TEXT, HUB_ROLE_OBSERVATION, HUB_AXIS_NONE},
        {"house", "obs_scene", HUB_FIELD_PADDED_JSON, HUB_ROLE_OBSERVATION, HUB_AXIS_NONE, "json 400", 1},
        {"pick", "actions/joint_pos/arm", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_SHIFTED, "float32 7",
         6},
        {"pick", "actions/ee_twist/gripper", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_SHIFTED, "float32 1",
         6},
        {"pick", "obs/agent/qpos/arm", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE, "float32 7",
         6},
        {"pick", "obs/extra/task_info/t", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE, "int64", 6},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, molmospaces, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/%s", c->set);
    contract_check_field(&d, c);
}

/* By the names in the file, or where there are none by those of the cameras. */
Test(molmospaces, videos_are_found, .timeout = 60)
{
    static const char *const sets[] = {"pick", "split"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        HUB_CLEANUP(inspected_close)
        struct inspected d = contract_open("molmospaces", "molmospaces/%s", sets[i]);
        const struct hub_findings *part = &d.parts[0];
        cr_assert_eq(part->media_count, 2 * part->episode_count, "%s: %u", sets[i], part->media_count);
        cr_expect_str_eq(part->media[1].camera, "wrist_camera");
        cr_expect_float_eq((double)part->media[1].fps_num / part->media[1].fps_den, 15.15, 0.01);
        contract_check_says(&d, d.files[part->media[1].file].path,
                            "/episode_00000000_wrist_camera_batch_1_of_");
    }
}

Test(molmospaces, what_is_odd_is_told, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/odd");
    contract_check_problems(&d, "missing-file count-mismatch bad-mask cut-rows bad-json-rows bad-trajectory "
                                "missing-video index-differs rows-differ not-fetched");
}

/* As stats/traj_N has them: texts of JSON for rows of JSON, and datasets for numbers. */
Test(molmospaces, statistics_of_episodes, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/pick");
    const char *first = d.parts[0].episodes[0].statistics, *third = d.parts[0].episodes[2].statistics;
    cr_assert(first && third);
    contract_check_says(&d, first,
                        "\"actions/joint_pos/arm\":{\"mean\":[0.0,0.0,0.0,0.0,0.0,0.0,0.0],\"count\":6}");
    contract_check_says(&d, first,
                        "\"obs/extra/tcp_pose\":{\"count\":6,\"max\":[0.0,0.0,0.0,0.0,0.0,0.0,0.0],");
    contract_check_says(&d, third, "\"count\":8");
    HUB_CLEANUP(inspected_close) struct inspected split = contract_open("molmospaces", "molmospaces/split");
    cr_expect_null(split.parts[0].episodes[0].statistics); /* generated, and nothing more */
}

/* ---- numbers inside rows of JSON ---- */

ParameterizedTestParameters(molmospaces, inside)
{
#define ROW(name, type, shape)                                                                               \
    {                                                                                                        \
        "inside", "obs/extra/info/" name, type, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE, shape, 6               \
    }
    static struct contract_field_case cases[] = {
        ROW("step", HUB_FIELD_NUMBER, "int64"),
        ROW("pair", HUB_FIELD_NUMBER, "float32 2"), /* a row has none */
        ROW("big", HUB_FIELD_NUMBER, "int64"),
        ROW("huge", HUB_FIELD_NUMBER, "float64"),
        ROW("stamp", HUB_FIELD_NUMBER, "float64"),
        ROW("mixed", HUB_FIELD_NUMBER, "float32"),
        ROW("wide", HUB_FIELD_NUMBER, "float32 2x3"),
        ROW("grasp/held", HUB_FIELD_BOOL, "bool"),
        ROW("grasp/touching", HUB_FIELD_BOOL, "bool 2"),
        ROW("grasp/force", HUB_FIELD_NUMBER, "float32"),
        ROW("a/b", HUB_FIELD_NUMBER, "int64"),
        ROW("varies", HUB_FIELD_NUMBER, "float32 2"),
        ROW("kind", HUB_FIELD_NUMBER, "float32"),
        ROW("nonfinite", HUB_FIELD_NUMBER, "float32 5"),
        ROW("whole", HUB_FIELD_NUMBER, "float32"), /* written with a fraction in another episode */
        ROW("gr\xc3\xb6\xc3\x9f\x65", HUB_FIELD_NUMBER, "float32"),
    };
#undef ROW
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, molmospaces, inside, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/inside");
    contract_check_field(&d, c);
}

/* Of no one shape, no numbers, around the steps alone, without a name, or too deep. */
Test(molmospaces, what_is_no_number_inside_is_no_field, .timeout = 60)
{
    static const char *const none[] = {"phase", "ragged",  "uneven", "flag",
                                       "empty", "nothing", "once",   "words"};
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/inside");
    const struct hub_findings *part = &d.parts[0];
    uint32_t inside = 0;
    for (uint32_t i = 0; i < part->field_count; i++) {
        const char *path = part->fields[i].path;
        if (strncmp(path, "obs/extra/info/", 15) != 0)
            continue;
        inside++;
        for (size_t k = 0; k < HUB_COUNT(none); k++)
            cr_expect_str_neq(path + 15, none[k]);
    }
    cr_expect_eq(inside, 16, "%u fields", inside);
    contract_check_problems(&d, "unreadable-in-episodes missing-video");
}

/* Values of the first episode, by JSON's own reading. */
Test(molmospaces, values_inside, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/inside");
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows pair = contract_read(&d, "obs/extra/info/pair", 0);
    cr_expect_eq(contract_number(&pair, 3), 2);
    cr_expect(isnan(contract_number(&pair, 4)) && isnan(contract_number(&pair, 5)));
    cr_expect_eq(contract_number(&pair, 11), 6);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows step = contract_read(&d, "obs/extra/info/step", 0);
    cr_expect_eq(contract_number(&step, 1), 1, "the last of equal keys counts");
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows whole = contract_read(&d, "obs/extra/info/whole", 0);
    cr_expect_eq(contract_number(&whole, 5), 3);
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows stamp = contract_read(&d, "obs/extra/info/stamp", 1);
    cr_expect_eq(contract_number(&stamp, 5), 1.7e9 + 1.25);
    HUB_CLEANUP(hub_rows_dispose)
    struct hub_rows nonfinite = contract_read(&d, "obs/extra/info/nonfinite", 2);
    cr_expect(isnan(contract_number(&nonfinite, 0)) && contract_number(&nonfinite, 2) == -INFINITY &&
              isnan(contract_number(&nonfinite, 3)) && contract_number(&nonfinite, 4) == 1);
}

/* An episode that disagrees with itself says where; others are read. */
Test(molmospaces, an_episode_of_several_shapes, .timeout = 60)
{
    static const char *const paths[] = {"obs/extra/info/varies", "obs/extra/info/kind"},
                             *const whys[] = {"shape differs at row 3", "type differs at row 2"};
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces", "molmospaces/inside");
    for (size_t i = 0; i < HUB_COUNT(paths); i++) {
        const struct hub_layout layout = contract_layout(&d, paths[i]);
        for (uint32_t e = 0; e < 3; e++) {
            const struct hub_window *window = hub_layout_window(&layout, e);
            cr_assert(window, "%s in episode %u", paths[i], e);
            const char *why = hub_layout_refusal(&layout, window);
            cr_expect_str_eq(why ? why : "", e == 1 ? whys[i] : "");
        }
    }
}

/* Of one dimension: an object of JSON, and names of videos as texts; in one piece, and in compressed
 * chunks. */
Test(molmospaces, bytes_of_one_value, .timeout = 60)
{
    static const char *const sets[] = {"house", "inside"};
    for (size_t i = 0; i < HUB_COUNT(sets); i++) {
        HUB_CLEANUP(inspected_close)
        struct inspected d = contract_open("molmospaces", "molmospaces/%s", sets[i]);
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows scene = contract_read(&d, "obs_scene", 1);
        HUB_CLEANUP(hub_rows_dispose)
        struct hub_rows name = contract_read(&d, "obs/sensor_data/wrist_camera", 1);
        cr_assert(scene.rows == 1 && name.rows == 1, "%s", sets[i]);
        const struct hub_view object = contract_row(&scene, 0);
        cr_expect_eq(object.size, 400);
        cr_expect(hub_view_starts(object, "{\"task_type\": \"pick\"") && !object.data[399], "%s", sets[i]);
        cr_expect(hub_view_is(contract_row(&name, 0), "episode_00000001_wrist_camera_batch_1_of_1.mp4"), "%s",
                  sets[i]);
    }
}

/* ---- shards of archives ---- */

struct shards_case {
    char name[32], first_part[32], first[80], splits[16], problems[40];
    uint32_t parts, episodes;
};

ParameterizedTestParameters(molmospaces, shards)
{
    static struct shards_case cases[] = {
        {"pick", "train_shards/00000.tar", "house_2/trajectories_batch_1_of_2.h5/traj_0", "[\"train\"]",
         "packed-videos", 3, 4},
        {"pick/val_shards", "00000.tar", "house_1/trajectories_batch_1_of_1.h5/traj_0", "[\"val\"]",
         "packed-videos", 1, 1},
        {"pick/val_shards/00000.tar", "00000.tar", "house_1/trajectories_batch_1_of_1.h5/traj_0", "[\"val\"]",
         "packed-videos", 1, 1},
        {"odd", "train_shards/00000.tar", "house_1/trajectories_batch_1_of_1.h5/traj_0", "[\"train\"]",
         "bad-archive packed-videos", 1, 1},
    };
    return cr_make_param_array(struct shards_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct shards_case *c, molmospaces, shards, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("molmospaces-shards", "molmobot/%s", c->name);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    contract_check_text(&d, d.plan.parts[0].name, c->first_part);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->name, d.part_errors[0].detail);
    cr_assert_eq(d.parts[0].episode_count, c->episodes, "%s: %u episodes", c->name, d.parts[0].episode_count);
    contract_check_text(&d, d.parts[0].episodes[0].name, c->first);
    contract_check_text(&d, d.parts[0].episodes[0].splits, c->splits);
    contract_check_text(&d, d.parts[0].episodes[0].task, "pick up the cup 0");
    contract_check_problems(&d, c->problems);
}

/* What is read out of an archive is what stands in the file that was packed. */
Test(molmospaces, packed_rows_are_those_of_the_file, .timeout = 60)
{
    static const char *const fields[] = {"actions/joint_pos", "obs/extra/tcp_pose",
                                         "obs_scene",         "success",
                                         "rewards",           "obs/sensor_param/wrist_camera/extrinsic_cv"};
    HUB_CLEANUP(inspected_close)
    struct inspected packed = contract_open("molmospaces-shards", "molmobot/pick"),
                     plain = contract_open("molmospaces", "molmospaces/pick");
    for (size_t i = 0; i < HUB_COUNT(fields); i++) {
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows a = contract_read(&packed, fields[i], 0);
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows b = contract_read(&plain, fields[i], 0);
        cr_assert_eq(a.rows, b.rows, "%s", fields[i]);
        for (uint64_t row = 0; row < a.rows; row++)
            cr_assert(hub_view_equal(contract_row(&a, row), contract_row(&b, row)), "%s, row %u", fields[i],
                      (unsigned)row);
    }
}

/* Its cameras are known, and each says why there is no video. */
Test(molmospaces, packed_videos_say_so, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("molmospaces-shards", "molmobot/pick");
    cr_assert_eq(d.parts[0].media_count, 8);
    cr_expect_eq(d.parts[0].media[0].file, HUB_NONE);
    contract_check_says(&d, d.parts[0].media[0].problem, "packed in an archive");
}
