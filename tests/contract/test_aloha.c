/* The driver of series over ALOHA's and RoboTwin's files: which files are its own, and what each set is said to hold. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/rows.h"

static enum hub_status open_set(struct inspected *d, const char *name)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/aloha/%s", HUB_FIXTURES, name);
    const enum hub_status st = inspected_open(d, HUB_INSPECT, path, &err);
    for (uint32_t i = 0; !st && i < d->plan.part_count; i++)
        cr_assert_eq(d->part_status[i], HUB_OK, "%s: %s", name, d->part_errors[i].detail);
    return st;
}

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
    struct inspected d;
    cr_assert_eq(open_set(&d, c->name), HUB_OK);
    cr_assert_str_eq(d.format, "aloha");
    cr_expect_str_eq(inspected_fact(&d, "era"), c->era);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    const struct hub_findings *part = &d.parts[0];
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u episodes", c->name, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->name, part->field_count);
    cr_expect_eq(part->episodes[c->episodes - 1].number, c->last);
    cr_expect_eq(part->episodes[0].steps, c->steps);
    cr_expect_str_eq(part->episodes[0].task ? part->episodes[0].task : "", c->task);
    cr_expect_str_eq(part->episodes[0].attributes ? part->episodes[0].attributes : "", c->attributes);
    inspected_close(&d);
}

struct field_case {
    char set[16], path[40];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
};

ParameterizedTestParameters(aloha, fields)
{
    static struct field_case cases[] = {
        {"sim", "observations/images/top", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"sim", "action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"real", "observations/images/cam_high", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"real", "observations/images/cam_high_depth", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"real", "base_action", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"real", "compress_len", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_NONE}, /* a row a camera */
        {"twin", "observation/head_camera/rgb", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"twin", "joint_action/vector", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"twin-native", "vision/cam_head/colors", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION, HUB_AXIS_STEP},
        {"twin-native", "instructions", HUB_FIELD_TEXT, HUB_ROLE_OTHER, HUB_AXIS_NONE},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, aloha, fields, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, c->set), HUB_OK);
    const struct hub_found_field *field = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(field, "%s has no %s", c->set, c->path);
    cr_expect_eq(field->type, c->type, "%s: %s", c->path, hub_field_type_name(field->type));
    cr_expect_eq(field->role, c->role, "%s: %s", c->path, hub_role_name(field->role));
    cr_expect_eq(field->axis, c->axis, "%s: %s", c->path, hub_axis_name(field->axis));
    cr_expect_null(field->unreadable);
    inspected_close(&d);
}

Test(aloha, a_cut_file_hides_no_other, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "real"), HUB_OK);
    cr_expect_not_null(inspected_problem(&d, "unreadable-episode", "episode_2.hdf5"));
    cr_expect_eq(d.parts[1].episode_count, 1);
    cr_expect_eq(d.parts[1].episodes[0].number, 1002);
    inspected_close(&d);
}

/* A file of the set into `folder`, without what JPEG files begin with. */
static void copy_without_pictures(const char *name, const char *folder, bool without)
{
    char from[1000], to[200], *at;
    snprintf(from, sizeof from, "%s/aloha/real/%s", HUB_FIXTURES, name);
    snprintf(to, sizeof to, "%s/%s", folder, name);
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char *data = malloc(MIB);
    cr_assert(in && out && data);
    const size_t size = fread(data, 1, MIB, in);
    while (without && (at = memmem(data, size, "\xff\xd8\xff", 3)))
        memset(at, 0, 3);
    cr_assert_eq(fwrite(data, 1, size, out), size);
    fclose(in);
    fclose(out);
    free(data);
}

/* What the first episodes are of one mind about is not for one of them to say, though it comes first. */
Test(aloha, a_damaged_first_episode_takes_no_pictures_from_others, .timeout = 60)
{
    static const char *const files[] = {"episode_0.hdf5", "episode_1.hdf5", "episode_4.hdf5"};
    char folder[] = "/tmp/aloha-XXXXXX", path[100];
    struct inspected d;
    struct hub_layout layout;
    struct hub_error err = {0};
    cr_assert_not_null(mkdtemp(folder));
    for (size_t i = 0; i < HUB_COUNT(files); i++)
        copy_without_pictures(files[i], folder, i == 0);
    cr_assert_eq(inspected_open(&d, HUB_INSPECT, folder, &err), HUB_OK, "%s", err.detail);
    const struct hub_found_field *f = inspected_field(&d.parts[0], "observations/images/cam_high");
    cr_assert_not_null(f);
    cr_expect_eq(f->type, HUB_FIELD_IMAGE_JPEG);
    cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
    cr_expect_not_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)));
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 1)));
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 2)));
    inspected_close(&d);
    for (size_t i = 0; i < HUB_COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}
