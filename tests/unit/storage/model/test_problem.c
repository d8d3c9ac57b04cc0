#include "storage/model/problem.h"

#include <criterion/criterion.h>

Test(problem, a_code_says_what_is_lost)
{
    static const struct {
        const char *code, *cost;
    } cases[] = {{"unreadable-episode", "episodes"},
                 {"fewer-than-claimed", "episodes"},
                 {"length-mismatch", "episodes"},
                 {"field-unreadable", "fields"},
                 {"missing-video", "cameras"},
                 {"video-length", "cameras"},
                 {"not-loadable", "loading"},
                 {"id-mismatch", ""},
                 {"nulls", ""},
                 {"count-mismatch", ""},
                 {"", ""},
                 {"unreadable", ""}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_str_eq(hub_problem_cost_name(hub_problem_cost(hub_view_of(cases[i].code))), cases[i].cost,
                         "%s", cases[i].code);
}
