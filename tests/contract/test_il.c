/* Demonstrations in the native files of il-representations' benchmarks: what each is said to hold. */
#include "tests/support/contract.h"

struct file_case {
    char path[48];
    char era[16];
    uint32_t parts, episodes, fields; /* episodes and fields of the first part */
    uint64_t steps;                   /* of its first episode */
    double episode_return;
};

ParameterizedTestParameters(il, files)
{
    static struct file_case cases[] = {
        {"atari/pong.npz", "atari", 1, 2, 4, 4, 0},
        {"atari/stored.npz", "atari", 1, 2, 4, 4, 0},
        {"dm-control/finger-spin.pkl.gz", "dm_control", 1, 2, 7, 4, -1},
        {"magical/move-to-corner", "magical", 2, 1, 7, 3, 0},
        {"procgen/coinrun.pickle", "procgen", 1, 2, 5, 3, 1.5},
        {"odd/column", "procgen", 1, 2, 5, 3, 3},
        {"odd/latin", "procgen", 1, 2, 5, 3, 3},
        {"odd/empty", "atari", 1, 3, 4, 6, 0},
        {"odd/blind", "atari", 1, 2, 4, 6, 0},
        {"odd/times", "procgen", 1, 1, 6, 6, 0},
        {"pictures/frames", "procgen", 1, 1, 5, 3, 3},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct file_case *c, il, files, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("il-native", "il/demos/%s", c->path);
    contract_check_fact(&d, "era", c->era);
    cr_assert_eq(d.plan.part_count, c->parts, "%s", c->path);
    const struct hub_findings *part = contract_part(&d, 0, c->episodes, c->fields);
    cr_expect_eq(part->episodes[0].steps, c->steps, "%s", c->path);
    cr_expect_eq(part->problem_count, 0, "%s", c->path);
    if (c->episode_return >= 0)
        cr_expect_eq(part->episodes[0].episode_return, c->episode_return, "%s", c->path);
}

Test(il, a_score_is_an_attribute, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("il-native", "il/demos/magical/move-to-corner");
    contract_check_text(&d, d.parts[1].episodes[0].attributes,
                        "{\"score\":0.75,\"env_name\":\"MoveToCorner-Demo-v0\"}");
}

Test(il, the_environment_is_a_fact, .timeout = 60)
{
    HUB_CLEANUP(inspected_close)
    struct inspected d = contract_open("il-native", "il/demos/magical/move-to-corner"),
                     other = contract_open("il-native", "il/demos/procgen/coinrun.pickle");
    contract_check_fact(&d, "metadata", "{\"env_name\":\"MoveToCorner-Demo-v0\"}");
    contract_check_fact(&other, "metadata", "");
}

struct picture_case {
    char path[48], field[16], layout[8];
    uint32_t frames, channels;
};

ParameterizedTestParameters(il, pictures)
{
    static struct picture_case cases[] = {
        {"pictures/planes", "obs", "CHW", 1, 3},
        {"pictures/planes", "next_obs", "CHW", 1, 3},
        {"pictures/frames", "obs", "CHW", 4, 3},
        {"pictures/grey", "obs", "CHW", 4, 1},
        {"pictures/atari", "obs", "HWC", 4, 1},
        {"magical/move-to-corner", "obs/ego", "HWC", 1, 3},
        {"magical/move-to-corner", "acts", "", 0, 0},
        {"procgen/coinrun.pickle", "obs", "", 0, 0}, /* (3,4,4) */
    };
    return cr_make_param_array(struct picture_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct picture_case *c, il, pictures, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("il-native", "il/demos/%s", c->path);
    contract_check_picture(&d, c->field, c->layout, c->frames, c->channels);
}

/* What is shorter than the steps is told, and cuts episodes as far as it goes; nothing is made up in its
 * place. */
Test(il, short_members_are_told, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d = contract_open("il-native", "il/demos/odd/short");
    cr_assert_eq(d.parts[0].episode_count, 2);
    cr_expect_eq(d.parts[0].episodes[0].steps, 3);
    cr_expect_null(inspected_field(&d.parts[0], "dones"));
    cr_expect_null(inspected_field(&d.parts[0], "rews"));
    cr_expect_not_null(inspected_problem(&d, "length-mismatch", "dones"));
    cr_expect_not_null(inspected_problem(&d, "length-mismatch", "rews"));
}

/* Other pickles are nobody's, and none is run. */
Test(il, neighbours_are_declined, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected stats, evil;
    struct hub_error err;
    cr_expect_eq(contract_try(&stats, &err, "il/demos/neighbours/stats.pkl"), HUB_NOT_ACCEPTABLE, "%s",
                 err.detail);
    cr_expect_eq(contract_try(&evil, &err, "il/demos/neighbours/evil.pkl"), HUB_NOT_ACCEPTABLE, "%s",
                 err.detail);
}

struct broken_case {
    char path[24], why[48];
};

ParameterizedTestParameters(il, broken)
{
    static struct broken_case cases[] = {
        {"cut.pkl.gz", "the compressed data end too early"},
        {"short.pkl", "the pickle is cut short at "},
        {"bent.npz", "its CRC-32 is wrong"},
    };
    return cr_make_param_array(struct broken_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct broken_case *c, il, broken, .timeout = 60)
{
    HUB_CLEANUP(inspected_close) struct inspected d;
    struct hub_error err;
    cr_assert_eq(contract_try(&d, &err, "il/broken/%s", c->path), HUB_OK, "%s", err.detail);
    cr_expect_eq(d.part_status[0], HUB_CORRUPT);
    contract_check_says(&d, d.part_errors[0].detail, c->why);
}
