/* Drivers that try what a driver must not be able to do: each is stopped, every time, and the reason is
 * told. */
#include "tests/support/inspect_job.h"
#include "tests/support/inspect_planted.h"

#include <criterion/parameterized.h>

static struct hub_inspector_options options(void)
{
    struct hub_inspector_options o = HUB_INSPECTOR_OPTIONS_INIT;
    o.no_landlock = getenv("HUB_TEST_NO_LANDLOCK") != NULL;
    o.memory_bytes = 512 * MIB;
    o.side_budget = 1 * MIB;
    o.wall_ms = 20000;
    return o;
}

struct planted_case {
    char driver[32];
    enum hub_status st;
    char problem[32];
};

static size_t fill(struct planted_case *cases, const char *const *names, size_t count, enum hub_status st,
                   const char *problem)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(cases[i].driver, sizeof cases[i].driver, "%s", names[i]);
        snprintf(cases[i].problem, sizeof cases[i].problem, "%s", problem);
        cases[i].st = st;
    }
    return count;
}

ParameterizedTestParameters(sandbox, stops)
{
    static const char *const forbidden[] = {PLANTED_FORBIDDEN(PLANTED_NAME)},
                             *const crashes[] = {PLANTED_CRASHES(PLANTED_NAME)},
                             *const lies[] = {PLANTED_LIES(PLANTED_NAME)};
    static struct planted_case cases[PLANTED_COUNT];
    size_t n = fill(cases, forbidden, HUB_COUNT(forbidden), HUB_CORRUPT, "inspector-stopped");
    n += fill(cases + n, crashes, HUB_COUNT(crashes), HUB_CORRUPT, "inspector-crashed");
    n += fill(cases + n, lies, HUB_COUNT(lies), HUB_CORRUPT, "inspector-lied");
    return cr_make_param_array(struct planted_case, cases, n);
}

ParameterizedTest(struct planted_case *c, sandbox, stops, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    for (int i = 0; i < 3; i++) {
        const enum hub_status st = fixture_run(&f, c->driver);
        cr_expect_eq(st, c->st, "%s: %s: %s", c->driver, hub_status_name(st), f.err.detail);
        cr_expect_str_eq(hub_problem_name(f.err.problem), c->problem, "%s: %s: %s", c->driver, f.err.problem,
                         f.err.detail);
        cr_expect_eq(f.found.episode_count + f.found.field_count + f.found.problem_count, 0);
    }
    cr_expect_eq(fixture_run(&f, "ordinary"), HUB_OK, "the next job works: %s", f.err.detail);
    fixture_stop(&f);
}

ParameterizedTestParameters(sandbox, late)
{
    static const char *const names[] = {PLANTED_LATE(PLANTED_NAME)};
    static struct planted_case cases[HUB_COUNT(names)];
    return cr_make_param_array(struct planted_case, cases, fill(cases, names, HUB_COUNT(names), HUB_OK, ""));
}

/* What a library loads at its first use must have been loaded before the sandbox closed. */
ParameterizedTest(struct planted_case *c, sandbox, late, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    for (int i = 0; i < 2; i++)
        cr_expect_eq(fixture_run(&f, c->driver), HUB_OK, "%s: %s: %s", c->driver, f.err.problem,
                     f.err.detail);
    fixture_stop(&f);
}

Test(sandbox, stops_what_does_not_end, .timeout = 60)
{
    struct fixture f;
    struct hub_inspector_options o = options();
    o.wall_ms = 300;
    fixture_start(&f, HUB_PLANTED, o);
    cr_expect_eq(fixture_run(&f, "loop"), HUB_TIMEOUT);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_INSPECTION_TIMEOUT);
    cr_expect_eq(fixture_run(&f, "decline"), HUB_NOT_ACCEPTABLE);
    fixture_stop(&f);
}

/* A child that is busy ends by its own limit, one that waits for a disk by the clock: only the first is the
 * fault of its files. */
Test(sandbox, limits_processor_time, .timeout = 60)
{
    struct fixture f;
    struct hub_inspector_options o = options();
    o.cpu_s = 1;
    o.wall_ms = 50000;
    fixture_start(&f, HUB_PLANTED, o);
    cr_expect_eq(fixture_run(&f, "loop"), HUB_TOO_BIG, "%s", f.err.detail);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_INSPECTION_LIMIT);
    fixture_stop(&f);
    o.wall_ms = 200;
    fixture_start(&f, HUB_PLANTED, o);
    cr_expect_eq(fixture_run(&f, "sleep"), HUB_TIMEOUT);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_INSPECTION_TIMEOUT);
    fixture_stop(&f);
}

#ifndef HUB_SANITIZED
Test(sandbox, limits_memory, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_expect_eq(fixture_run(&f, "eat_memory"), HUB_TOO_BIG, "%s", f.err.detail);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_INSPECTION_LIMIT);
    fixture_stop(&f);
}
#endif

Test(sandbox, limits_side_data, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_expect_eq(fixture_run(&f, "side_too_much"), HUB_TOO_BIG);
    cr_expect_str_eq(f.err.detail, "side-file budget");
    cr_expect_eq(lseek(f.job.side_fd, 0, SEEK_END), (off_t)(1 * MIB));
    cr_expect_eq(fixture_run(&f, "side_budget"), HUB_TOO_BIG);
    fixture_stop(&f);
}

Test(sandbox, refuses_to_work_without_seccomp, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED "_blind", options());
    cr_expect_eq(fixture_run(&f, "ordinary"), HUB_IO);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_SANDBOX_UNAVAILABLE, "%s", f.err.detail);
    fixture_stop(&f);

    struct hub_inspector_options o = options();
    o.unsafe = true;
    fixture_start(&f, HUB_PLANTED "_blind", o);
    cr_expect_eq(fixture_run(&f, "ordinary"), HUB_OK, "%s", f.err.detail);
    fixture_stop(&f);
}
