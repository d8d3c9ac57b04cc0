/* The generic driver over plain HDF5, .npy, .npz, Parquet and Arrow files, and what it refuses by name. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

struct file_case {
    char path[24];
    uint32_t fields;
    uint64_t steps;
    char problem[16];
};

ParameterizedTestParameters(generic, files)
{
    static struct file_case cases[] = {
        {"hdf5/trace.h5", 7, 40, ""},
        {"hdf5/block.hdf5", 1, 5, ""},
        {"hdf5/far.h5", 1, 5, ""},
        {"hdf5/nothing.h5", 0, 0, ""},
        {"numpy/plain.npy", 1, 30, ""},
        {"numpy/fortran.npy", 1, 9, ""},
        {"numpy/scalar.npy", 1, 0, ""},
        {"numpy/empty.npy", 1, 0, ""},
        {"numpy/objects.npy", 1, 0, ""},
        {"numpy/texts.npy", 1, 2, ""},
        {"numpy/words.npz", 6, 3, ""},
        {"numpy/stored.npz", 7, 20, ""},
        {"numpy/deflated.npz", 7, 20, ""},
        {"numpy/mixed.npz", 3, 4, "not-an-array"},
        {"numpy/nothing.npz", 0, 0, ""},
        {"numpy/states.npz", 4, 5, ""},
        {"columns/log.parquet", 10, 30, "nulls"},
        {"columns/none.parquet", 10, 0, ""},
        {"columns/file.arrow", 10, 30, "nulls"},
        {"columns/stream.arrow", 10, 30, "nulls"},
        {"columns/lz4.feather", 10, 30, "nulls"},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct file_case *c, generic, files, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    char path[1000];
    snprintf(path, sizeof path, "%s/generic/%s", HUB_FIXTURES, c->path);
    cr_assert_eq(inspected_open_file(&d, HUB_INSPECT, path, &err), HUB_OK, "%s: %s", c->path, err.detail);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->path, d.part_errors[0].detail);
    cr_expect_str_eq(d.format, "generic");
    cr_expect_eq(d.parts[0].episode_count, 1, "%s", c->path);
    cr_expect_eq(d.parts[0].episodes[0].steps, c->steps, "%s: %llu steps", c->path,
                 (unsigned long long)d.parts[0].episodes[0].steps);
    cr_expect_eq(d.parts[0].field_count, c->fields, "%s: %u fields", c->path, d.parts[0].field_count);
    cr_expect_eq(d.parts[0].problem_count, c->problem[0] != '\0', "%s", c->path);
    cr_expect(!c->problem[0] || inspected_problem(&d, c->problem, NULL), "%s", c->path);
    inspected_close(&d);
}

struct refused_case {
    char path[48];
    enum hub_status st;
    char words[32];
};

ParameterizedTestParameters(generic, refused)
{
    static struct refused_case cases[] = {
        {"refused/zarr2", HUB_UNSUPPORTED, "Zarr"},
        {"refused/zarr3", HUB_UNSUPPORTED, "Zarr"},
        {"refused/tfds/1.0.0", HUB_UNSUPPORTED, "tfds.builder_from_directory"},
        {"refused/files/run.mcap", HUB_UNSUPPORTED, "MCAP"},
        {"refused/files/run.bag", HUB_UNSUPPORTED, "ROS bag"},
        {"refused/files/run_0.db3", HUB_UNSUPPORTED, "ROS 2 bag"},
        {"refused/files/store.zarr.zip", HUB_UNSUPPORTED, "Zarr"},
        {"refused/files/$store$_observation_ckpt.0.gz", HUB_UNSUPPORTED, "replay buffer"},
        {"refused/files/demos.pkl", HUB_UNSUPPORTED, "git lfs pull"},
        {"refused/files/front.mp4", HUB_UNSUPPORTED, "git lfs pull"},
        {"refused/files/plain.gz", HUB_NOT_FOUND, "nobody claims"},
        {"broken/cut.h5", HUB_CORRUPT, "cut short"},
        {"broken/cut.parquet", HUB_OK, "cut short"},
        {"broken/cut.npz", HUB_OK, "cut short"},
        {"broken/cut.npy", HUB_OK, "bytes in"},
        {"broken/pointer.npz", HUB_CORRUPT, "git lfs pull"},
    };
    return cr_make_param_array(struct refused_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct refused_case *c, generic, refused, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    char path[1000];
    snprintf(path, sizeof path, "%s/generic/%s", HUB_FIXTURES, c->path);
    const char *last = strrchr(c->path, '.'); /* a folder has no ending that is letters */
    const bool file = last && (last[1] < '0' || last[1] > '9');
    const enum hub_status st =
        file ? inspected_open_file(&d, HUB_INSPECT, path, &err) : inspected_open(&d, HUB_INSPECT, path, &err);
    cr_expect_eq(st, c->st, "%s: %s", c->path, err.detail);
    const char *said = st ? err.detail : d.part_errors[0].detail;
    cr_expect(strstr(said, c->words), "%s: %s", c->path, said);
    inspected_close(&d);
}

Test(generic, an_attribute_of_lists_is_their_numbers_or_bytes, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(inspected_open_file(&d, HUB_INSPECT, HUB_FIXTURES "/generic/hdf5/far.h5", &err), HUB_OK,
                 "%s", err.detail);
    const char *metadata = inspected_fact(&d, "metadata");
    cr_expect_not_null(strstr(metadata, "\"split\":[[0,1],[],[0,1,2]]"), "%s", metadata);
    cr_expect_not_null(strstr(metadata, "\"thumbnail\":{\"base64\":\"/9j/\"}"), "%s", metadata);
    cr_expect_not_null(strstr(metadata, "\"raw\":[{\"base64\":\"gFBL\"},{\"base64\":\"\"},{\"length\":3000,"),
                       "%s", metadata);
    inspected_close(&d);
}
