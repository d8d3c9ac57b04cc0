#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 400 };

/* Rows of varying length as they should come out. */
struct texts {
    uint64_t count;
    struct hub_view row[ROWS];
    bool null[ROWS];
    char *bytes;
    size_t used;
};

static struct hub_view *add_text(struct texts *t, size_t size)
{
    struct hub_view *row = &t->row[t->count++];
    *row = (struct hub_view){t->bytes + t->used, size};
    for (size_t i = 0; i < size; i++)
        t->bytes[t->used++] = (char)rig_draw(256);
    return row;
}

static size_t draw_size(void)
{
    return rig_draw(4) == 0 ? 0 : rig_draw(4) == 0 ? rig_draw(9000) : rig_draw(40);
}

static void put_extents(struct rig *rig, struct texts *t, uint32_t rows)
{
    struct hub_extent extents[100] = {0};
    const uint64_t first = t->count;
    const unsigned file = rig_draw(RIG_FILES + 1), how = rig_draw(3);
    for (uint32_t i = 0; i < rows; i++)
        add_text(t, draw_size());
    for (uint32_t i = 0; i < rows; i++) { /* in order, in order with gaps, backwards */
        const uint32_t row = how == 2 ? rows - 1 - i : i;
        const struct hub_view *text = &t->row[first + row];
        extents[row].offset =
            rig_put(rig, file, text->data, text->size, how == 1 ? rig_draw(3) * rig_draw(4000) : 0);
        extents[row].length = (uint32_t)text->size;
    }
    struct hub_piece piece = {
        .kind = HUB_PIECE_EXTENTS, .file = rig_file_number(file), .rows = rows, .count = rows};
    cr_assert_eq(hub_layout_extents(rig->builder, extents, rows, &piece.table, NULL), HUB_OK);
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

static void put_in_layout(struct rig *rig, struct texts *t, uint32_t rows)
{
    uint32_t offset;
    const bool fill = rig_draw(2);
    const struct hub_view *text = add_text(t, draw_size());
    struct hub_piece piece = {
        .kind = fill ? HUB_PIECE_FILL : HUB_PIECE_INLINE, .file = HUB_NONE, .rows = fill ? rows : 1};
    cr_assert_eq(hub_layout_bytes(rig->builder, text->data, (uint32_t)text->size, &offset, NULL), HUB_OK);
    piece.offset = offset;
    piece.count = (uint32_t)text->size;
    for (uint32_t i = 1; fill && i < rows; i++)
        t->row[t->count++] = *text;
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

static void put_u32(struct hub_buf *buf, uint32_t value)
{
    cr_assert_eq(hub_buf_add(buf, &value, 4, NULL), HUB_OK);
}

/* Definition levels of `count` entries as one bit-packed run behind its length. */
static void put_levels(struct hub_buf *buf, const bool *null, uint32_t count)
{
    uint8_t bits[64] = {0};
    const uint32_t groups = (count + 7) / 8;
    for (uint32_t i = 0; i < count; i++)
        bits[i / 8] |= (uint8_t)(!null[i] << i % 8);
    const uint8_t header = (uint8_t)(groups << 1 | 1);
    put_u32(buf, groups + 1);
    cr_assert_eq(hub_buf_add(buf, &header, 1, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add(buf, bits, groups, NULL), HUB_OK);
}

static void put_page(struct rig *rig, struct hub_piece *piece, struct hub_page page,
                     const struct hub_buf *body)
{
    uint32_t index;
    page.stored = page.decoded = (uint32_t)body->size;
    page.offset = rig_put(rig, 0, body->data, body->size, 3);
    cr_assert_eq(hub_layout_pages(rig->builder, &page, 1, &index, NULL), HUB_OK);
    if (page.version && !piece->count++)
        piece->table = index;
}

static struct hub_page page_of(uint32_t rows, uint64_t first, uint8_t encoding, uint8_t version)
{
    return (struct hub_page){
        .values = rows, .first_value = (uint32_t)first, .encoding = encoding, .version = version};
}

/* Pages of an optional BYTE_ARRAY column; every other one takes its values from a dictionary of four
 * words. */
static void put_pages(struct rig *rig, struct texts *t, uint32_t rows)
{
    static const char *const words[] = {"", "a", "word", "longer"};
    struct hub_column column = {.physical = HUB_PHYS_BYTE_ARRAY, .max_def = 1, .longest = 6};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .rows = rows};
    const uint64_t start = t->count;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf dictionary = HUB_BUF_INIT(MIB);
    for (unsigned i = 0; i < 4; i++) {
        put_u32(&dictionary, (uint32_t)strlen(words[i]));
        cr_assert_eq(hub_buf_add_text(&dictionary, words[i], NULL), HUB_OK);
    }
    struct hub_page page = page_of(4, 0, HUB_ENC_PLAIN, 0);
    page.stored = page.decoded = (uint32_t)dictionary.size;
    page.offset = rig_put(rig, 0, dictionary.data, dictionary.size, 0);
    cr_assert_eq(hub_layout_pages(rig->builder, &page, 1, &column.dictionary, NULL), HUB_OK);
    while (rows > 0) {
        const uint32_t most = 1 + rig_draw(30), n = HUB_MIN(rows, most);
        const uint64_t first = t->count;
        const bool coded = rig_draw(2);
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf body = HUB_BUF_INIT(MIB), values = HUB_BUF_INIT(MIB);
        cr_assert_eq(hub_buf_add(&values, "\x02", coded, NULL), HUB_OK); /* bits of an index */
        for (uint32_t i = 0; i < n; i++) {
            t->null[t->count] = rig_draw(4) == 0;
            const uint8_t word = (uint8_t)rig_draw(4);
            struct hub_view *text = add_text(t, t->null[t->count] || coded ? 0 : draw_size());
            if (t->null[t->count - 1])
                continue;
            if (coded) {
                *text = hub_view_of(words[word]);
                cr_assert_eq(hub_buf_add(&values, (const uint8_t[]){2, word}, 2, NULL),
                             HUB_OK); /* a run of one */
            } else {
                put_u32(&values, (uint32_t)text->size);
                cr_assert_eq(hub_buf_add_view(&values, *text, NULL), HUB_OK);
            }
        }
        put_levels(&body, t->null + first, n);
        cr_assert_eq(hub_buf_add_view(&body, hub_buf_view(&values), NULL), HUB_OK);
        page = page_of(n, first - start, coded ? HUB_ENC_RLE_DICTIONARY : HUB_ENC_PLAIN, 1);
        for (uint64_t i = first; coded && i < t->count; i++)
            page.sum += (uint32_t)t->row[i].size;
        put_page(rig, &piece, page, &body);
        rows -= n;
    }
    cr_assert_eq(hub_layout_column(rig->builder, &column, &piece.geometry, NULL), HUB_OK);
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

static void compare(struct rig *rig, const struct texts *t, unsigned round)
{
    const int64_t n = (int64_t)t->count, start = (int64_t)rig_draw((uint32_t)n), steps[] = {1, 1, -1, 3, -7};
    struct hub_slice slice;
    cr_assert_eq(
        hub_slice_resolve(rig_draw(2) ? &start : NULL, NULL, &steps[rig_draw(5)], t->count, &slice, NULL),
        HUB_OK);
    struct hub_rows rows;
    struct hub_error err = {0};
    enum hub_status st = rig_read(rig, 0, slice, rig_draw(2) ? HUB_READ_NOWAIT : 0, false, NULL, &rows, &err);
    if (st == HUB_AGAIN)
        st = rig_read(rig, 0, slice, 0, false, NULL, &rows, &err);
    cr_assert_eq(st, HUB_OK, "round %u: %s", round, err.detail);
    cr_assert(rows.owned && rows.offsets && rows.offsets[0] == 0);
    bool any = false;
    for (uint64_t i = 0; i < slice.count; i++) {
        const uint64_t row = (uint64_t)((int64_t)slice.start + (int64_t)i * slice.step),
                       size = rows.offsets[i + 1] - rows.offsets[i];
        cr_assert_eq(size, t->row[row].size, "round %u row %llu", round, (unsigned long long)row);
        cr_assert(size == 0 || memcmp(rows.data + rows.offsets[i], t->row[row].data, size) == 0);
        cr_assert_eq(rows.valid ? !rows.valid[i] : false, t->null[row]);
        any = any || t->null[row];
    }
    cr_assert_eq(rows.valid != NULL, any);
    hub_rows_dispose(&rows);
}

Test(gather_var, random_layouts_and_slices, .timeout = 60)
{
    struct texts *t = malloc(sizeof *t);
    char *bytes = malloc(8 * MIB);
    for (unsigned round = 0; round < 300; round++) {
        struct rig rig;
        const struct hub_variant v = {.kind = HUB_KIND_VAR};
        uint32_t index;
        memset(t, 0, sizeof *t);
        t->bytes = bytes;
        rig_open(&rig);
        cr_assert_eq(hub_layout_variant(rig.builder, &v, &index, NULL), HUB_OK);
        cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
        for (unsigned pieces = 1 + rig_draw(3); pieces > 0; pieces--) {
            const uint32_t rows = 1 + rig_draw(99);
            const unsigned kind = rig_draw(3);
            if (kind == 0)
                put_extents(&rig, t, rows);
            else if (kind == 1)
                put_in_layout(&rig, t, rows);
            else
                put_pages(&rig, t, rows);
        }
        rig_finish(&rig);
        for (unsigned i = 0; i < 8; i++)
            compare(&rig, t, round);
        rig_close(&rig);
    }
    free(bytes);
    free(t);
}

/* ---- lists of numbers, their rows and pages cut anywhere ---- */

struct lists {
    uint8_t rep[4 * ROWS], def[4 * ROWS]; /* levels: 0 no list, 1 an empty one, 2 an element */
    int32_t value[4 * ROWS];
    uint32_t count;
};

static void draw_list(struct texts *t, struct lists *l)
{
    const uint32_t kind = rig_draw(6), size = kind == 5 ? rig_draw(30) : rig_draw(4);
    t->null[t->count] = kind == 0;
    const struct hub_view *row = add_text(t, kind == 0 ? 0 : size * sizeof(int32_t));
    for (uint32_t i = 0; i < HUB_MAX(row->size / 4, 1); i++) {
        l->rep[l->count] = i > 0;
        l->def[l->count] = kind == 0 ? 0 : size ? 2 : 1;
        if (row->size)
            memcpy(&l->value[l->count], row->data + i * 4, 4);
        l->count++;
    }
}

/* A run of one for each level. */
static void put_runs(struct hub_buf *buf, const uint8_t *levels, uint32_t count)
{
    put_u32(buf, 2 * count);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(hub_buf_add(buf, (const uint8_t[]){2, levels[i]}, 2, NULL), HUB_OK);
}

static uint32_t rows_begun(const struct lists *l, uint32_t before)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < before; i++)
        rows += l->rep[i] == 0;
    return rows;
}

static void put_list_pages(struct rig *rig, const struct lists *l, uint32_t rows, int wrong_page)
{
    const struct hub_column column = {.physical = HUB_PHYS_INT32,
                                      .max_def = 2,
                                      .max_rep = 1,
                                      .element_def = 2,
                                      .dictionary = HUB_NONE,
                                      .longest = 30 * 4};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .rows = rows};
    int number = 0;
    cr_assert_eq(hub_layout_column(rig->builder, &column, &piece.geometry, NULL), HUB_OK);
    for (uint32_t at = 0, n; at < l->count; at += n, number++) {
        const uint32_t most = 1 + rig_draw(40);
        n = HUB_MIN(l->count - at, most);
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf body = HUB_BUF_INIT(MIB);
        put_runs(&body, l->rep + at, n);
        put_runs(&body, l->def + at, n);
        for (uint32_t i = at; i < at + n; i++)
            if (l->def[i] == 2)
                cr_assert_eq(hub_buf_add(&body, &l->value[i], 4, NULL), HUB_OK);
        struct hub_page page = page_of(n, at, HUB_ENC_PLAIN, 1);
        page.sum = rows_begun(l, at) - (number == wrong_page);
        page.continues = l->rep[at] > 0;
        put_page(rig, &piece, page, &body);
    }
    cr_assert_eq(hub_layout_piece(rig->builder, &piece, NULL), HUB_OK);
}

static void open_lists(struct rig *rig, struct texts *t, unsigned pieces, int wrong_page)
{
    const struct hub_variant v = {.kind = HUB_KIND_VAR, .sequence = HUB_KIND_INT, .item_size = 4};
    struct lists *l = malloc(sizeof *l);
    uint32_t index;
    rig_open(rig);
    cr_assert_eq(hub_layout_variant(rig->builder, &v, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig->builder, index, &index, NULL), HUB_OK);
    for (; pieces > 0; pieces--) {
        const uint32_t rows = 60 + rig_draw(60);
        l->count = 0;
        for (uint32_t i = 0; i < rows; i++)
            draw_list(t, l);
        put_list_pages(rig, l, rows, wrong_page);
    }
    free(l);
    rig_finish(rig);
}

Test(gather_var, lists_over_pages, .timeout = 60)
{
    struct texts *t = malloc(sizeof *t);
    char *bytes = malloc(MIB);
    for (unsigned round = 0; round < 200; round++) {
        struct rig rig;
        memset(t, 0, sizeof *t);
        t->bytes = bytes;
        open_lists(&rig, t, 1 + rig_draw(3), -1);
        for (unsigned i = 0; i < 8; i++)
            compare(&rig, t, round);
        rig_close(&rig);
    }
    free(bytes);
    free(t);
}

/* What is said of a page's rows is proven when it is read. */
Test(gather_var, a_page_of_other_rows_than_was_said)
{
    struct texts *t = calloc(1, sizeof *t);
    struct rig rig;
    struct hub_rows rows;
    t->bytes = malloc(MIB);
    open_lists(&rig, t, 1, 1);
    cr_expect_eq(rig_read(&rig, 0, (struct hub_slice){0, t->count, 1}, 0, false, NULL, &rows, NULL),
                 HUB_CORRUPT);
    rig_close(&rig);
    free(t->bytes);
    free(t);
}

/* Lists of two numbers with nulls: each null is told, and the row's other value stands. */
static void nulls_in_lists(enum hub_kind kind)
{
    struct rig rig;
    rig_open(&rig);
    const struct hub_variant v = {.kind = (uint8_t)kind, .item_size = 8, .rank = 1, .dims = {2}};
    const struct hub_column column = {.physical = kind == HUB_KIND_FLOAT ? HUB_PHYS_DOUBLE : HUB_PHYS_INT64,
                                      .max_def = 1,
                                      .dictionary = HUB_NONE};
    const bool null[8] = {false, false, false, true, true, true, false, false};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .rows = 4};
    uint32_t index;
    cr_assert_eq(hub_layout_variant(rig.builder, &v, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_column(rig.builder, &column, &piece.geometry, NULL), HUB_OK);
    for (unsigned p = 0; p < 8; p += p ? 5 : 3) { /* pages of 3 and 5: the second row spans both */
        const uint32_t n = p ? 5 : 3;
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf body = HUB_BUF_INIT(KIB);
        put_levels(&body, null + p, n);
        for (unsigned i = p; i < p + n; i++) {
            const double real = i;
            const int64_t whole = i;
            const void *value = kind == HUB_KIND_FLOAT ? (const void *)&real : &whole;
            if (!null[i])
                cr_assert_eq(hub_buf_add(&body, value, 8, NULL), HUB_OK);
        }
        put_page(&rig, &piece, page_of(n, p, HUB_ENC_PLAIN, 1), &body);
    }
    cr_assert_eq(hub_layout_piece(rig.builder, &piece, NULL), HUB_OK);
    rig_finish(&rig);
    struct hub_rows rows;
    for (int64_t step = -1; step <= 1; step += 2) {
        cr_assert_eq(
            rig_read(&rig, 0, (struct hub_slice){step > 0 ? 0 : 3, 4, step}, 0, false, NULL, &rows, NULL),
            HUB_OK);
        cr_assert_not_null(rows.valid);
        cr_expect_eq(hub_rows_nulls(&rows), 3);
        for (unsigned i = 0; i < 8; i++) {
            const unsigned row = step > 0 ? i / 2 : 3 - i / 2, value = row * 2 + i % 2;
            double real;
            int64_t whole;
            memcpy(&real, rows.data + i * 8, 8);
            memcpy(&whole, rows.data + i * 8, 8);
            cr_expect_eq(rows.valid[i], !null[value]);
            if (kind == HUB_KIND_FLOAT)
                cr_expect(null[value] ? isnan(real) : real == value);
            else
                cr_expect_eq(whole, null[value] ? 0 : (int64_t)value);
        }
        hub_rows_dispose(&rows);
    }
    cr_assert_eq(rig_read(&rig, 0, (struct hub_slice){0, 1, 1}, 0, false, NULL, &rows, NULL), HUB_OK);
    cr_expect_null(rows.valid); /* none of this row */
    cr_expect_eq(hub_rows_nulls(&rows), 0);
    hub_rows_dispose(&rows);
    rig_close(&rig);
}

Test(gather_var, nulls_in_lists_are_told_one_by_one)
{
    nulls_in_lists(HUB_KIND_FLOAT);
    nulls_in_lists(HUB_KIND_INT);
}

/* `words` values of a dictionary, one of them `longest` bytes and the others one; a page names all but
 * that. */
static void price_of_words(uint32_t words, uint32_t longest, uint64_t *bytes_out)
{
    struct rig rig;
    rig_open(&rig);
    const struct hub_variant v = {.kind = HUB_KIND_VAR};
    struct hub_column column = {.physical = HUB_PHYS_BYTE_ARRAY, .longest = longest};
    struct hub_piece piece = {.kind = HUB_PIECE_PAGES, .rows = words};
    struct hub_page dictionary = page_of(words, 0, HUB_ENC_PLAIN, 0);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf values = HUB_BUF_INIT(8 * MIB), body = HUB_BUF_INIT(MIB);
    uint32_t index;
    for (uint32_t i = 0; i < words; i++) {
        const uint32_t size = i ? 1 : longest;
        put_u32(&values, size);
        for (uint32_t k = 0; k < size; k++)
            cr_assert_eq(hub_buf_add(&values, "x", 1, NULL), HUB_OK);
    }
    dictionary.stored = dictionary.decoded = (uint32_t)values.size;
    dictionary.offset = rig_put(&rig, 0, values.data, values.size, 0);
    cr_assert_eq(hub_layout_variant(rig.builder, &v, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_pages(rig.builder, &dictionary, 1, &column.dictionary, NULL), HUB_OK);
    /* indices of 8 bits: one run of `words` ones */
    cr_assert_eq(
        hub_buf_add(&body,
                    (const uint8_t[]){8, (uint8_t)(words << 1 & 0x7f) | 0x80, (uint8_t)(words >> 6), 1}, 4,
                    NULL),
        HUB_OK);
    struct hub_page page = page_of(words, 0, HUB_ENC_RLE_DICTIONARY, 1);
    page.sum = words;
    put_page(&rig, &piece, page, &body);
    cr_assert_eq(hub_layout_column(rig.builder, &column, &piece.geometry, NULL), HUB_OK);
    cr_assert_eq(hub_layout_piece(rig.builder, &piece, NULL), HUB_OK);
    rig_finish(&rig);
    struct hub_rows rows;
    struct hub_error err = {0};
    cr_assert_eq(rig_read(&rig, 0, (struct hub_slice){0, words, 1}, 0, false, NULL, &rows, &err), HUB_OK,
                 "%s", err.detail);
    cr_expect_eq(rows.offsets[words], words);
    hub_rows_dispose(&rows);
    struct hub_plan plan = {.layout = &rig.layout,
                            .array = rig.layout.arrays,
                            .variant = rig.layout.variants,
                            .slice = {0, words, 1}};
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    *bytes_out = plan.bytes_out;
    rig_close(&rig);
}

/* Not that each row may be the whole dictionary. */
Test(gather_var, words_of_a_dictionary_are_priced_at_what_they_come_to)
{
    uint64_t bytes = 0;
    price_of_words(200, 1, &bytes);
    cr_expect_eq(bytes, 200);
    price_of_words(200, 100000, &bytes);
    cr_expect_eq(bytes, 200);
}

static uint32_t reads_of(struct rig *rig, struct hub_slice slice)
{
    struct hub_plan plan = {
        .layout = &rig->layout, .array = rig->layout.arrays, .variant = rig->layout.variants, .slice = slice};
    cr_assert_eq(hub_plan_price(&plan, NULL), HUB_OK);
    return plan.reads;
}

static void expect_rows(struct rig *rig, const struct texts *t, struct hub_slice slice)
{
    struct hub_rows rows;
    cr_assert_eq(rig_read(rig, 0, slice, 0, false, NULL, &rows, NULL), HUB_OK);
    for (uint64_t i = 0; i < slice.count; i++) {
        const struct hub_view *text = &t->row[slice.start + i];
        cr_assert_eq(rows.offsets[i + 1] - rows.offsets[i], text->size);
        cr_expect(text->size == 0 || memcmp(rows.data + rows.offsets[i], text->data, text->size) == 0);
    }
    hub_rows_dispose(&rows);
}

/* A page that is decoded whole for some of its rows need not be read for the next ones, of the same layout
 * only. */
Test(gather_var, a_page_of_which_a_part_was_taken_is_kept)
{
    struct texts *t = calloc(1, sizeof *t);
    const struct hub_variant v = {.kind = HUB_KIND_VAR};
    const struct hub_slice part = {40, 3, 1}, all = {0, 99, 1};
    struct rig rig;
    uint32_t index;
    cr_assert(t);
    t->bytes = malloc(8 * MIB);
    rig_open(&rig);
    cr_assert_eq(hub_layout_variant(rig.builder, &v, &index, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(rig.builder, index, &index, NULL), HUB_OK);
    put_pages(&rig, t, 99);
    rig_finish(&rig);
    rig.layout.decoded = rig.decoded;
    const uint32_t once = reads_of(&rig, all);
    expect_rows(&rig, t, all);
    cr_expect_eq(reads_of(&rig, all), once, "a whole column is not kept");
    cr_expect_gt(reads_of(&rig, part), 0);
    expect_rows(&rig, t, part);
    cr_expect_eq(reads_of(&rig, part), 0);
    expect_rows(&rig, t, part);
    rig.layout.serial--;
    cr_expect_gt(reads_of(&rig, part), 0, "another layout's");
    rig.layout.serial++;
    struct hub_lru *other;
    cr_assert_eq(hub_lru_new(32 * MIB, &other, NULL), HUB_OK);
    rig.layout.decoded = other;
    cr_expect_gt(reads_of(&rig, part), 0, "two programs of one process share nothing");
    expect_rows(&rig, t, part);
    cr_expect_eq(reads_of(&rig, part), 0);
    rig.layout.decoded = rig.decoded;
    hub_lru_free(other);
    cr_expect_eq(reads_of(&rig, part), 0, "the first still has its own");
    rig.layout.serial = 0;
    expect_rows(&rig, t, part);
    cr_expect_gt(reads_of(&rig, part), 0, "pages of a layout without a serial are not kept");
    rig_close(&rig);
    free(t->bytes);
    free(t);
}
