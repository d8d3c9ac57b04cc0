/* The generic driver over plain HDF5, .npy, .npz, Parquet and Arrow files, and what it refuses by name. */
#include "tests/support/contract.h"

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
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("generic", "generic/%s", c->path);
    const struct hub_findings *part = contract_part(&d, 0, 1, c->fields);
    cr_expect_eq(part->episodes[0].steps, c->steps, "%s: %u steps", c->path,
                 (unsigned)part->episodes[0].steps);
    cr_expect_eq(part->problem_count, c->problem[0] != '\0', "%s", c->path);
    contract_check_problems(&d, c->problem);
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
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    const enum hub_status st = contract_try(&d, &err, "generic/%s", c->path);
    cr_expect_eq(st, c->st, "%s: %s", c->path, err.detail);
    contract_check_says(&d, st ? err.detail : d.part_errors[0].detail, c->words);
}

/* What is damaged in a stored member hides no other one. */
struct member_case {
    char path[24], member[8], sound[8], why[40];
};

ParameterizedTestParameters(generic, damaged_members)
{
    static struct member_case cases[] = {
        {"broken/bent.npz", "obs", "acts", "its CRC-32 is wrong"},
        {"broken/renamed.npz", "acts", "obs", "differ in its name"},
    };
    return cr_make_param_array(struct member_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct member_case *c, generic, damaged_members, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("generic", "generic/%s", c->path);
    contract_check_says(&d, contract_field(&d, c->member)->unreadable, c->why);
    contract_check_text(&d, contract_field(&d, c->sound)->unreadable, "");
}

Test(generic, an_attribute_of_lists_is_their_numbers_or_bytes, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("generic", "generic/hdf5/far.h5");
    const char *metadata = inspected_fact(&d, "metadata");
    contract_check_says(&d, metadata, "\"split\":[[0,1],[],[0,1,2]]");
    contract_check_says(&d, metadata, "\"thumbnail\":{\"base64\":\"/9j/\"}");
    contract_check_says(&d, metadata, "\"raw\":[{\"base64\":\"gFBL\"},{\"base64\":\"\"},{\"length\":3000,");
}
