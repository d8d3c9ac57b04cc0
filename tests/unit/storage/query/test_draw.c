/* Draws against vectors that numpy 2.4 made. */
#include "storage/query/draw.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

struct raw_case {
    uint64_t seed, raw[3];
};
ParameterizedTestParameters(draw, raw)
{
    static struct raw_case cases[] = {
        {0, {0xa30febcfd9c2825f, 0x4510bdf882d9d721, 0xa7d3da94ecde8b8}},
        {1, {0x8306bdf37922e4ff, 0xf35196bbc152a866, 0x24e7a4f608ec18cd}},
        {123, {0xaeae9c9903f3e9cd, 0xdc736db97cb6d23, 0x3869812ee8b9ea96}},
        {UINT64_C(1) << 32, {0xe3c5ebe285ac1625, 0x8ea09968fe31dbcc, 0xcd084ff84d8de9be}},
        {9223372036854788153U, {0x7e82ff06e5a17e1c, 0x9375de147f211adb, 0xaee1bf0359cb9d2}},
        {UINT64_MAX, {0xae163a7a8c47568f, 0xd86659f5f3382359, 0x1e52b195bc2d24a}},
    };
    return cr_make_param_array(struct raw_case, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct raw_case *c, draw, raw)
{
    struct hub_draw draw;
    hub_draw_init(&draw, c->seed);
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(hub_draw_raw(&draw), c->raw[i]);
}

Test(draw, below_is_the_upper_half_of_a_product)
{
    struct hub_draw draw;
    hub_draw_init(&draw, 123);
    cr_assert_eq(hub_draw_below(&draw, 1000), 682); /* 0xaeae9c99... of 2^64 */
    cr_assert_eq(hub_draw_below(&draw, 1), 0);
    cr_assert_eq(hub_draw_below(&draw, UINT64_MAX), 0x3869812ee8b9ea95);
}

static uint64_t hash_of(const uint32_t *items, uint32_t count)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < count; i++)
        hash = hash * 1000003 + items[i];
    return hash;
}

static uint32_t *numbers(uint32_t count)
{
    uint32_t *items = malloc(count * sizeof *items);
    for (uint32_t i = 0; i < count; i++)
        items[i] = i;
    return items;
}

struct choice_case {
    uint64_t seed;
    uint32_t total, count;
    uint64_t hash;
};
ParameterizedTestParameters(draw, choose)
{
    static struct choice_case cases[] = {
        {123, 25, 5, 0x76c13fff20b12c41U},
        {0, 10, 10, 0x72eaf490b1e4aaffU},
        {7, 1000, 100, 0x2923c8f4992015c1U},
        {7, 20000, 1000, 0x362da39de26900e7U}, /* of many, many */
        {7, 20000, 100, 0xd09e6b9eb075a97U},   /* of many, a few */
        {3, 1, 1, 0x0U},
        {1099511627776, 10001, 10001, 0xd807bbbc632213a2U},
        {1, 3, 2, 0x1U},
        {1, 3, 0, 0x0U},
    };
    return cr_make_param_array(struct choice_case, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct choice_case *c, draw, choose)
{
    struct hub_draw draw;
    uint32_t *all = numbers(c->total), *out = malloc((c->count + 1) * sizeof *out);
    hub_draw_init(&draw, c->seed);
    cr_assert_eq(hub_draw_choose(&draw, all, c->total, out, c->count, NULL), HUB_OK);
    cr_assert_eq(hash_of(out, c->count), c->hash);
    free(all);
    free(out);
}

/* What five calls of sample_episodes(5) give of 25 episodes and the seed 123. */
Test(draw, chooses_again_and_again)
{
    static const uint32_t expected[5][5] = {
        {1, 13, 0, 22, 15}, {3, 10, 23, 7, 18}, {12, 6, 0, 18, 19}, {9, 4, 15, 3, 17}, {19, 4, 12, 17, 21}};
    struct hub_draw draw;
    uint32_t *all = numbers(25), out[5];
    hub_draw_init(&draw, 123);
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_eq(hub_draw_choose(&draw, all, 25, out, 5, NULL), HUB_OK);
        cr_assert_arr_eq(out, expected[i], sizeof out);
    }
    free(all);
}

ParameterizedTestParameters(draw, permute)
{
    static struct choice_case cases[] = {
        {123, 25, 25, 0x476315e9f7e48042U},
        {0, 5, 5, 0xbc321b33c01ab2aaU},
        {9, 100000, 100000, 0xcbcb2df7930276a6U},
        {1, 1, 1, 0x0U},
    };
    return cr_make_param_array(struct choice_case, cases, HUB_COUNT(cases));
}
ParameterizedTest(struct choice_case *c, draw, permute)
{
    struct hub_draw draw;
    uint32_t *all = numbers(c->total);
    hub_draw_init(&draw, c->seed);
    hub_draw_permute(&draw, all, c->total);
    cr_assert_eq(hash_of(all, c->total), c->hash);
    free(all);
}
