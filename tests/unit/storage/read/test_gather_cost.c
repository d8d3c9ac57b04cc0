/* Work that stops, and work that is foreseen. */
#include "pieces.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool nobody_waits;

/* The client leaves once the first unit is done. */
static void run_then_leave(void *pool, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    (void)pool;
    for (uint32_t i = 0; i < count; i++) {
        work(arg, i);
        atomic_store(&nobody_waits, true);
    }
}

static struct hub_plan whole_plan(struct rig *rig)
{
    struct hub_plan plan = {.layout = &rig->layout, .files = &rig->opened};
    plan.array = rig->layout.arrays;
    plan.variant = rig->layout.variants;
    plan.slice = (struct hub_slice){0, plan.array->rows, 1};
    return plan;
}

Test(gather_cost, a_departed_client_costs_no_more_than_what_was_begun)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 8};
    const struct hub_pipeline deflate = {1, 0, {{HUB_FILTER_DEFLATE, 0}}};
    const struct hub_parallel leaving = {.run = run_then_leave, .cancelled = &nobody_waits};
    struct rig rig;
    struct want w;
    struct hub_rows rows;
    build_chunks(&rig, &w, v, 400000, (const uint32_t[]){40000}, deflate);
    ((struct hub_chunk *)(uintptr_t)rig.layout.chunks)[9].offset += 1; /* nobody gets so far */
    struct hub_plan plan = whole_plan(&rig);
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    rig_give_files(&rig);
    cr_expect_eq(hub_read(&plan, 0, &leaving, NULL, &rows, NULL), HUB_CANCELLED);
    rig_take_files(&rig);
    rig_close(&rig);
    free(w.data);
}

Test(gather_cost, every_kind_of_piece_looks_at_the_flag)
{
    static void (*const writers[])(struct rig *, struct want *, uint64_t,
                                   unsigned) = {put_rows, put_strided, put_chunked, put_extents, put_pages};
    static const atomic_bool gone = true;
    const struct hub_parallel leaving = {.cancelled = &gone};
    for (size_t i = 0; i < HUB_COUNT(writers); i++) {
        struct rig rig;
        struct want w = {.variant = {.kind = HUB_KIND_UINT, .item_size = 8}, .items = 1, .row_bytes = 8};
        struct hub_rows rows;
        uint32_t index;
        w.data = malloc(1 << 22);
        rig_open(&rig);
        cr_assert_eq(hub_layout_variant(rig.builder, &w.variant, &index, NULL), HUB_OK);
        cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
        do
            writers[i](&rig, &w, 50, 0);
        while (!rig.content[0].size); /* all chunks absent: once more */
        rig_finish(&rig);
        struct hub_plan plan = whole_plan(&rig);
        cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
        rig_give_files(&rig);
        cr_expect_eq(hub_read(&plan, 0, &leaving, NULL, &rows, NULL), HUB_CANCELLED, "writer %zu", i);
        rig_take_files(&rig);
        rig_close(&rig);
        free(w.data);
    }
}

/* Zeros, a thousandth of their size when stored, are inflated fifteen times as fast. */
Test(gather_cost, what_compresses_well_is_cheap)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 8};
    const struct hub_pipeline deflate = {1, 0, {{HUB_FILTER_DEFLATE, 0}}};
    struct rig rig;
    struct want w;
    build_chunks(&rig, &w, v, 400000, (const uint32_t[]){40000}, deflate);
    struct hub_plan plan = whole_plan(&rig);
    plan.files = NULL;
    struct hub_chunk *chunks = (struct hub_chunk *)(uintptr_t)rig.layout.chunks;
    for (unsigned i = 0; i < 10; i++)
        chunks[i].size = 320000;
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    const uint32_t dense = plan.cost_us;
    for (unsigned i = 0; i < 10; i++)
        chunks[i].size = 320;
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_lt(plan.cost_us, dense / 6, "%u us, %u us", plan.cost_us, dense);
    cr_expect_gt(plan.cost_us, 400);
    rig_close(&rig);
    free(w.data);
}

Test(gather_cost, a_price_ends_at_the_limit_of_its_steps)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 1};
    struct rig rig;
    struct want w;
    build_chunks(&rig, &w, v, 1000, (const uint32_t[]){10}, (struct hub_pipeline){0});
    struct hub_plan plan = whole_plan(&rig);
    plan.files = NULL;
    plan.step_limit = 101;
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_eq(plan.steps, 100);
    plan.step_limit = 100;
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_AGAIN);
    plan.slice = (struct hub_slice){995, 100, -5};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_eq(plan.steps, 50);
    plan.step_limit = 50;
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_AGAIN);
    plan.slice.count = 0;
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_expect_eq(plan.steps, 0);
    plan.slice = (struct hub_slice){900, 200, 1};
    cr_expect_eq(hub_plan_price(&plan, NULL), HUB_OUT_OF_RANGE, "rows that are not there");
    rig_close(&rig);
    free(w.data);
}
