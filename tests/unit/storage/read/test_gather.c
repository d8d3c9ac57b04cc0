/* Rows out of layouts of every kind. */
#include "pieces.h"

#include <stdlib.h>

static struct hub_slice draw_slice(uint64_t rows)
{
    const int64_t n = (int64_t)rows;
    int64_t start = (int64_t)rig_draw((uint32_t)n + 20) - 10, stop = (int64_t)rig_draw((uint32_t)n + 20) - 10;
    int64_t step = rig_draw(2) ? 1 : (int64_t)(1 + rig_draw(rig_draw(2) ? 5 : (uint32_t)n + 5));
    if (rig_draw(3) == 0)
        step = -step;
    if (rig_draw(2) && (stop < start) != (step < 0)) {
        const int64_t swap = start;
        start = stop;
        stop = swap;
    }
    struct hub_slice slice;
    const bool all = rig_draw(6) == 0;
    cr_assert_eq(hub_slice_resolve(all ? NULL : &start, all ? NULL : &stop, &step, rows, &slice, NULL),
                 HUB_OK);
    return slice;
}

static void one_round(unsigned round)
{
    struct rig rig;
    rig_open(&rig);
    struct want w = make_want();
    uint32_t index;
    cr_assert_eq(hub_layout_variant(rig.builder, &w.variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    for (unsigned pieces = 1 + rig_draw(3); pieces > 0; pieces--) {
        const uint64_t rows = 1 + rig_draw(rig_draw(4) ? 60 : 300);
        const unsigned file = rig_draw(RIG_FILES + 1);
        switch (rig_draw(7)) {
        case 0:
            put_rows(&rig, &w, rows, file);
            break;
        case 1:
            put_strided(&rig, &w, rows, file);
            break;
        case 2:
        case 3:
            put_chunked(&rig, &w, rows, file);
            break;
        case 4:
            put_extents(&rig, &w, rows, file);
            break;
        case 5:
            if (w.variant.kind == HUB_KIND_FIXED || w.variant.kind == HUB_KIND_FLOAT)
                put_pages(&rig, &w, rows, file);
            else
                put_rows(&rig, &w, rows, file);
            break;
        default:
            put_in_layout(&rig, &w, rows);
        }
    }
    rig_finish(&rig);
    for (unsigned i = 0; i < 12; i++)
        compare(&rig, &w, draw_slice(w.rows), round);
    rig_close(&rig);
    free(w.data);
}

Test(gather, random_layouts_and_slices, .timeout = 100)
{
    for (unsigned round = 0; round < 600; round++)
        one_round(round);
}

Test(gather, split_columns_and_split_images)
{
    static const struct hub_variant obs = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {39}};
    static const struct hub_variant image = {
        .kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {84, 84, 3}};
    const struct hub_pipeline plain = {0}, deflate = {1, 0, {{HUB_FILTER_DEFLATE, 0}}};
    struct rig rig;
    struct want w;
    build_chunks(&rig, &w, obs, 1001, (const uint32_t[]){126, 10}, plain);
    for (uint64_t a = 0; a <= 901; a += 53)
        compare(&rig, &w, (struct hub_slice){a, 100, 1}, 0);
    compare(&rig, &w, (struct hub_slice){1000, 1001, -1}, 0);
    rig_close(&rig);
    free(w.data);
    build_chunks(&rig, &w, image, 100, (const uint32_t[]){50, 21, 21, 1}, deflate);
    compare(&rig, &w, (struct hub_slice){0, 100, 1}, 1);
    compare(&rig, &w, (struct hub_slice){37, 1, 1}, 1);
    compare(&rig, &w, (struct hub_slice){3, 8, 11}, 1);
    rig_close(&rig);
    free(w.data);
    build_chunks(&rig, &w, image, 30, (const uint32_t[]){1, 84, 84, 3}, deflate);
    compare(&rig, &w, (struct hub_slice){0, 30, 1}, 2);
    compare(&rig, &w, (struct hub_slice){29, 10, -3}, 2);
    rig_close(&rig);
    free(w.data);
}

Test(gather, rows_that_are_padded_files_end_with_their_last_byte)
{
    struct hub_rows rows = {.variant = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {4}},
                            .rows = 3,
                            .data = malloc(12),
                            .owned = true};
    const uint64_t offsets[] = {0, 2, 2, 6};
    memcpy(rows.data, "ab\0\0\0\0\0\0a\0cd", 12);
    cr_assert_eq(hub_rows_trim(&rows, NULL), HUB_OK);
    cr_expect_eq(rows.variant.kind, HUB_KIND_VAR);
    cr_expect_arr_eq(rows.offsets, offsets, sizeof offsets);
    cr_expect_arr_eq(rows.data, "aba\0cd", 6);
    hub_rows_dispose(&rows);
}
