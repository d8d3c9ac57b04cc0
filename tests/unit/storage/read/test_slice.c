#include "rig.h"

#include <criterion/parameterized.h>

#define NO INT64_C(0x7EADBEEF)
#define MIN INT64_MIN
#define MAX INT64_MAX

struct slice_case {
    int64_t start, stop, step;
    uint64_t rows;
    struct hub_slice out; /* as Python's range(*slice(...).indices(rows)) */
};

ParameterizedTestParameters(slice, python)
{
    static struct slice_case cases[] = {
        {NO, NO, NO, 10, {0, 10, 1}},   {2, 5, NO, 10, {2, 3, 1}},       {-3, NO, NO, 10, {7, 3, 1}},
        {NO, -3, NO, 10, {0, 7, 1}},    {-99, 99, NO, 10, {0, 10, 1}},   {5, 2, NO, 10, {0, 0, 1}},
        {10, 20, NO, 10, {0, 0, 1}},    {0, 10, 3, 10, {0, 4, 3}},       {1, 10, 3, 10, {1, 3, 3}},
        {NO, NO, -1, 10, {9, 10, -1}},  {NO, NO, -3, 10, {9, 4, -3}},    {7, 2, -2, 10, {7, 3, -2}},
        {2, 7, -1, 10, {0, 0, -1}},     {99, NO, -1, 10, {9, 10, -1}},   {-2, -99, -4, 10, {8, 3, -4}},
        {NO, NO, NO, 0, {0, 0, 1}},     {NO, NO, -1, 0, {0, 0, -1}},     {0, 1, NO, 0, {0, 0, 1}},
        {MIN, MAX, NO, 10, {0, 10, 1}}, {MAX, MIN, -1, 10, {9, 10, -1}}, {NO, NO, MAX, 10, {0, 1, MAX}},
        {NO, NO, MIN, 10, {9, 1, MIN}}, {0, 0, NO, 10, {0, 0, 1}},       {-1, NO, NO, 1, {0, 1, 1}},
        {3, -1, NO, 10, {3, 6, 1}},     {-11, NO, NO, 10, {0, 10, 1}},   {-11, NO, -1, 10, {0, 0, -1}},
    };
    return cr_make_param_array(struct slice_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct slice_case *c, slice, python)
{
    struct hub_slice out;
    cr_assert_eq(hub_slice_resolve(c->start == NO ? NULL : &c->start, c->stop == NO ? NULL : &c->stop,
                                   c->step == NO ? NULL : &c->step, c->rows, &out, NULL),
                 HUB_OK);
    cr_expect_eq(out.start, c->out.start);
    cr_expect_eq(out.count, c->out.count);
    cr_expect_eq(out.step, c->out.step);
}

Test(slice, step_of_zero)
{
    struct hub_slice out;
    const int64_t zero = 0;
    cr_expect_eq(hub_slice_resolve(NULL, NULL, &zero, 5, &out, NULL), HUB_INVALID);
}

Test(slice, within)
{
    for (int64_t step = -4; step <= 4; step++) {
        for (uint64_t start = 0; start < 12 && step; start++) {
            const uint64_t longest = step < 0 ? start / (uint64_t)-step + 1 : 5;
            for (uint64_t count = 0; count <= longest; count++) {
                for (uint64_t rows = 0; rows < 14; rows++) {
                    struct hub_slice got = {start, count, step};
                    uint64_t kept = 0, first = 0;
                    for (uint64_t i = count; i-- > 0;) {
                        const uint64_t row = (uint64_t)((int64_t)start + (int64_t)i * step);
                        kept += row < rows;
                        first = row < rows ? row : first;
                    }
                    hub_slice_within(&got, rows);
                    cr_assert_eq(got.count, kept);
                    cr_assert(!kept || got.start == first);
                    cr_assert_eq(got.step, step);
                }
            }
        }
    }
}

static struct hub_plan plan_of(struct rig *rig, struct hub_slice slice)
{
    struct hub_plan plan = {.layout = &rig->layout, .array = &rig->layout.arrays[0], .slice = slice};
    plan.variant = &rig->layout.variants[plan.array->variant];
    return plan;
}

static void build_fill(struct rig *rig, struct hub_variant variant, uint64_t rows)
{
    uint32_t index;
    rig_open(rig);
    cr_assert_eq(hub_layout_variant(rig->builder, &variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig->builder, index, &index, NULL), HUB_OK);
    const struct hub_piece piece = {
        .kind = HUB_PIECE_FILL, .file = HUB_NONE, .rows = rows, .offset = HUB_NONE};
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
    rig_finish(rig);
}

Test(price, refuses_what_is_not_there_or_too_much)
{
    struct rig rig;
    build_fill(&rig, (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = 8}, UINT64_C(1) << 40);
    struct hub_plan plan = plan_of(&rig, (struct hub_slice){0, (2 * GIB) / 8, 1});
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_eq(plan.bytes_out, 2 * GIB);
    plan.slice.count++;
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_TOO_BIG);
    plan.slice = (struct hub_slice){UINT64_C(1) << 40, 1, 1};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE);
    plan.slice = (struct hub_slice){0, 2, INT64_MAX};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE);
    plan.slice = (struct hub_slice){5, 3, INT64_MIN};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE);
    plan.slice = (struct hub_slice){5, 3, 0};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE);
    plan.slice = (struct hub_slice){5, 6, -1};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    plan.slice = (struct hub_slice){5, 7, -1};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE);
    plan.slice = (struct hub_slice){UINT64_MAX, 0, 1};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_eq(plan.bytes_out, 0);
    rig_close(&rig);
}

Test(price, rows_without_bytes_are_counted)
{
    struct rig rig;
    build_fill(&rig, (struct hub_variant){.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {0}},
               UINT64_C(1) << 40);
    struct hub_plan plan = plan_of(&rig, (struct hub_slice){0, UINT64_C(1) << 40, 1});
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_TOO_BIG);
    struct hub_rows rows;
    cr_assert_eq(rig_read(&rig, 0, (struct hub_slice){7, 100, 1}, 0, false, NULL, &rows, NULL), HUB_OK);
    cr_expect_eq(rows.rows, 100);
    hub_rows_dispose(&rows);
    rig_close(&rig);
}
