/* The driver of series over ALOHA's and RoboTwin's files: which files are its own, and what each set is said
 * to hold. */
#include "tests/support/contract.h"
#include "tests/support/scan_root.h"
#include "tests/support/slurp.h"

struct set_case {
    char name[16], era[16], task[40], attributes[40];
    uint32_t parts, episodes, fields;
    int64_t last;
    uint64_t steps;
};

/* Task, attributes and steps are those of the first episode. */
ParameterizedTestParameters(aloha, sets)
{
    static struct set_case cases[] = {
        {"sim", "", "", "{\"sim\":true}", 1, 3, 5, 2, 5},
        {"real", "", "", "{\"compress\":true,\"sim\":false}", 2, 5, 10, 11, 4},
        {"twin", "robotwin", "Beat the block 0 with the hammer", "", 1, 3, 11, 2, 4},
        {"twin-native", "robotwin-native", "stack block 0", "", 1, 2, 7, 1, 5},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, aloha, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("aloha", "aloha/%s", c->name);
    contract_check_fact(&d, "era", c->era);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(part->episodes[c->episodes - 1].number, c->last);
    cr_expect_eq(part->episodes[0].steps, c->steps);
    contract_check_text(&d, part->episodes[0].task, c->task);
    contract_check_text(&d, part->episodes[0].attributes, c->attributes);
}

ParameterizedTestParameters(aloha, fields)
{
    static struct contract_field_case cases[] = {
        {"sim", "observations/images/top", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"sim", "action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"real", "observations/images/cam_high", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"real", "observations/images/cam_high_depth", HUB_FIELD_IMAGE_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STEP},
        {"real", "base_action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"real", "compress_len", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_NONE}, /* a row a camera */
        {"twin", "observation/head_camera/rgb", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"twin", "joint_action/vector", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"twin-native", "vision/cam_head/colors", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"twin-native", "instructions", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_NONE},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, aloha, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("aloha", "aloha/%s", c->set);
    contract_check_field(&d, c);
}

Test(aloha, a_cut_file_hides_no_other, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("aloha", "aloha/real");
    cr_expect_not_null(inspected_problem(&d, "unreadable-episode", "episode_2.hdf5"));
    cr_expect_eq(d.parts[1].episode_count, 1);
    cr_expect_eq(d.parts[1].episodes[0].number, 1002);
}

/* What the first episodes are of one mind about is not for one of them to say, though it comes first. */
Test(aloha, a_damaged_first_episode_takes_no_pictures_from_others, .timeout = 60)
{
    static const char *const files[] = {"episode_0.hdf5", "episode_1.hdf5", "episode_4.hdf5"};
    char *folder = scan_directory();
    for (size_t i = 0; i < HUB_COUNT(files); i++) {
        char path[100];
        size_t size;
        snprintf(path, sizeof path, "aloha/real/%s", files[i]);
        uint8_t *data = slurp(path, &size), *at;
        while (i == 0 && (at = memmem(data, size, "\xff\xd8\xff", 3))) /* what JPEG files begin with */
            memset(at, 0, 3);
        scan_write_bytes(folder, files[i], data, size);
        free(data);
    }
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("aloha", "%s", folder);
    const struct hub_layout layout = contract_layout(&d, "observations/images/cam_high");
    cr_expect_eq(contract_field(&d, "observations/images/cam_high")->type, HUB_FIELD_IMAGE_JPEG);
    cr_expect_not_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 1)));
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 2)));
    scan_remove(folder);
}
