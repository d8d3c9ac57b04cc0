/* The Minari driver over the fixtures that Minari itself wrote: what each set is said to hold, era by era. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/rows.h"

static void open_set(struct inspected *d, const char *name, enum hub_status expected)
{
    char path[1000];
    struct hub_error err = {0};
    snprintf(path, sizeof path, "%s/%s", HUB_FIXTURES, name);
    const enum hub_status st = inspected_open(d, HUB_INSPECT, path, &err);
    cr_assert_eq(st, expected, "%s: %s", name, err.detail);
    cr_assert_str_eq(d->format, "minari-hdf5");
    for (uint32_t i = 0; !st && i < d->plan.part_count; i++)
        cr_assert_eq(d->part_status[i], HUB_OK, "%s: %s", name, d->part_errors[i].detail);
}

static uint32_t problems_of(const struct inspected *d)
{
    uint32_t n = d->plan.problem_count;
    for (uint32_t i = 0; i < d->plan.part_count; i++)
        n += d->parts[i].problem_count;
    return n;
}

struct set_case {
    char name[56], era[4], id[40], version[16];
    uint32_t parts, episodes, fields, problem_count;
    char problem[24];
};

ParameterizedTestParameters(minari, sets)
{
    static struct set_case cases[] = {
        {"minari/root-0.3.1/door-human-v0", "E3", "door-human-v0", "", 1, 2, 8, 0, ""},
        {"minari/root-0.3.1/goals-flat-v0", "E3", "goals-flat-v0", "", 1, 2, 5, 0, ""},
        {"minari/root-0.3.1/cartpole-links-v0", "E3", "cartpole-links-v0", "", 2, 3, 5, 0, ""},
        {"minari/root-0.4.2/door-human-v1", "E4a", "door-human-v1", "~=0.4", 1, 3, 8, 0, ""},
        {"minari/root-0.4.2/simple-links-v0", "E4a", "simple-links-v0", "~=0.4", 3, 5, 5, 0, ""},
        {"minari/root-0.4.2/part-links-v0", "E4a", "part-links-v0", "~=0.4", 0, 0, 0, 2,
         "link-leaves-dataset"},
        {"minari/root-0.4.3/door-human-v0", "E4b", "door-human-v0", "~=0.4", 1, 25, 5, 0, ""},
        {"minari/root-0.4.3/antmaze-short-obs-v0", "E4b", "antmaze-short-obs-v0", "~=0.4", 1, 2, 5, 1,
         "rows-differ"},
        {"minari/root-0.4.3/relocate-state-v1", "E4b", "relocate-state-v1", "~=0.4", 1, 1, 8, 0, ""},
        {"minari/root-0.5.3/D4RL/door/human-v2", "E5", "D4RL/door/human-v2", "0.5.3", 1, 25, 5, 0, ""},
        {"minari/root-0.5.3/dummy-options/test-v0", "E5", "dummy-options/test-v0", "0.5.3", 1, 4, 5, 0, ""},
        {"minari/root-0.5.3/dummy-odd/single-step-v0", "E5", "dummy-odd/single-step-v0", "0.5.3", 1, 2, 5, 0,
         ""},
        {"minari/root-traps/D4RL/hammer/human-v2", "E5", "", "", 1, 1, 5, 2, "metadata-missing"},
        {"minari/root-traps/missing-link-v0", "E4a", "simple-links-v0", "~=0.4", 1, 2, 5, 2,
         "link-target-missing"},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, minari, sets, .timeout = 60)
{
    struct inspected d;
    open_set(&d, c->name, HUB_OK);
    uint32_t episodes = 0;
    for (uint32_t i = 0; i < d.plan.part_count; i++)
        episodes += d.parts[i].episode_count;
    cr_expect_str_eq(inspected_fact(&d, "era"), c->era, "%s", c->name);
    cr_expect_str_eq(inspected_fact(&d, "id"), c->id);
    cr_expect_str_eq(inspected_fact(&d, "stated_version"), c->version);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    cr_expect_eq(episodes, c->episodes, "%s: %u episodes", c->name, episodes);
    if (d.plan.part_count)
        cr_expect_eq(d.parts[0].field_count, c->fields, "%s: %u fields", c->name, d.parts[0].field_count);
    cr_expect_eq(problems_of(&d), c->problem_count, "%s: %u problems", c->name, problems_of(&d));
    if (c->problem[0])
        cr_expect_not_null(inspected_problem(&d, c->problem, NULL), "%s", c->name);
    inspected_close(&d);
}

struct field_case {
    char set[48], path[48];
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
};

ParameterizedTestParameters(minari, fields)
{
    static struct field_case cases[] = {
        {"minari/root-0.4.3/door-human-v0", "observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"minari/root-0.4.3/door-human-v0", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"minari/root-0.4.3/door-human-v0", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP},
        {"minari/root-0.4.3/door-human-v0", "terminations", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"minari/root-0.4.3/antmaze-goals-v0", "observations/achieved_goal/light switch", HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"minari/root-0.4.3/antmaze-short-obs-v0", "observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"minari/root-0.4.3/relocate-state-v1", "state/qpos", HUB_FIELD_NUMBER, HUB_ROLE_OTHER,
         HUB_AXIS_STATE},
        {"minari/root-0.4.3/dummy-raw-image-v0", "observations", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"minari/root-0.5.3/dummy-image/test-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"minari/root-0.5.3/dummy-image/equal-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"minari/root-0.5.3/dummy-tuple/test-v0", "observations/_index_1", HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"minari/root-0.5.3/dummy-text/test-v0", "observations", HUB_FIELD_TEXT, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
    };
    return cr_make_param_array(struct field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct field_case *c, minari, fields, .timeout = 60)
{
    struct inspected d;
    open_set(&d, c->set, HUB_OK);
    const struct hub_found_field *field = inspected_field(&d.parts[0], c->path);
    cr_assert_not_null(field, "%s has no %s", c->set, c->path);
    cr_expect_eq(field->type, c->type, "%s %s: %s", c->set, c->path, hub_field_type_name(field->type));
    cr_expect_eq(field->role, c->role, "%s %s: %s", c->set, c->path, hub_role_name(field->role));
    cr_expect_eq(field->axis, c->axis, "%s %s: %s", c->set, c->path, hub_axis_name(field->axis));
    cr_expect_null(field->unreadable);
    cr_expect_not_null(field->layout);
    inspected_close(&d);
}

Test(minari, episodes_come_in_number_order_with_their_attributes, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "minari/root-0.4.3/door-human-v0", HUB_OK);
    const struct hub_findings *part = &d.parts[0];
    for (uint32_t i = 0; i < part->episode_count; i++)
        cr_assert_eq(part->episodes[i].number, i);
    const struct hub_found_episode *e = &part->episodes[10];
    cr_expect_str_eq(e->name, "episode_10");
    cr_expect_str_eq(e->seed, "110");
    cr_expect_eq(e->steps, 15);
    cr_expect(e->has_return && !e->return_computed);
    cr_expect_float_eq(e->episode_return, 29.743822970583736, 1e-12);
    cr_expect_eq(e->terminated, 1);
    cr_expect_eq(e->truncated, 0);
    cr_expect_eq(e->success, -1);
    cr_expect_str_eq(inspected_fact(&d, "claimed_episodes"), "25");
    cr_expect_str_eq(inspected_fact(&d, "claimed_steps"), "459");
    cr_expect_not_null(inspected_fact(&d, "observation_space_place"));
    cr_expect_not_null(strstr(inspected_fact(&d, "observation_space"), "\"low\":\"-Infinity\",\"high\":"));
    cr_expect_null(strstr(inspected_fact(&d, "metadata"), "_space"));
    inspected_close(&d);
}

Test(minari, seeds_of_64_bits_and_nested_options, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "minari/root-0.5.3/dummy-options/test-v0", HUB_OK);
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect_str_eq(e[0].seed, "9223372036854775808");
    cr_expect_str_eq(e[1].seed, "18446744073709551615");
    cr_expect_str_eq(e[2].seed, "9223372036854775807");
    cr_expect_not_null(strstr(e[0].attributes, "\"goal\":[1.5,-2.0]"));
    cr_expect_not_null(strstr(e[0].attributes, "\"walls\":[[0,1,2],[3,4,5]]"));
    cr_expect_not_null(strstr(e[2].attributes, "{\"options\":{\"flag\":true,\"low\":-0.25}}"));
    inspected_close(&d);
    open_set(&d, "minari/root-0.4.2/simple-links-v0", HUB_OK); /* a seed of the text "None" is none */
    cr_expect_null(d.parts[0].episodes[1].seed);
    cr_expect_str_eq(d.parts[0].episodes[1].attributes, "{\"seed\":\"None\"}");
    inspected_close(&d);
}

Test(minari, linked_episodes_have_the_links_numbers, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "minari/root-0.4.2/simple-links-v0", HUB_OK);
    cr_expect_str_eq(d.plan.parts[0].name, "main_data.hdf5");
    cr_expect_str_eq(d.plan.parts[1].name, "additional_data_0.hdf5");
    cr_expect_str_eq(d.plan.parts[2].name, "additional_data_1.hdf5");
    cr_expect_eq(d.parts[1].episode_count, 2);
    cr_expect_eq(d.parts[1].episodes[0].number, 2);
    cr_expect_eq(d.parts[1].episodes[1].number, 3);
    cr_expect_eq(d.parts[2].episodes[0].number, 4);
    cr_expect_str_eq(d.files[d.parts[1].episodes[0].file].path, "data/additional_data_0.hdf5");
    inspected_close(&d);
}

/* A copy of the set in which one file has lost its second half. */
static void open_cut(struct inspected *d, const char *set, const char *file, enum hub_status expected,
                     struct hub_error *err)
{
    static unsigned copies;
    char path[1000], command[3000];
    struct stat st;
    snprintf(path, sizeof path, "/tmp/minari-cut-%d-%u", (int)getpid(), copies++);
    snprintf(command, sizeof command, "cp -r '%s/%s' '%s'", HUB_FIXTURES, set, path);
    cr_assert_eq(system(command), 0);
    snprintf(command, sizeof command, "%s/%s", path, file);
    cr_assert(stat(command, &st) == 0 && truncate(command, st.st_size / 2) == 0);
    cr_expect_eq(inspected_open(d, HUB_INSPECT, path, err), expected, "%s: %s", set, err->detail);
    snprintf(command, sizeof command, "rm -r '%s'", path);
    cr_assert_eq(system(command), 0);
}

Test(minari, what_was_cut_short_is_broken, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    open_cut(&d, "minari/root-0.5.3/cartpole/test-v0", "data/main_data.hdf5", HUB_CORRUPT, &err);
    cr_expect_not_null(strstr(err.detail, "data/main_data.hdf5: the file was cut short: "), "%s", err.detail);
    inspected_close(&d);
    open_cut(&d, "minari/root-0.4.2/simple-links-v0", "data/additional_data_0.hdf5", HUB_OK, &err);
    cr_expect_eq(d.part_status[0], HUB_OK, "%s", d.part_errors[0].detail);
    cr_expect_eq(d.part_status[1], HUB_CORRUPT);
    cr_expect_str_eq(d.part_errors[1].detail, "the file was cut short: 17260 of 34520 bytes are there");
    cr_expect_eq(d.part_status[2], HUB_OK);
    inspected_close(&d);
}

Test(minari, returns_are_summed_where_nobody_states_them, .timeout = 60)
{
    struct inspected d;
    open_set(&d, "hdf5/layout-old-v0", HUB_OK);
    cr_expect(d.parts[0].episodes[0].has_return && d.parts[0].episodes[0].return_computed);
    cr_expect_null(d.parts[0].episodes[0].statistics);
    inspected_close(&d);
    open_set(&d, "minari/root-0.4.3/dummy-nan-reward-v0",
             HUB_OK); /* NaN is no return, but stays in the statistics */
    cr_expect_not(d.parts[0].episodes[0].has_return);
    cr_expect_not_null(strstr(d.parts[0].episodes[0].statistics, "\"sum\":\"NaN\""));
    inspected_close(&d);
}

/* JPEG frames, of one length (rows of bytes) and of many (extents): each row is a file. */
Test(minari, rows_of_pictures_are_jpeg_files, .timeout = 60)
{
    static const char *const sets[] = {"minari/root-0.5.3/dummy-image/test-v0",
                                       "minari/root-0.5.3/dummy-image/equal-v0"};
    for (size_t s = 0; s < HUB_COUNT(sets); s++) {
        struct inspected d;
        struct hub_layout layout;
        struct hub_rows rows = {0};
        struct hub_error err = {0};
        open_set(&d, sets[s], HUB_OK);
        const struct hub_found_field *field = inspected_field(&d.parts[0], "observations");
        cr_assert_eq(hub_layout_open(field->layout, field->layout_size, &layout, &err), HUB_OK);
        cr_assert_eq(rows_read(&d, 0, &layout, hub_layout_window(&layout, 0), &rows, &err), HUB_OK, "%s",
                     err.detail);
        cr_assert_gt(rows.rows, 1);
        for (uint64_t i = 0; i < rows.rows; i++) {
            const uint8_t *row =
                rows.data + (rows.offsets ? rows.offsets[i] : i * hub_variant_row_bytes(&rows.variant));
            cr_expect(row[0] == 0xFF && row[1] == 0xD8 && row[2] == 0xFF);
        }
        hub_rows_dispose(&rows);
        inspected_close(&d);
    }
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/data", dir);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/data/%s", dir, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    fclose(out);
}

Test(minari, storage_of_other_kinds_is_named_and_not_supported, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    char dir[] = "/tmp/hub-minari-XXXXXX", command[64];
    cr_assert_not_null(mkdtemp(dir));
    write_file(dir, "metadata.json",
               "{\"total_episodes\": 2, \"data_format\": \"lance\", \"dataset_id\": \"a/b-v0\"}");
    cr_expect_eq(inspected_open(&d, HUB_INSPECT, dir, &err), HUB_UNSUPPORTED);
    cr_expect_str_eq(d.format, "minari-hdf5");
    cr_expect_not_null(strstr(err.detail, "'lance'"), "%s", err.detail);
    inspected_close(&d);
    write_file(dir, "metadata.json", "{\"total_episodes\": 2, \"data_format\": \"hdf5\"}");
    cr_expect_eq(inspected_open(&d, HUB_INSPECT, dir, &err), HUB_CORRUPT);
    cr_expect_not_null(strstr(err.detail, "missing"), "%s", err.detail);
    inspected_close(&d);
    snprintf(command, sizeof command, "rm -r %s", dir);
    cr_expect_eq(system(command), 0);
}
