/* Demonstrations in the native files of il-representations' benchmarks: what each is said to hold. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>

#include "tests/support/rows.h"

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
        {"demos/atari/pong.npz", "atari", 1, 2, 4, 4, 0},
        {"demos/atari/stored.npz", "atari", 1, 2, 4, 4, 0},
        {"demos/dm-control/finger-spin.pkl.gz", "dm_control", 1, 2, 7, 4, -1},
        {"demos/magical/move-to-corner", "magical", 2, 1, 7, 3, 0},
        {"demos/procgen/coinrun.pickle", "procgen", 1, 2, 5, 3, 1.5},
        {"demos/odd/column", "procgen", 1, 2, 5, 3, 3},
        {"demos/odd/latin", "procgen", 1, 2, 5, 3, 3},
        {"demos/odd/empty", "atari", 1, 3, 4, 6, 0},
        {"demos/odd/blind", "atari", 1, 2, 4, 6, 0},
        {"demos/odd/times", "procgen", 1, 1, 6, 6, 0},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

static enum hub_status open_set(struct inspected *d, const char *name, struct hub_error *err)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/il/%s", HUB_FIXTURES, name);
    return strchr(strrchr(name, '/'), '.') ? inspected_open_file(d, HUB_INSPECT, path, err)
                                           : inspected_open(d, HUB_INSPECT, path, err);
}

ParameterizedTest(struct file_case *c, il, files, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, c->path, &err), HUB_OK, "%s: %s", c->path, err.detail);
    cr_expect_str_eq(d.format, "il-native");
    cr_expect_str_eq(inspected_fact(&d, "era"), c->era, "%s", c->path);
    cr_assert_eq(d.plan.part_count, c->parts, "%s", c->path);
    cr_assert_eq(d.part_status[0], HUB_OK, "%s: %s", c->path, d.part_errors[0].detail);
    const struct hub_findings *part = &d.parts[0];
    cr_assert_eq(part->episode_count, c->episodes, "%s: %u episodes", c->path, part->episode_count);
    cr_expect_eq(part->field_count, c->fields, "%s: %u fields", c->path, part->field_count);
    cr_expect_eq(part->episodes[0].steps, c->steps, "%s", c->path);
    cr_expect_eq(part->problem_count, 0, "%s", c->path);
    if (c->episode_return >= 0)
        cr_expect_eq(part->episodes[0].episode_return, c->episode_return, "%s", c->path);
    inspected_close(&d);
}

Test(il, a_score_is_an_attribute, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "demos/magical/move-to-corner", NULL), HUB_OK);
    cr_expect_str_eq(d.parts[1].episodes[0].attributes,
                     "{\"score\":0.75,\"env_name\":\"MoveToCorner-Demo-v0\"}");
    inspected_close(&d);
}

/* What is shorter than the steps is told, and cuts episodes as far as it goes; nothing is made up in its place. */
Test(il, short_members_are_told, .timeout = 60)
{
    struct inspected d;
    cr_assert_eq(open_set(&d, "demos/odd/short", NULL), HUB_OK);
    cr_assert_eq(d.parts[0].episode_count, 2);
    cr_expect_eq(d.parts[0].episodes[0].steps, 3);
    cr_expect_null(inspected_field(&d.parts[0], "dones"));
    cr_expect_null(inspected_field(&d.parts[0], "rews"));
    cr_expect_not_null(inspected_problem(&d, "length-mismatch", "dones"));
    cr_expect_not_null(inspected_problem(&d, "length-mismatch", "rews"));
    inspected_close(&d);
}

/* Other pickles are nobody's, and none is run. */
Test(il, neighbours_are_declined, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_expect_eq(open_set(&d, "demos/neighbours/stats.pkl", &err), HUB_NOT_ACCEPTABLE, "%s", err.detail);
    inspected_close(&d);
    cr_expect_eq(open_set(&d, "demos/neighbours/evil.pkl", &err), HUB_NOT_ACCEPTABLE, "%s", err.detail);
    inspected_close(&d);
}

Test(il, a_cut_file_is_broken, .timeout = 60)
{
    struct inspected d;
    struct hub_error err = {0};
    cr_assert_eq(open_set(&d, "broken/cut.pkl.gz", &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(d.part_status[0], HUB_CORRUPT);
    cr_expect_str_eq(d.part_errors[0].detail, "the packed data end too early");
    inspected_close(&d);
}
