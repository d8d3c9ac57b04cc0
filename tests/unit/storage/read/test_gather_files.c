/* What can go wrong with a file, and the list of those that are read. */
#include "pieces.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

Test(gather_files, damaged_chunks_are_reported)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 1};
    const struct hub_pipeline deflate = {2, 0, {{HUB_FILTER_DEFLATE, 0}, {HUB_FILTER_FLETCHER32, 0}}};
    struct rig rig;
    struct want w;
    struct hub_rows rows;
    build_chunks(&rig, &w, v, 1000, (const uint32_t[]){100}, deflate);
    ((struct hub_chunk *)(uintptr_t)rig.layout.chunks)[5].offset += 1;
    cr_expect_eq(rig_read(&rig, 0, (struct hub_slice){0, 500, 1}, 0, false, NULL, &rows, NULL), HUB_OK);
    hub_rows_dispose(&rows);
    cr_expect_eq(rig_read(&rig, 0, (struct hub_slice){0, 501, 1}, 0, false, NULL, &rows, NULL), HUB_CORRUPT);
    cr_expect_eq(rig_read(&rig, 0, (struct hub_slice){0, 1000, 1}, 0, true, NULL, &rows, NULL), HUB_CORRUPT);
    rig_close(&rig);
    free(w.data);
}

Test(gather_files, a_file_cut_meanwhile_is_reported)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 8};
    struct rig rig;
    struct want w;
    struct hub_rows rows;
    struct hub_error err = {0};
    build_chunks(&rig, &w, v, 1000, (const uint32_t[]){1000}, (struct hub_pipeline){0});
    cr_assert_eq(ftruncate(open(strcat(strcpy((char[100]){0}, rig.folder), "/0"), O_WRONLY), 4000), 0);
    cr_expect_eq(rig_read(&rig, 0, (struct hub_slice){0, 1000, 1}, 0, false, NULL, &rows, &err), HUB_CHANGED);
    cr_expect_eq(err.problem, HUB_PROBLEM_DATASET_CHANGING);
    const enum hub_status st =
        rig_read(&rig, 0, (struct hub_slice){0, 1000, 1}, HUB_READ_NOWAIT, false, NULL, &rows, NULL);
    cr_expect(st == HUB_AGAIN || st == HUB_CHANGED); /* never rows */
    rig_close(&rig);
    free(w.data);
}

Test(gather_files, a_file_that_is_not_open_is_reported)
{
    static const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 8};
    struct rig rig;
    struct want w;
    struct hub_rows rows;
    build_chunks(&rig, &w, v, 10, (const uint32_t[]){10}, (struct hub_pipeline){0});
    struct hub_plan plan = {.layout = &rig.layout,
                            .array = rig.layout.arrays,
                            .variant = rig.layout.variants,
                            .files = &rig.opened,
                            .slice = {0, 10, 1}};
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_assert_eq(rig.opened.count, 1);
    cr_expect_eq(hub_read(&plan, 0, NULL, NULL, &rows, NULL), HUB_INVALID);
    rig_take_files(&rig);
    plan.files = NULL;
    cr_expect_eq(hub_read(&plan, 0, NULL, NULL, &rows, NULL), HUB_INVALID);
    rig_close(&rig);
    free(w.data);
}

/* All plans of an answer note what they read in one list. */
Test(gather_files, files_are_noted_once_and_by_number)
{
    static const unsigned order[] = {2, 0, 1, 0, 2}; /* 2: the side file */
    struct want w = {.variant = {.kind = HUB_KIND_UINT, .item_size = 8}, .items = 1, .row_bytes = 8};
    struct rig rig;
    uint32_t index;
    w.data = malloc(1 << 16);
    rig_open(&rig);
    cr_assert_eq(hub_layout_variant(rig.builder, &w.variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(order); i++)
        put_rows(&rig, &w, 10, order[i]);
    rig_finish(&rig);
    struct hub_plan plan = {.layout = &rig.layout,
                            .array = rig.layout.arrays,
                            .variant = rig.layout.variants,
                            .files = &rig.opened};
    plan.slice = (struct hub_slice){29, 10, -1};
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    cr_assert_eq(rig.opened.count, 1);
    cr_expect_eq(rig.opened.items[0].number, 1);
    plan.slice = (struct hub_slice){0, 50, 1};
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
        cr_assert_eq(rig.opened.count, 3);
        cr_expect_eq(rig.opened.items[0].number, 0);
        cr_expect_eq(rig.opened.items[1].number, 1);
        cr_expect_eq(rig.opened.items[2].number, HUB_SIDE_FILE);
    }
    rig_take_files(&rig);
    rig_close(&rig);
    free(w.data);
}
