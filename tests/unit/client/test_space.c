#include "client/cli/space.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct space_case {
    char json[240], text[120];
};

ParameterizedTestParameters(space, text)
{
    static struct space_case cases[] = {
        {"{\"type\":\"Box\",\"dtype\":\"float64\",\"shape\":[3],\"low\":[\"-Infinity\",\"-Infinity\",\"-"
         "Infinity\"],"
         "\"high\":[\"Infinity\",\"Infinity\",\"Infinity\"]}",
         "Box(-inf, inf, (3,), float64)"},
        {"{\"type\":\"Box\",\"dtype\":\"float32\",\"shape\":[2],\"low\":[-1.0,-2.5],\"high\":[1.0,1.0]}",
         "Box([-1. -2.5], 1.0, (2,), float32)"},
        {"{\"type\":\"Box\",\"dtype\":\"float32\",\"shape\":[3],\"low\":[-4.800000190734863,\"-Infinity\","
         "-0.41887903213500977],\"high\":\"Infinity\"}",
         "Box([-4.8 -inf -0.41887903], inf, (3,), float32)"},
        {"{\"type\":\"Box\",\"dtype\":\"uint8\",\"shape\":[480,640,3],\"low\":0,\"high\":255}",
         "Box(0, 255, (480, 640, 3), uint8)"},
        {"{\"type\":\"Box\",\"dtype\":\"int64\",\"shape\":[2,2],\"low\":[[0,1],[2,3]],"
         "\"high\":{\"min\":0,\"max\":9,\"values\":400}}",
         "Box([[0 1] [2 3]], [0 .. 9], (2, 2), int64)"},
        {"{\"type\":\"Box\",\"dtype\":\"uint8\",\"shape\":[1,2],\"low\":[[0,0]],\"high\":[[255,255]]}",
         "Box(0, 255, (1, 2), uint8)"},
        {"{\"type\":\"Box\",\"dtype\":\"float32\",\"shape\":[],\"low\":-1.0,\"high\":1.0}",
         "Box(-1.0, 1.0, (), float32)"},
        {"{\"type\":\"Discrete\",\"start\":0,\"n\":5}", "Discrete(5)"},
        {"{\"type\":\"Discrete\",\"start\":-2,\"n\":5}", "Discrete(5, start=-2)"},
        {"{\"type\":\"MultiDiscrete\",\"nvec\":[5,2],\"start\":[0,0]}", "MultiDiscrete([5,2])"},
        {"{\"type\":\"MultiBinary\",\"n\":4}", "MultiBinary(4)"},
        {"{\"type\":\"Text\",\"max_length\":5,\"min_length\":1,\"charset\":\"ab\"}", "Text(1, 5)"},
        {"{\"type\":\"Tuple\",\"subspaces\":[{\"type\":\"Discrete\",\"n\":1},{\"type\":\"Discrete\",\"n\":5}]"
         "}",
         "Tuple(Discrete(1), Discrete(5))"},
        {"{\"type\":\"Dict\",\"subspaces\":{\"a b\":{\"type\":\"Discrete\",\"n\":1}}}",
         "Dict('a b': Discrete(1))"},
        {"{\"type\":\"Graph\"}", "{\"type\":\"Graph\"}"},
        {"[1]", "[1]"},
    };
    return cr_make_param_array(struct space_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct space_case *c, space, text)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4096);
    HUB_CLEANUP(hub_json_decrefp) json_t *space = json_loads(c->json, JSON_DECODE_ANY, NULL);
    cr_assert_not_null(space);
    cr_assert_eq(space_text(space, &out, NULL), HUB_OK);
    cr_assert_str_eq(out.data, c->text);
}

Test(space, nesting_has_an_end)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *space = json_pack("{s:s, s:i}", "type", "Discrete", "n", 1);
    for (int i = 0; i < 200; i++)
        space = json_pack("{s:s, s:[o]}", "type", "Tuple", "subspaces", space);
    cr_assert_eq(space_text(space, &out, NULL), HUB_OK);
}

Test(space, the_shape_of_a_field)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *space = json_loads("{\"type\":\"Dict\",\"subspaces\":{\"cam\":{\"type\":\"Tuple\",\"subspaces\":["
                               "{\"type\":\"Discrete\"},{\"type\":\"Box\",\"shape\":[4,5,3]}]}}}",
                               0, NULL);
    const json_t *shape = space_shape(space, "observations/cam/_index_1");
    cr_assert_eq(json_array_size(shape), 3);
    cr_assert_eq(json_integer_value(json_array_get(shape, 1)), 5);
    cr_assert_null(space_shape(space, "observations/cam/_index_7"));
    cr_assert_null(space_shape(space, "observations/none/at/all"));
    cr_assert_null(space_shape(space, "observations"));
    cr_assert_null(space_shape(NULL, "observations/cam"));
}
