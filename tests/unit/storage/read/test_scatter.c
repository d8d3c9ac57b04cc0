/* Rows from many places into one destination, against the same rows one by one; how often a chunk is
 * decoded is counted. */
#include "rig.h"

#include "storage/codec/codec.h"
#include "storage/read/scatter.h"

#include <libdeflate.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROWS = 300, WIDE = 5, CHUNK = 16, MOST = 60 };

static atomic_uint decoded;

/* Linked in place of the real one: --wrap */
enum hub_status __real_hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask,
                                        struct hub_view stored, uint8_t *out, size_t size, uint8_t *scratch,
                                        struct hub_error *err);
enum hub_status __wrap_hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask,
                                        struct hub_view stored, uint8_t *out, size_t size, uint8_t *scratch,
                                        struct hub_error *err);
enum hub_status __wrap_hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask,
                                        struct hub_view stored, uint8_t *out, size_t size, uint8_t *scratch,
                                        struct hub_error *err)
{
    atomic_fetch_add(&decoded, 1);
    return __real_hub_chunk_decode(pipeline, mask, stored, out, size, scratch, err);
}

static uint32_t value_at(uint32_t array, uint64_t row, unsigned column)
{
    return (uint32_t)(array * 1000000 + row * 10 + column);
}

/* ---- arrays of numbers: in chunks that are deflated and split columns, or one row behind the other ---- */

static void put_chunk(struct rig *rig, uint32_t array, uint64_t first, unsigned column, unsigned width)
{
    uint32_t plain[CHUNK][3] = {0};
    char packed[1000];
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    for (uint64_t row = first; row < first + CHUNK && row < ROWS; row++)
        for (unsigned i = 0; i < width && column + i < WIDE; i++)
            plain[row - first][i] = value_at(array, row, column + i);
    const size_t size = libdeflate_zlib_compress(c, plain, sizeof plain, packed, sizeof packed);
    libdeflate_free_compressor(c);
    const struct hub_chunk chunk = {.offset = rig_put(rig, 0, packed, size, 0), .size = (uint32_t)size};
    uint32_t index;
    cr_assert_eq(hub_layout_chunks(rig->builder, &chunk, 1, &index, NULL), HUB_OK);
}

static uint32_t begin_numbers(struct rig *rig)
{
    const struct hub_variant variant = {.kind = HUB_KIND_UINT, .item_size = 4, .rank = 1, .dims = {WIDE}};
    uint32_t index;
    cr_assert_eq(hub_layout_variant(rig->builder, &variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig->builder, index, &index, NULL), HUB_OK);
    return index;
}

static void put_chunked(struct rig *rig, uint32_t *first_chunk)
{
    const struct hub_pipeline deflate = {.count = 1, .filters = {{.id = HUB_FILTER_DEFLATE}}};
    struct hub_grid grid = {.rank = 2, .fill = HUB_NONE, .chunk = {CHUNK, 3}};
    struct hub_piece piece = {.kind = HUB_PIECE_CHUNKED, .rows = ROWS, .table = *first_chunk};
    const uint32_t array = begin_numbers(rig);
    cr_assert_eq(hub_layout_pipeline(rig->builder, &deflate, &grid.pipeline, NULL), HUB_OK);
    cr_assert_eq(hub_layout_grid(rig->builder, &grid, &piece.geometry, NULL), HUB_OK);
    for (uint64_t row = 0; row < ROWS; row += CHUNK)
        for (unsigned column = 0; column < WIDE; column += 3, piece.count++)
            put_chunk(rig, array, row, column, 3);
    *first_chunk += piece.count;
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

static void put_strided(struct rig *rig)
{
    const uint32_t array = begin_numbers(rig);
    struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                              .file = 1,
                              .rows = ROWS,
                              .row_stride = WIDE * 4,
                              .geometry = HUB_NONE,
                              .offset = rig->content[1].size};
    for (uint64_t row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < WIDE; i++) {
            const uint32_t value = value_at(array, row, i);
            rig_put(rig, 1, &value, sizeof value, 0);
        }
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

/* ---- parts ---- */

/* Windows on the rows of some arrays; what a row of the destination has to be is in `array` and `row`. */
struct windows {
    struct hub_scatter many;
    struct hub_scatter_part parts[MOST];
    uint32_t array[MOST * 100];
    int64_t row[MOST * 100]; /* -1: nobody's */
};

static void draw_windows(struct rig *rig, struct windows *w, uint32_t arrays, uint32_t near)
{
    const uint32_t count = 1 + rig_draw(MOST), length = 1 + rig_draw(40), room = length + rig_draw(3);
    memset(w, 0, sizeof *w);
    w->many = (struct hub_scatter){.parts = w->parts, .count = count, .rows = (uint64_t)count * room};
    w->many.variant = rig->layout.variants[rig->layout.arrays[0].variant];
    for (uint32_t i = 0; i < count; i++) {
        struct hub_scatter_part *part = &w->parts[i];
        const uint32_t array = rig_draw(arrays), first = rig_draw(near);
        const uint32_t have = HUB_MIN(length, ROWS - first) * (rig_draw(9) > 0), repeat = rig_draw(2);
        *part = (struct hub_scatter_part){.layout = &rig->layout,
                                          .array = &rig->layout.arrays[array],
                                          .files = &rig->opened,
                                          .first = first,
                                          .count = have,
                                          .to = (uint64_t)i * room,
                                          .repeat = repeat && have ? room - have : 0};
        for (uint32_t k = 0; k < room; k++) {
            w->array[i * room + k] = array;
            w->row[i * room + k] = k < have       ? (int64_t)first + k
                                   : part->repeat ? (int64_t)first + have - 1
                                                  : -1;
        }
    }
}

static void run_units(void *pool, void (*work)(void *arg, uint32_t i), void *arg, uint32_t count)
{
    (void)pool;
    while (count-- > 0)
        work(arg, count);
}

static void read_windows(struct rig *rig, struct hub_scatter *many, struct hub_rows *rows)
{
    const struct hub_parallel units = {.run = run_units};
    cr_assert_eq(hub_scatter_price(many, NULL), HUB_OK);
    if (rig_draw(2))
        many->cost_ns = 1 << 30; /* worth several threads */
    rig_give_files(rig);
    cr_assert_eq(hub_scatter_run(many, rig_draw(2) ? &units : NULL, NULL, rows, NULL), HUB_OK);
    rig_take_files(rig);
    cr_assert_eq(rows->rows, many->rows);
    hub_scatter_dispose(many);
}

static unsigned chunks_touched(const struct windows *w, uint32_t arrays)
{
    bool touched[8][ROWS / CHUNK + 1] = {0};
    unsigned count = 0;
    for (uint64_t i = 0; i < w->many.rows; i++)
        if (w->row[i] >= 0 && w->array[i] < arrays && !touched[w->array[i]][w->row[i] / CHUNK]) {
            touched[w->array[i]][w->row[i] / CHUNK] = true;
            count += 2; /* beside each other */
        }
    return count;
}

Test(scatter, windows_are_the_rows_they_name_and_each_chunk_is_decoded_once, .timeout = 60)
{
    enum { CHUNKED = 2, ARRAYS = 4 };
    struct rig rig;
    uint32_t chunks = 0;
    rig_open(&rig);
    put_chunked(&rig, &chunks);
    put_chunked(&rig, &chunks);
    put_strided(&rig);
    put_strided(&rig);
    rig_finish(&rig);
    rig.layout.serial = 0; /* nothing is kept from answer to answer */
    struct windows *w = malloc(sizeof *w);
    for (unsigned round = 0; round < 400; round++) {
        struct hub_rows rows;
        draw_windows(&rig, w, ARRAYS, round % 2 ? ROWS : 30);
        atomic_store(&decoded, 0);
        read_windows(&rig, &w->many, &rows);
        cr_assert_eq(atomic_load(&decoded), chunks_touched(w, CHUNKED), "round %u", round);
        for (uint64_t i = 0; i < rows.rows; i++)
            for (unsigned k = 0; k < WIDE; k++) {
                uint32_t value;
                memcpy(&value, rows.data + (i * WIDE + k) * 4, 4);
                cr_assert_eq(value, w->row[i] < 0 ? 0 : value_at(w->array[i], (uint64_t)w->row[i], k),
                             "round %u, row %d", round, (int)i);
            }
        hub_rows_dispose(&rows);
    }
    free(w);
    rig_close(&rig);
}

/* As rows of a dataset are while they are sent. */
static void read_blocks(struct rig *rig, uint64_t block)
{
    for (uint64_t at = 0; at < ROWS; at += block) {
        const struct hub_slice slice = {at, HUB_MIN(block, ROWS - at), 1};
        struct hub_rows rows;
        cr_assert_eq(rig_read(rig, 0, slice, 0, false, NULL, &rows, NULL), HUB_OK);
        for (uint64_t i = 0; i < rows.rows * WIDE; i++) {
            uint32_t value;
            memcpy(&value, rows.data + i * 4, 4);
            cr_assert_eq(value, value_at(0, at + i / WIDE, (unsigned)(i % WIDE)));
        }
        hub_rows_dispose(&rows);
    }
}

Test(scatter, blocks_of_rows_decode_each_chunk_once)
{
    const uint64_t blocks[] = {1, 7, CHUNK, 2 * CHUNK + 3};
    for (size_t i = 0; i < HUB_COUNT(blocks); i++) {
        struct rig rig;
        uint32_t chunks = 0;
        rig_open(&rig);
        put_chunked(&rig, &chunks);
        rig_finish(&rig);
        rig.layout.decoded = rig.decoded;
        atomic_store(&decoded, 0);
        read_blocks(&rig, blocks[i]);
        cr_expect_eq(atomic_load(&decoded), chunks, "blocks of %u rows", (unsigned)blocks[i]);
        rig_close(&rig);
    }
}

/* ---- rows of varying length ---- */

static struct hub_view text_of(uint64_t row)
{
    static char text[40];
    memset(text, 'a' + (char)(row % 26), sizeof text);
    return (struct hub_view){text, row % 7 * 5};
}

Test(scatter, rows_of_varying_length, .timeout = 60)
{
    const struct hub_variant variant = {.kind = HUB_KIND_VAR};
    struct hub_extent extents[ROWS] = {0};
    struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS, .rows = ROWS, .count = ROWS};
    struct rig rig;
    uint32_t index;
    rig_open(&rig);
    cr_assert_eq(hub_layout_variant(rig.builder, &variant, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    for (uint64_t row = 0; row < ROWS; row++) {
        const struct hub_view text = text_of(row);
        extents[row].offset = rig_put(&rig, 0, text.data, text.size, 3);
        extents[row].length = (uint32_t)text.size;
    }
    cr_assert_eq(hub_layout_extents(rig.builder, extents, ROWS, &piece.table, NULL), HUB_OK);
    cr_assert_eq(hub_layout_piece(rig.builder, &piece, NULL), HUB_OK);
    rig_finish(&rig);
    struct windows *w = malloc(sizeof *w);
    for (unsigned round = 0; round < 200; round++) {
        struct hub_rows rows;
        draw_windows(&rig, w, 1, round % 2 ? ROWS : 30);
        read_windows(&rig, &w->many, &rows);
        cr_assert_leq(rows.offsets[rows.rows], w->many.bytes_out);
        for (uint64_t i = 0; i < rows.rows; i++) {
            const struct hub_view text =
                w->row[i] < 0 ? (struct hub_view){"", 0} : text_of((uint64_t)w->row[i]);
            cr_assert_eq(rows.offsets[i + 1] - rows.offsets[i], text.size, "round %u", round);
            cr_assert_arr_eq(rows.data + rows.offsets[i], text.data, text.size);
        }
        hub_rows_dispose(&rows);
    }
    free(w);
    rig_close(&rig);
}

Test(scatter, too_much_is_refused)
{
    struct hub_scatter many = {.variant = {.kind = HUB_KIND_UINT, .item_size = 8}, .rows = UINT64_C(1) << 40};
    cr_assert_eq(hub_scatter_price(&many, NULL), HUB_TOO_BIG);
    many.rows = 0;
    cr_assert_eq(hub_scatter_price(&many, NULL), HUB_OK);
    cr_assert_eq(many.bytes_out, 0);
    hub_scatter_dispose(&many);
}
