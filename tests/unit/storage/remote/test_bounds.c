/* storage/remote/bounds.c: bounds that are all the same are written once. */
#include "storage/remote/bounds.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct bounds_case {
    char space[200], shown[200];
};

ParameterizedTestParameters(bounds, collapse)
{
    static struct bounds_case cases[] = {
        {"{'low': [0.0, 0.0], 'high': [1.0, 1.0]}", "{'low': 0.0, 'high': 1.0}"},
        {"{'low': [[[0, 0], [0, 0]]], 'high': [[[255, 255], [255, 254]]]}",
         "{'low': 0, 'high': [[[255, 255], [255, 254]]]}"},
        {"{'low': ['-Infinity', '-Infinity'], 'high': ['Infinity', 1.0]}",
         "{'low': '-Infinity', 'high': ['Infinity', 1.0]}"},
        {"{'low': -1.0, 'high': []}", "{'low': -1.0, 'high': []}"},
        {"{'low': [0, 0.0], 'high': [[], [2]]}", "{'low': [0, 0.0], 'high': [[], [2]]}"},
        {"{'type': 'Discrete', 'n': 3}", "{'type': 'Discrete', 'n': 3}"},
        {"{'subspaces': {'a': {'low': [2, 2]}, 'b': {'subspaces': [{'high': [3, 3, 3]}]}}}",
         "{'subspaces': {'a': {'low': 2}, 'b': {'subspaces': [{'high': 3}]}}}"},
        {"[[1, 1]]", "[[1, 1]]"},
    };
    return cr_make_param_array(struct bounds_case, cases, HUB_COUNT(cases));
}

static json_t *parse(const char *text)
{
    char strict[200];
    json_t *value;
    snprintf(strict, sizeof strict, "%s", text);
    for (char *c = strict; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    cr_assert_eq(hub_json_parse(hub_view_of(strict), sizeof strict, &value, NULL), HUB_OK, "%s", strict);
    return value;
}

ParameterizedTest(struct bounds_case *c, bounds, collapse)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *space = parse(c->space), *shown = parse(c->shown);
    hub_bounds_collapse(space);
    cr_assert(json_equal(space, shown), "%s", c->space);
}
