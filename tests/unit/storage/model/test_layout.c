#include "storage/model/layout.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

/* One layout with a piece of every kind, which the cases below then bend. Files: 0 of 4096 bytes, 1 of 100;
 * side data 64. */
static const uint64_t file_sizes[] = {4096, 100};

struct good {
    void *blob;
    size_t size;
    struct hub_layout layout;
};

static void build_fixed(struct hub_layout_builder *b)
{
    const struct hub_variant v = {.kind = HUB_KIND_INT, .item_size = 4, .rank = 1, .dims = {5}};
    const struct hub_pipeline deflate = {.count = 2,
                                         .filters = {{HUB_FILTER_SHUFFLE, 4}, {HUB_FILTER_DEFLATE, 0}}};
    const struct hub_chunk chunks[] = {{0, 40, 0}, {HUB_ABSENT, 0, 0}, {96, 24, 3}, {4000, 96, 0}};
    const struct hub_extent extents[] = {{10, 20, 0}, {4076, 20, 0}};
    const int64_t inner = -4;
    const int32_t fill = 7;
    uint32_t variant, pipeline, grid, first, at, array;
    struct hub_grid g = {.rank = 2, .chunk = {2, 3}};

    cr_assert_eq(hub_layout_variant(b, &v, &variant, NULL), HUB_OK);
    cr_assert_eq(hub_layout_pipeline(b, &deflate, &pipeline, NULL), HUB_OK);
    cr_assert_eq(hub_layout_bytes(b, &fill, 4, &at, NULL), HUB_OK);
    g.pipeline = pipeline;
    g.fill = at;
    cr_assert_eq(hub_layout_grid(b, &g, &grid, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(b, variant, &array, NULL), HUB_OK);
    cr_assert_eq(hub_layout_chunks(b, chunks, 4, &first, NULL), HUB_OK);
    struct hub_piece p = {.kind = HUB_PIECE_CHUNKED, .rows = 3, .table = first, .count = 4, .geometry = grid};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    p = (struct hub_piece){
        .kind = HUB_PIECE_STRIDED, .file = 1, .rows = 5, .row_stride = 20, .geometry = HUB_NONE};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    cr_assert_eq(hub_layout_strides(b, &inner, 1, &first, NULL), HUB_OK);
    p = (struct hub_piece){.kind = HUB_PIECE_STRIDED,
                           .file = 0,
                           .rows = 2,
                           .offset = 4092,
                           .row_stride = -4076,
                           .geometry = first};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    cr_assert_eq(hub_layout_extents(b, extents, 2, &first, NULL), HUB_OK);
    p = (struct hub_piece){.kind = HUB_PIECE_EXTENTS, .file = 0, .rows = 2, .table = first, .count = 2};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    p = (struct hub_piece){.kind = HUB_PIECE_FILL, .file = HUB_NONE, .rows = 9, .offset = at};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    p.offset = HUB_NONE;
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
}

static void build_other(struct hub_layout_builder *b)
{
    const struct hub_variant text = {.kind = HUB_KIND_VAR}, number = {.kind = HUB_KIND_FLOAT, .item_size = 8};
    const struct hub_extent extents[] = {{0, 0, 0}, {64, 0, 0}, {60, 4, 0}};
    struct hub_page pages[] = {
        {.offset = 0, .stored = 20, .decoded = 32, .values = 4, .encoding = HUB_ENC_PLAIN},
        {.offset = 20,
         .stored = 50,
         .decoded = 80,
         .values = 6,
         .encoding = HUB_ENC_RLE_DICTIONARY,
         .version = 1},
        {.offset = 70,
         .stored = 30,
         .decoded = 30,
         .values = 4,
         .first_value = 6,
         .version = 2,
         .def_bytes = 5},
    };
    struct hub_column column = {.physical = HUB_PHYS_DOUBLE, .codec = HUB_PAGE_SNAPPY, .max_def = 1};
    uint32_t variant, first, array, at, geometry;

    cr_assert_eq(hub_layout_variant(b, &text, &variant, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(b, variant, &array, NULL), HUB_OK);
    cr_assert_eq(hub_layout_extents(b, extents, 3, &first, NULL), HUB_OK);
    struct hub_piece p = {
        .kind = HUB_PIECE_EXTENTS, .file = HUB_SIDE_FILE, .rows = 3, .table = first, .count = 3};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
    cr_assert_eq(hub_layout_bytes(b, "hello", 5, &at, NULL), HUB_OK);
    p = (struct hub_piece){.kind = HUB_PIECE_INLINE, .file = HUB_NONE, .rows = 1, .offset = at, .count = 5};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);

    cr_assert_eq(hub_layout_variant(b, &number, &variant, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(b, variant, &array, NULL), HUB_OK);
    cr_assert_eq(hub_layout_pages(b, pages, 3, &first, NULL), HUB_OK);
    column.dictionary = first;
    cr_assert_eq(hub_layout_column(b, &column, &geometry, NULL), HUB_OK);
    p = (struct hub_piece){
        .kind = HUB_PIECE_PAGES, .file = 1, .rows = 10, .table = first + 1, .count = 2, .geometry = geometry};
    cr_assert_eq(hub_layout_piece(b, &p, NULL), HUB_OK);
}

static struct good build(void)
{
    struct hub_layout_builder *b;
    struct good good;
    cr_assert_eq(hub_layout_builder_new(MIB, &b, NULL), HUB_OK);
    build_fixed(b);
    build_other(b);
    const struct hub_window windows[] = {{4, 2, 0, 10}, {1, 0, 2, 28}, {2, 1, 4, 0}}; /* any order */
    for (unsigned i = 0; i < HUB_COUNT(windows); i++)
        cr_assert_eq(hub_layout_add_window(b, &windows[i], NULL), HUB_OK);
    cr_assert_eq(hub_layout_finish(b, &good.blob, &good.size, NULL), HUB_OK);
    hub_layout_builder_free(b);
    cr_assert_eq(hub_layout_open(good.blob, good.size, &good.layout, NULL), HUB_OK);
    return good;
}

static enum hub_status check(const struct hub_layout *layout, struct hub_error *err)
{
    return hub_layout_check(layout, file_sizes, 2, 64, 5, err);
}

Test(layout, good_one_passes)
{
    struct good good = build();
    struct hub_error err = {0};
    cr_assert_eq(check(&good.layout, &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(good.layout.arrays[0].rows, 30);
    cr_expect_eq(good.layout.arrays[0].piece_count, 6);
    cr_expect_eq(hub_layout_window(&good.layout, 1)->count, 28);
    cr_expect_eq(hub_layout_window(&good.layout, 4)->array, 2);
    cr_expect_null(hub_layout_window(&good.layout, 0));
    cr_expect_null(hub_layout_window(&good.layout, 3));
    cr_expect_null(hub_layout_window(&good.layout, 5));
    free(good.blob);
}

Test(layout, builder_interns_and_refuses)
{
    struct hub_layout_builder *b;
    cr_assert_eq(hub_layout_builder_new(KIB * 64, &b, NULL), HUB_OK);
    uint32_t first = 0, index;
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 500; i++) {
            const struct hub_variant v = {
                .kind = HUB_KIND_FIXED, .item_size = i + 1, .big_endian = round != 0};
            cr_assert_eq(hub_layout_variant(b, &v, &index, NULL), HUB_OK);
            cr_expect_eq(index, i);
        }
    const struct hub_piece piece = {.kind = HUB_PIECE_FILL, .rows = UINT64_MAX};
    cr_expect_eq(hub_layout_piece(b, &piece, NULL), HUB_INVALID); /* before any array */
    cr_expect_eq(hub_layout_array(b, 500, &index, NULL), HUB_INVALID);
    cr_assert_eq(hub_layout_array(b, 0, &index, NULL), HUB_OK);
    cr_expect_eq(hub_layout_piece(b, &piece, NULL), HUB_TOO_BIG);
    const struct hub_variant odd = {.kind = HUB_KIND_FLOAT, .item_size = 3};
    cr_expect_eq(hub_layout_variant(b, &odd, &index, NULL), HUB_INVALID);
    char *big = calloc(1, 64 * KIB);
    cr_expect_eq(hub_layout_bytes(b, big, 64 * KIB, &first, NULL), HUB_TOO_BIG);
    free(big);
    const struct hub_window window = {.episode = 3};
    cr_assert_eq(hub_layout_add_window(b, &window, NULL), HUB_OK);
    cr_assert_eq(hub_layout_add_window(b, &window, NULL), HUB_OK);
    void *blob;
    size_t size;
    cr_expect_eq(hub_layout_finish(b, &blob, &size, NULL), HUB_INVALID);
    hub_layout_builder_free(b);
}

static struct hub_layout finished(struct hub_layout_builder *b, void **blob)
{
    struct hub_layout layout;
    size_t size;
    cr_assert_eq(hub_layout_finish(b, blob, &size, NULL), HUB_OK);
    cr_assert_eq(hub_layout_open(*blob, size, &layout, NULL), HUB_OK);
    cr_assert_eq(check(&layout, NULL), HUB_OK);
    return layout;
}

/* Who has a field is known, also of those whose rows cannot be read. */
Test(layout, refused_windows)
{
    struct hub_layout_builder *b;
    struct hub_layout layout;
    void *blob;
    cr_assert_eq(hub_layout_builder_new(MIB, &b, NULL), HUB_OK);
    build_fixed(b);
    cr_assert_eq(hub_layout_refuse(b, 3, HUB_VIEW("blosc"), NULL), HUB_OK);
    cr_assert_eq(hub_layout_refuse(b, 2, HUB_VIEW("blosc"), NULL), HUB_OK);
    cr_assert_eq(hub_layout_add_window(b, &(struct hub_window){1, 0, 2, 28}, NULL), HUB_OK);
    cr_assert_eq(hub_layout_refuse(b, 0, HUB_VIEW("lz5"), NULL), HUB_OK);
    layout = finished(b, &blob);
    cr_expect_str_eq(hub_layout_refusal(&layout, hub_layout_window(&layout, 0)), "lz5");
    cr_expect_null(hub_layout_refusal(&layout, hub_layout_window(&layout, 1)));
    cr_expect_str_eq(hub_layout_refusal(&layout, hub_layout_window(&layout, 2)), "blosc");
    cr_expect_eq(hub_layout_window(&layout, 2)->first, hub_layout_window(&layout, 3)->first, "told once");
    cr_expect_null(hub_layout_unreadable(&layout));
    struct hub_window *window = (struct hub_window *)(void *)layout.windows;
    window->count--;
    cr_expect_eq(check(&layout, NULL), HUB_CORRUPT, "does not end there");
    window->count = UINT64_MAX;
    cr_expect_eq(check(&layout, NULL), HUB_CORRUPT);
    free(blob);
    cr_assert_eq(hub_layout_refuse_all(b, HUB_VIEW("damaged"), NULL), HUB_OK);
    layout = finished(b, &blob);
    hub_layout_builder_free(b);
    cr_expect_eq(layout.counts[HUB_T_ARRAYS], 0);
    cr_expect_eq(layout.counts[HUB_T_WINDOWS], 4);
    cr_expect_str_eq(hub_layout_unreadable(&layout), "damaged");
    free(blob);
}

/* A lie: `width` bytes of entry `index` of a table (HUB_T_COUNT: the head), at `offset` in it, become
 * `value`. */
struct lie_case {
    unsigned table, index, offset, width;
    uint64_t value;
};
#define LIE(table, index, type, member, value)                                                               \
    {                                                                                                        \
        table, index, offsetof(struct type, member), sizeof(((struct type *)0)->member), value               \
    }

ParameterizedTestParameters(layout, lies)
{
    static struct lie_case cases[] = {
        LIE(HUB_T_VARIANTS, 0, hub_variant, kind, 99),
        LIE(HUB_T_VARIANTS, 0, hub_variant, rank, 9),
        LIE(HUB_T_VARIANTS, 0, hub_variant, rank, 2), /* a dimension of 0 follows: rank and grid differ */
        LIE(HUB_T_VARIANTS, 0, hub_variant, item_size, 8),
        LIE(HUB_T_VARIANTS, 0, hub_variant, dims[0], UINT32_MAX),
        LIE(HUB_T_VARIANTS, 0, hub_variant, dims[0], 7),
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, count, 9),
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, count, 1), /* a filter nobody counts */
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, filters[0].id, 32001),
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, filters[0].param, 0),
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, filters[1].id,
            HUB_FILTER_FLETCHER32), /* stored sizes are known then */
        LIE(HUB_T_PIPELINES, 0, hub_pipeline, filters[1].id, 0),
        LIE(HUB_T_GRIDS, 0, hub_grid, rank, 0),
        LIE(HUB_T_GRIDS, 0, hub_grid, rank, 3),
        LIE(HUB_T_GRIDS, 0, hub_grid, rank, UINT32_MAX),
        LIE(HUB_T_GRIDS, 0, hub_grid, inner, 1), /* without an element */
        LIE(HUB_T_GRIDS, 0, hub_grid, at, 1),
        LIE(HUB_T_GRIDS, 0, hub_grid, element, 3), /* its item has 4 bytes */
        LIE(HUB_T_GRIDS, 0, hub_grid, element, UINT32_MAX),
        LIE(HUB_T_GRIDS, 0, hub_grid, pipeline, 1),
        LIE(HUB_T_GRIDS, 0, hub_grid, fill, 6), /* its last bytes lie behind the table */
        LIE(HUB_T_GRIDS, 0, hub_grid, fill, 0xFFFFFFFE),
        LIE(HUB_T_GRIDS, 0, hub_grid, chunk[0], 0),
        LIE(HUB_T_GRIDS, 0, hub_grid, chunk[0], 1),
        LIE(HUB_T_GRIDS, 0, hub_grid, chunk[0], 1u << 28),
        LIE(HUB_T_GRIDS, 0, hub_grid, chunk[1], 1u << 25), /* 2 x 2^25 x 4 bytes */
        LIE(HUB_T_GRIDS, 0, hub_grid, chunk[2], 1),
        LIE(HUB_T_ARRAYS, 0, hub_array, variant, 77),
        LIE(HUB_T_ARRAYS, 0, hub_array, first_piece, 1),
        LIE(HUB_T_ARRAYS, 0, hub_array, piece_count, 4),
        LIE(HUB_T_ARRAYS, 0, hub_array, piece_count, UINT32_MAX),
        LIE(HUB_T_ARRAYS, 0, hub_array, flags, 2),
        LIE(HUB_T_ARRAYS, 0, hub_array, flags, HUB_ARRAY_SCALAR), /* of several rows */
        LIE(HUB_T_ARRAYS, 0, hub_array, rows, 29),
        LIE(HUB_T_ARRAYS, 0, hub_array, rows, 31),
        LIE(HUB_T_ARRAYS, 0, hub_array, rows, UINT64_MAX),
        LIE(HUB_T_ARRAYS, 1, hub_array, first_piece, 0), /* pieces of another array */
        LIE(HUB_T_ARRAYS, 1, hub_array, variant, 0),
        LIE(HUB_T_PIECES, 0, hub_piece, kind, 0),
        LIE(HUB_T_PIECES, 0, hub_piece, kind, 7),
        LIE(HUB_T_PIECES, 0, hub_piece, file, 2),
        LIE(HUB_T_PIECES, 0, hub_piece, file, 1),
        LIE(HUB_T_PIECES, 0, hub_piece, first_row, 1),
        LIE(HUB_T_PIECES, 0, hub_piece, rows, 5),
        LIE(HUB_T_PIECES, 0, hub_piece, rows, UINT64_MAX),
        LIE(HUB_T_PIECES, 0, hub_piece, table, 1),
        LIE(HUB_T_PIECES, 0, hub_piece, table, UINT32_MAX),
        LIE(HUB_T_PIECES, 0, hub_piece, count, 3),
        LIE(HUB_T_PIECES, 0, hub_piece, count, UINT32_MAX),
        LIE(HUB_T_PIECES, 0, hub_piece, geometry, 1),
        LIE(HUB_T_PIECES, 1, hub_piece, offset, 1),
        LIE(HUB_T_PIECES, 1, hub_piece, offset, UINT64_MAX),
        LIE(HUB_T_PIECES, 1, hub_piece, row_stride, 21),
        LIE(HUB_T_PIECES, 1, hub_piece, row_stride, (uint64_t)-1),
        LIE(HUB_T_PIECES, 1, hub_piece, row_stride, (uint64_t)INT64_MIN),
        LIE(HUB_T_PIECES, 1, hub_piece, row_stride, INT64_MAX),
        LIE(HUB_T_PIECES, 1, hub_piece, geometry, 1),
        LIE(HUB_T_PIECES, 1, hub_piece, geometry, 0xFFFFFFFE),
        LIE(HUB_T_PIECES, 2, hub_piece, offset, 4093),
        LIE(HUB_T_PIECES, 2, hub_piece, row_stride, (uint64_t)-4077),
        LIE(HUB_T_PIECES, 3, hub_piece, count, 1),
        LIE(HUB_T_PIECES, 3, hub_piece, table, 4),
        LIE(HUB_T_PIECES, 4, hub_piece, offset, 6),
        LIE(HUB_T_PIECES, 4, hub_piece, offset, UINT64_MAX),
        LIE(HUB_T_PIECES, 4, hub_piece, kind, HUB_PIECE_INLINE), /* 9 rows where one element lies */
        LIE(HUB_T_PIECES, 7, hub_piece, count, 6),
        LIE(HUB_T_PIECES, 7, hub_piece, rows, 2),
        LIE(HUB_T_PIECES, 8, hub_piece, geometry, 1),
        LIE(HUB_T_PIECES, 8, hub_piece, rows, 11),
        LIE(HUB_T_PIECES, 8, hub_piece, table, 0), /* a dictionary among data pages */
        LIE(HUB_T_PIECES, 8, hub_piece, count, 3),
        LIE(HUB_T_CHUNKS, 0, hub_chunk, offset, 4060),
        LIE(HUB_T_CHUNKS, 0, hub_chunk, offset, UINT64_MAX - 8),
        LIE(HUB_T_CHUNKS, 0, hub_chunk, size, UINT32_MAX),
        LIE(HUB_T_CHUNKS, 0, hub_chunk, mask, 2), /* stored plainly, but 40 bytes for 24 */
        LIE(HUB_T_CHUNKS, 2, hub_chunk, size, 23),
        LIE(HUB_T_EXTENTS, 0, hub_extent, length, 19),
        LIE(HUB_T_EXTENTS, 1, hub_extent, offset, 4077),
        LIE(HUB_T_EXTENTS, 1, hub_extent, offset, UINT64_MAX),
        LIE(HUB_T_EXTENTS, 4, hub_extent, length, 5),
        LIE(HUB_T_COLUMNS, 0, hub_column, physical, HUB_PHYS_FLOAT),
        LIE(HUB_T_COLUMNS, 0, hub_column, physical, HUB_PHYS_BYTE_ARRAY),
        LIE(HUB_T_COLUMNS, 0, hub_column, physical, 8),
        LIE(HUB_T_COLUMNS, 0, hub_column, codec, 3),
        LIE(HUB_T_COLUMNS, 0, hub_column, codec, HUB_PAGE_PLAIN), /* then stored is decoded */
        LIE(HUB_T_COLUMNS, 0, hub_column, dictionary, 3),
        LIE(HUB_T_COLUMNS, 0, hub_column, dictionary, 1),
        LIE(HUB_T_COLUMNS, 0, hub_column, dictionary, HUB_NONE),
        LIE(HUB_T_COLUMNS, 0, hub_column, longest, 1),     /* of numbers */
        LIE(HUB_T_COLUMNS, 0, hub_column, element_def, 2), /* of a most of 1 */
        LIE(HUB_T_COLUMNS, 0, hub_column, zero[2], 1),
        LIE(HUB_T_PAGES, 1, hub_page, continues, 1), /* no list */
        LIE(HUB_T_PAGES, 0, hub_page, continues, 1),
        LIE(HUB_T_PAGES, 1, hub_page, encoding, HUB_ENC_DELTA_BYTES), /* of a DOUBLE */
        LIE(HUB_T_PAGES, 1, hub_page, encoding, 10),
        LIE(HUB_T_PAGES, 0, hub_page, sum, 1),
        LIE(HUB_T_PAGES, 1, hub_page, sum, 1),
        LIE(HUB_T_PAGES, 0, hub_page, version, 1),
        LIE(HUB_T_PAGES, 0, hub_page, offset, 81),
        LIE(HUB_T_PAGES, 1, hub_page, offset, 51),
        LIE(HUB_T_PAGES, 1, hub_page, offset, UINT64_MAX),
        LIE(HUB_T_PAGES, 1, hub_page, decoded, UINT32_MAX),
        LIE(HUB_T_PAGES, 1, hub_page, values, 5),
        LIE(HUB_T_PAGES, 1, hub_page, values, UINT32_MAX),
        LIE(HUB_T_PAGES, 1, hub_page, first_value, 1),
        LIE(HUB_T_PAGES, 1, hub_page, encoding, 5), /* DELTA_BINARY_PACKED */
        LIE(HUB_T_PAGES, 1, hub_page, encoding, HUB_ENC_RLE),
        LIE(HUB_T_PAGES, 1, hub_page, version, 0),
        LIE(HUB_T_PAGES, 1, hub_page, def_bytes, 1),
        LIE(HUB_T_PAGES, 2, hub_page, def_bytes, 31),
        LIE(HUB_T_PAGES, 2, hub_page, rep_bytes, UINT32_MAX),
        LIE(HUB_T_PAGES, 2, hub_page, decoded, 31), /* not compressed */
        LIE(HUB_T_WINDOWS, 0, hub_window, episode, 2),
        LIE(HUB_T_WINDOWS, 2, hub_window, episode, 5),
        LIE(HUB_T_WINDOWS, 0, hub_window, array, 3),
        LIE(HUB_T_WINDOWS, 0, hub_window, first, 3),
        LIE(HUB_T_WINDOWS, 0, hub_window, count, UINT64_MAX),
        LIE(HUB_T_COUNT, 0, hub_layout_head, magic, 0),
        LIE(HUB_T_COUNT, 0, hub_layout_head, apart, 1),
        LIE(HUB_T_COUNT, 0, hub_layout_head, size, 8),
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[2].offset, 12), /* unaligned */
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[2].offset, 8),  /* in the head */
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[2].offset, UINT64_MAX - 7),
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[2].count, UINT32_MAX),
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[11].count, 100000),
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[3].zero, 1),
        LIE(HUB_T_COUNT, 0, hub_layout_head, table[4].count, 3), /* arrays have more */
    };
    return cr_make_param_array(struct lie_case, cases, HUB_COUNT(cases));
}

static size_t entry_offset(const struct hub_layout *layout, const struct lie_case *c)
{
    static const size_t sizes[HUB_T_COUNT] = {sizeof(struct hub_variant), sizeof(struct hub_pipeline),
                                              sizeof(struct hub_grid),    sizeof(struct hub_array),
                                              sizeof(struct hub_piece),   sizeof(struct hub_chunk),
                                              sizeof(struct hub_extent),  sizeof(struct hub_column),
                                              sizeof(struct hub_page),    sizeof(int64_t),
                                              sizeof(struct hub_window),  1};
    if (c->table == HUB_T_COUNT)
        return c->offset;
    cr_assert_lt(c->index, layout->counts[c->table]);
    return layout->head->table[c->table].offset + c->index * sizes[c->table] + c->offset;
}

ParameterizedTest(struct lie_case *c, layout, lies)
{
    struct good good = build();
    memcpy((uint8_t *)good.blob + entry_offset(&good.layout, c), &c->value, c->width);
    struct hub_layout layout;
    struct hub_error err = {0};
    enum hub_status st = hub_layout_open(good.blob, good.size, &layout, &err);
    if (!st)
        st = check(&layout, &err);
    cr_expect_eq(st, HUB_CORRUPT, "table %u entry %u offset %u passed", c->table, c->index, c->offset);
    cr_expect(err.detail[0]);
    free(good.blob);
}

Test(layout, open_refuses_odd_addresses_and_cut_blobs)
{
    struct good good = build();
    struct hub_layout layout;
    for (size_t size = 0; size < good.size; size++)
        cr_assert_eq(hub_layout_open(good.blob, size, &layout, NULL), HUB_CORRUPT);
    uint8_t *odd = malloc(good.size + 8);
    memcpy(odd + 4, good.blob, good.size);
    cr_expect_eq(hub_layout_open(odd + 4, good.size, &layout, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_layout_open(NULL, 0, &layout, NULL), HUB_CORRUPT);
    free(odd);
    free(good.blob);
}

Test(layout, windows_apart)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf cut = HUB_BUF_INIT(MIB);
    struct good good = build();
    const struct hub_layout *whole = &good.layout;
    const struct hub_view windows = {(const char *)whole->windows,
                                     whole->counts[HUB_T_WINDOWS] * sizeof *whole->windows};
    const struct hub_view fewer = {windows.data, windows.size - sizeof *whole->windows};
    struct hub_layout joined;
    cr_expect_eq(hub_layout_apart(good.blob, good.size), 0);
    cr_assert_eq(hub_layout_cut(whole, 7, &cut, NULL), HUB_OK);
    cr_expect_eq(cut.size, good.size - windows.size);
    cr_expect_eq(hub_layout_apart(cut.data, cut.size), 7);
    cr_expect_eq(hub_layout_apart(cut.data, 3), 0);
    cr_expect_eq(hub_layout_open(cut.data, cut.size, &joined, NULL), HUB_CORRUPT, "it has no windows");
    cr_expect_eq(hub_layout_join(cut.data, cut.size, fewer, &joined, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_layout_join(good.blob, good.size, windows, &joined, NULL), HUB_CORRUPT,
                 "it has its own");
    cr_assert_eq(hub_layout_join(cut.data, cut.size, windows, &joined, NULL), HUB_OK);
    cr_expect_eq(check(&joined, NULL), HUB_OK);
    cr_expect_eq(joined.windows, whole->windows);
    for (unsigned t = 0; t < HUB_T_COUNT; t++)
        cr_expect_eq(joined.counts[t], whole->counts[t]);
    cr_expect_eq(memcmp(joined.pieces, whole->pieces, whole->counts[HUB_T_PIECES] * sizeof *whole->pieces),
                 0);
    cr_expect_eq(memcmp(joined.bytes, whole->bytes, whole->counts[HUB_T_BYTES]), 0);
    const struct hub_window late = {.episode = 9};
    const struct hub_window wrong[] = {whole->windows[0], whole->windows[1], late};
    cr_assert_eq(hub_layout_join(cut.data, cut.size, (struct hub_view){(const char *)wrong, sizeof wrong},
                                 &joined, NULL),
                 HUB_OK);
    cr_expect_eq(check(&joined, NULL), HUB_CORRUPT, "windows are proven wherever they lie");
    free(good.blob);
}

Test(layout, entries_belong_to_one_piece)
{
    struct good good;
    /* many pieces naming one chunk: a small blob must not make the check visit it again and again */
    struct hub_layout_builder *b;
    const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 1};
    const struct hub_pipeline none = {0};
    const struct hub_chunk chunk = {0, 1, 0};
    uint32_t index, grid;
    cr_assert_eq(hub_layout_builder_new(MIB, &b, NULL), HUB_OK);
    cr_assert_eq(hub_layout_variant(b, &v, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(b, index, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_pipeline(b, &none, &index, NULL), HUB_OK);
    const struct hub_grid g = {.rank = 1, .pipeline = index, .fill = HUB_NONE, .chunk = {1}};
    cr_assert_eq(hub_layout_grid(b, &g, &grid, NULL), HUB_OK);
    cr_assert_eq(hub_layout_chunks(b, &chunk, 1, &index, NULL), HUB_OK);
    const struct hub_piece piece = {
        .kind = HUB_PIECE_CHUNKED, .rows = 1, .table = index, .count = 1, .geometry = grid};
    cr_assert_eq(hub_layout_piece(b, &piece, NULL), HUB_OK);
    cr_assert_eq(hub_layout_finish(b, &good.blob, &good.size, NULL), HUB_OK);
    cr_assert_eq(hub_layout_open(good.blob, good.size, &good.layout, NULL), HUB_OK);
    cr_expect_eq(check(&good.layout, NULL), HUB_OK);
    free(good.blob);
    cr_assert_eq(hub_layout_piece(b, &piece, NULL), HUB_OK);
    cr_assert_eq(hub_layout_finish(b, &good.blob, &good.size, NULL), HUB_OK);
    cr_assert_eq(hub_layout_open(good.blob, good.size, &good.layout, NULL), HUB_OK);
    cr_expect_eq(check(&good.layout, NULL), HUB_CORRUPT);
    free(good.blob);
    hub_layout_builder_free(b);
}

Test(layout, one_of_too_many_chunks_is_refused_while_it_is_built)
{
    enum { MANY = 1000000 };
    struct hub_layout_builder *b;
    struct hub_error err = {0};
    struct hub_chunk *chunks = calloc(MANY, sizeof *chunks);
    uint32_t index;
    cr_assert_eq(hub_layout_builder_new(SIZE_MAX, &b, NULL), HUB_OK);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(hub_layout_chunks(b, chunks, MANY, &index, NULL), HUB_OK);
    cr_expect_eq(hub_layout_chunks(b, chunks, MANY, &index, &err), HUB_TOO_BIG);
    cr_expect(strstr(err.detail, "64 MiB"), "%s", err.detail);
    hub_layout_builder_free(b);
    free(chunks);
}
