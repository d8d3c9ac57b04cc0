#include "storage/model/claims.h"

#include <criterion/criterion.h>
#include <stdio.h>

static enum hub_status add(void *user, const struct hub_found_problem *problem, struct hub_error *err)
{
    char *said = user;
    (void)err;
    const size_t n = strlen(said);
    snprintf(said + n, 400 - n, "%s %s: %s\n", problem->code, problem->path ? problem->path : "-",
             problem->detail);
    return HUB_OK;
}

Test(claims, each_that_does_not_hold_is_reported)
{
    static const struct {
        const char *episodes, *steps, *file, *said;
    } cases[] = {
        {"5", "24", "meta/info.json", ""},
        {NULL, "", NULL, ""},
        {"many", "-1", NULL, ""},
        {"5", "999", "meta/info.json",
         "fewer-than-claimed meta/info.json: metadata says 999 steps, the files hold 24\n"},
        {"4", "18446744073709551615", NULL,
         "count-mismatch -: metadata says 4 episodes, the files hold 5\n"
         "fewer-than-claimed -: metadata says 18446744073709551615 steps, the files hold 24\n"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char said[400] = "";
        const struct hub_claims claims = {cases[i].episodes, cases[i].steps, cases[i].file};
        cr_assert_eq(hub_claims_check(&claims, 5, 24, add, said, NULL), HUB_OK);
        cr_expect_str_eq(said, cases[i].said);
    }
}

Test(claims, a_plan_states_them)
{
    struct hub_found_fact facts[] = {{"era", "v3.0"}, {"claimed_steps", "7"}, {"claimed_in", "a.json"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = HUB_COUNT(facts)};
    const struct hub_claims claims = hub_claims_of(&plan);
    cr_expect_null(claims.episodes);
    cr_expect_str_eq(claims.steps, "7");
    cr_expect_str_eq(claims.file, "a.json");
}
