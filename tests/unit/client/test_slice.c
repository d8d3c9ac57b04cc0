#include "client/cli/slice.h"
#include "storage/base/error.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct slice_case {
    char text[32];
    bool good;
    struct minari_slice slice;
};

ParameterizedTestParameters(slice, parse)
{
    static struct slice_case cases[] = {
        {"10:20", true, {.has_start = true, .start = 10, .has_stop = true, .stop = 20}},
        {":", true, {0}},
        {"::", true, {0}},
        {":5", true, {.has_stop = true, .stop = 5}},
        {"-3:", true, {.has_start = true, .start = -3}},
        {"::-1", true, {.has_step = true, .step = -1}},
        {"1:9:2",
         true,
         {.has_start = true, .start = 1, .has_stop = true, .stop = 9, .has_step = true, .step = 2}},
        {"7", true, {.has_row = true, .row = 7}},
        {"-1", true, {.has_row = true, .row = -1}},
        {"", false, {0}},
        {"a", false, {0}},
        {"1:b", false, {0}},
        {"1:2:0", false, {0}},
        {"1:2:3:4", false, {0}},
        {"1,2", false, {0}},
        {" 1", false, {0}},
        {"99999999999999999999", false, {0}},
        {"-", false, {0}},
    };
    return cr_make_param_array(struct slice_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct slice_case *c, slice, parse)
{
    struct minari_slice s = {0};
    cr_assert_eq(slice_parse(c->text, &s), c->good, "'%s'", c->text);
    cr_assert(s.has_start == c->slice.has_start && s.has_stop == c->slice.has_stop &&
                  s.has_step == c->slice.has_step && s.has_row == c->slice.has_row,
              "'%s'", c->text);
    cr_assert(s.start == c->slice.start && s.stop == c->slice.stop && s.step == c->slice.step &&
                  s.row == c->slice.row,
              "'%s'", c->text);
}
