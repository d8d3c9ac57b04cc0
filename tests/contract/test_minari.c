/* The Minari driver over the fixtures that Minari itself wrote: what each set is said to hold, era by era. */
#include "tests/support/contract.h"
#include "tests/support/scan_root.h"

#include <math.h>

struct set_case {
    char name[56], era[4], id[40], version[16];
    uint32_t parts, episodes, fields, problem_count;
    char problem[24];
};

ParameterizedTestParameters(minari, sets)
{
    static struct set_case cases[] = {
        {"root-0.3.1/door-human-v0", "E3", "door-human-v0", "", 1, 2, 8, 0, ""},
        {"root-0.3.1/goals-flat-v0", "E3", "goals-flat-v0", "", 1, 2, 5, 0, ""},
        {"root-0.3.1/cartpole-links-v0", "E3", "cartpole-links-v0", "", 2, 3, 5, 0, ""},
        {"root-0.4.2/door-human-v1", "E4a", "door-human-v1", "~=0.4", 1, 3, 8, 0, ""},
        {"root-0.4.2/simple-links-v0", "E4a", "simple-links-v0", "~=0.4", 3, 5, 5, 0, ""},
        {"root-0.4.2/part-links-v0", "E4a", "part-links-v0", "~=0.4", 0, 0, 0, 2, "link-leaves-dataset"},
        {"root-0.4.3/door-human-v0", "E4b", "door-human-v0", "~=0.4", 1, 25, 5, 0, ""},
        {"root-0.4.3/antmaze-short-obs-v0", "E4b", "antmaze-short-obs-v0", "~=0.4", 1, 2, 5, 1,
         "rows-differ"},
        {"root-0.4.3/relocate-state-v1", "E4b", "relocate-state-v1", "~=0.4", 1, 1, 8, 0, ""},
        {"root-0.5.3/D4RL/door/human-v2", "E5", "D4RL/door/human-v2", "0.5.3", 1, 25, 5, 0, ""},
        {"root-0.5.3/dummy-options/test-v0", "E5", "dummy-options/test-v0", "0.5.3", 1, 4, 5, 0, ""},
        {"root-0.5.3/dummy-odd/single-step-v0", "E5", "dummy-odd/single-step-v0", "0.5.3", 1, 2, 5, 0, ""},
        {"root-traps/D4RL/hammer/human-v2", "E5", "", "", 1, 1, 5, 2, "metadata-missing"},
        {"root-traps/missing-link-v0", "E4a", "simple-links-v0", "~=0.4", 1, 2, 5, 2, "link-target-missing"},
    };
    return cr_make_param_array(struct set_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct set_case *c, minari, sets, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "minari/%s", c->name);
    uint32_t episodes = 0;
    for (uint32_t i = 0; i < d.plan.part_count; i++)
        episodes += d.parts[i].episode_count;
    contract_check_fact(&d, "era", c->era);
    contract_check_fact(&d, "id", c->id);
    contract_check_fact(&d, "stated_version", c->version);
    cr_expect_eq(d.plan.part_count, c->parts, "%s: %u parts", c->name, d.plan.part_count);
    cr_expect_eq(episodes, c->episodes, "%s: %u episodes", c->name, episodes);
    if (d.plan.part_count)
        cr_expect_eq(d.parts[0].field_count, c->fields, "%s: %u fields", c->name, d.parts[0].field_count);
    cr_expect_eq(contract_problems(&d), c->problem_count, "%s: %u problems", c->name, contract_problems(&d));
    contract_check_problems(&d, c->problem);
}

ParameterizedTestParameters(minari, fields)
{
    static struct contract_field_case cases[] = {
        {"root-0.4.3/door-human-v0", "observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"root-0.4.3/door-human-v0", "actions", HUB_FIELD_NUMBER, HUB_ROLE_ACTION, HUB_AXIS_STEP},
        {"root-0.4.3/door-human-v0", "rewards", HUB_FIELD_NUMBER, HUB_ROLE_REWARD, HUB_AXIS_STEP},
        {"root-0.4.3/door-human-v0", "terminations", HUB_FIELD_BOOL, HUB_ROLE_DONE, HUB_AXIS_STEP},
        {"root-0.4.3/antmaze-goals-v0", "observations/achieved_goal/light switch", HUB_FIELD_NUMBER,
         HUB_ROLE_OBSERVATION, HUB_AXIS_STATE},
        {"root-0.4.3/antmaze-short-obs-v0", "observations", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"root-0.4.3/relocate-state-v1", "state/qpos", HUB_FIELD_NUMBER, HUB_ROLE_OTHER, HUB_AXIS_STATE},
        {"root-0.4.3/dummy-raw-image-v0", "observations", HUB_FIELD_IMAGE_RAW, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"root-0.5.3/dummy-image/test-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"root-0.5.3/dummy-image/equal-v0", "observations", HUB_FIELD_IMAGE_JPEG, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"root-0.5.3/dummy-tuple/test-v0", "observations/_index_1", HUB_FIELD_NUMBER, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
        {"root-0.5.3/dummy-text/test-v0", "observations", HUB_FIELD_TEXT, HUB_ROLE_OBSERVATION,
         HUB_AXIS_STATE},
    };
    return cr_make_param_array(struct contract_field_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct contract_field_case *c, minari, fields, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "minari/%s", c->set);
    contract_check_field(&d, c);
}

Test(minari, episodes_come_in_number_order_with_their_attributes, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("minari-hdf5", "minari/root-0.4.3/door-human-v0");
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
    contract_check_fact(&d, "claimed_episodes", "25");
    contract_check_fact(&d, "claimed_steps", "459");
    cr_expect_not_null(inspected_fact(&d, "observation_space_place"));
    contract_check_says(&d, inspected_fact(&d, "observation_space"), "\"low\":\"-Infinity\",\"high\":");
    cr_expect_null(strstr(inspected_fact(&d, "metadata"), "_space"));
}

Test(minari, seeds_of_64_bits_and_nested_options, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("minari-hdf5", "minari/root-0.5.3/dummy-options/test-v0");
    const struct hub_found_episode *e = d.parts[0].episodes;
    cr_expect_str_eq(e[0].seed, "9223372036854775808");
    cr_expect_str_eq(e[1].seed, "18446744073709551615");
    cr_expect_str_eq(e[2].seed, "9223372036854775807");
    contract_check_says(&d, e[0].attributes, "\"goal\":[1.5,-2.0]");
    contract_check_says(&d, e[0].attributes, "\"walls\":[[0,1,2],[3,4,5]]");
    contract_check_says(&d, e[2].attributes, "{\"options\":{\"flag\":true,\"low\":-0.25}}");
    HUB_CLEANUP(inspected_close)
    struct inspected links = contract_open("minari-hdf5", "minari/root-0.4.2/simple-links-v0");
    cr_expect_null(links.parts[0].episodes[1].seed); /* a seed of the text "None" is none */
    contract_check_text(&links, links.parts[0].episodes[1].attributes, "{\"seed\":\"None\"}");
}

Test(minari, linked_episodes_have_the_links_numbers, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("minari-hdf5", "minari/root-0.4.2/simple-links-v0");
    cr_expect_str_eq(d.plan.parts[0].name, "main_data.hdf5");
    cr_expect_str_eq(d.plan.parts[1].name, "additional_data_0.hdf5");
    cr_expect_str_eq(d.plan.parts[2].name, "additional_data_1.hdf5");
    cr_expect_eq(d.parts[1].episode_count, 2);
    cr_expect_eq(d.parts[1].episodes[0].number, 2);
    cr_expect_eq(d.parts[1].episodes[1].number, 3);
    cr_expect_eq(d.parts[2].episodes[0].number, 4);
    cr_expect_str_eq(d.files[d.parts[1].episodes[0].file].path, "data/additional_data_0.hdf5");
}

/* Open a copy of the set in which one file has lost its second half. */
static enum hub_status try_cut(struct inspected *d, const char *set, const char *file, struct hub_error *err)
{
    char *folder = scan_directory(), path[200];
    struct stat st;
    scan_copy(set, folder);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    cr_assert(stat(path, &st) == 0 && truncate(path, st.st_size / 2) == 0, "%s: no %s", set, file);
    const enum hub_status result = contract_try(d, err, "%s", folder);
    scan_remove(folder);
    return result;
}

Test(minari, what_was_cut_short_is_broken, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected single, d;
    struct hub_error err;
    cr_expect_eq(try_cut(&single, "minari/root-0.5.3/cartpole/test-v0", "data/main_data.hdf5", &err),
                 HUB_CORRUPT);
    contract_check_says(&single, err.detail, "data/main_data.hdf5: the file was cut short: ");
    cr_expect_eq(try_cut(&d, "minari/root-0.4.2/simple-links-v0", "data/additional_data_0.hdf5", &err),
                 HUB_OK);
    cr_expect_eq(d.part_status[0], HUB_OK, "%s", d.part_errors[0].detail);
    cr_expect_eq(d.part_status[1], HUB_CORRUPT);
    contract_check_text(&d, d.part_errors[1].detail,
                        "the file was cut short: 17260 of 34520 bytes are there");
    cr_expect_eq(d.part_status[2], HUB_OK);
}

Test(minari, returns_are_summed_where_nobody_states_them, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("minari-hdf5", "hdf5/layout-old-v0");
    cr_expect(d.parts[0].episodes[0].has_return && d.parts[0].episodes[0].return_computed);
    cr_expect_null(d.parts[0].episodes[0].statistics);
    HUB_CLEANUP(inspected_close)
    struct inspected nan = contract_open("minari-hdf5", "minari/root-0.4.3/dummy-nan-reward-v0");
    cr_expect(nan.parts[0].episodes[0].has_return && isnan(nan.parts[0].episodes[0].episode_return));
    contract_check_says(&nan, nan.parts[0].episodes[0].statistics, "\"sum\":\"NaN\"");
}

/* JPEG frames, of one length (rows of bytes) and of many (extents): each row is a file. */
Test(minari, rows_of_pictures_are_jpeg_files, .timeout = 60)
{
    static const char *const sets[] = {"test-v0", "equal-v0"};
    for (size_t s = 0; s < HUB_COUNT(sets); s++) {
        HUB_CLEANUP(inspected_close)
        struct inspected d = contract_open("minari-hdf5", "minari/root-0.5.3/dummy-image/%s", sets[s]);
        HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = contract_read(&d, "observations", 0);
        cr_assert_gt(rows.rows, 1);
        for (uint64_t i = 0; i < rows.rows; i++)
            cr_expect(hub_view_starts(contract_row(&rows, i), "\xff\xd8\xff"), "%s: row %u", sets[s],
                      (unsigned)i);
    }
}

struct storage_case {
    char metadata[96];
    enum hub_status st;
    char says[16];
};

Test(minari, storage_of_other_kinds_is_named_and_not_supported, .timeout = 60)
{
    static const struct storage_case cases[] = {
        {"{\"total_episodes\": 2, \"data_format\": \"lance\", \"dataset_id\": \"a/b-v0\"}", HUB_UNSUPPORTED,
         "'lance'"},
        {"{\"total_episodes\": 2, \"data_format\": \"hdf5\"}", HUB_CORRUPT, "missing"},
    };
    char *folder = scan_directory();
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(inspected_close) struct inspected d;
        struct hub_error err;
        scan_write(folder, "data/metadata.json", cases[i].metadata);
        cr_expect_eq(contract_try(&d, &err, "%s", folder), cases[i].st);
        cr_expect_str_eq(d.format, "minari-hdf5");
        contract_check_says(&d, err.detail, cases[i].says);
    }
    scan_remove(folder);
}
