/* storage/formats/parquet over the fixtures' files: schema, row groups, pages, shapes, values; and over
 * damaged ones. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/formats/parquet/column.h"
#include "tests/support/slurp.h"

#define VARIANT "lerobot/parquet-variants/data/chunk-000/episode_%06u.parquet"
#define DAMAGED "lerobot/parquet-damaged/data/chunk-000/episode_%06u.parquet"

struct opened {
    uint8_t *data;
    struct hub_byte_source source;
    struct hub_parquet file;
};

static enum hub_status open_fixture(struct opened *o, const char *format, unsigned number,
                                    struct hub_error *err)
{
    char path[200];
    size_t size;
    snprintf(path, sizeof path, format, number);
    o->data = slurp(path, &size);
    hub_byte_source_memory(&o->source, o->data, size);
    return hub_parquet_open(&o->source, &o->file, err);
}

static void close_fixture(struct opened *o)
{
    hub_parquet_dispose(&o->file);
    free(o->data);
}

Test(parquet, a_file_that_was_cut_short)
{
    struct opened o;
    struct hub_error err = {0};
    cr_assert_eq(open_fixture(&o, VARIANT, 0, &err), HUB_OK, "%s", err.detail);
    hub_parquet_dispose(&o.file);
    hub_byte_source_memory(&o.source, o.data, 1000);
    cr_expect_eq(hub_parquet_open(&o.source, &o.file, &err), HUB_CORRUPT);
    cr_expect_str_eq(err.detail, "the file was cut short: 1000 bytes without PAR1 at the end");
    close_fixture(&o);
}

Test(parquet, a_page_that_is_not_what_its_checksum_is_of)
{
    for (unsigned version = 1; version <= 2; version++) {
        struct opened o;
        struct hub_error err = {0};
        struct hub_parquet_decoder d;
        struct hub_parquet_pages pages;
        cr_assert_eq(open_fixture(&o, "parquet/sums/v%u.parquet", version, &err), HUB_OK, "%s", err.detail);
        hub_parquet_decoder_init(&d, &o.source);
        cr_assert_eq(hub_parquet_walk(&o.source, &o.file.leaves[0], &o.file.chunks[0], &pages, &err), HUB_OK);
        cr_assert_eq(pages.sum_count, pages.count);
        cr_expect_eq(hub_parquet_verify(&d, &pages, &err), HUB_OK, "%s", err.detail);
        o.data[pages.pages[pages.count - 1].offset + 1] ^= 4;
        cr_expect_eq(hub_parquet_verify(&d, &pages, &err), HUB_CORRUPT);
        cr_expect(strstr(err.detail, "its checksum is wrong"), "%s", err.detail);
        hub_parquet_pages_dispose(&pages);
        hub_parquet_decoder_dispose(&d);
        close_fixture(&o);
    }
}

/* Large values that are neither compressed nor null are where they lie. */
Test(parquet, values_in_place)
{
    static const char *const names[] = {"bare", "image", "gap"};
    for (unsigned version = 1; version <= 2; version++) {
        struct opened o;
        struct hub_error err = {0};
        struct hub_parquet_decoder d;
        struct hub_parquet_column c;
        cr_assert_eq(open_fixture(&o, "parquet/large/v%u.parquet", version, &err), HUB_OK, "%s", err.detail);
        hub_parquet_decoder_init(&d, &o.source);
        for (size_t i = 0; i < HUB_COUNT(names); i++) {
            const uint32_t leaf = hub_parquet_find(&o.file, names[i]);
            cr_assert_eq(hub_parquet_column_read(&o.file, leaf, &d, &c, &err), HUB_OK, "%s", err.detail);
            cr_expect_eq(c.type, HUB_FIELD_IMAGE_PNG);
            for (unsigned row = 0; i < 2 && row < 9; row++) {
                const struct hub_extent *e = &c.extents[row / 6][row % 6];
                cr_assert_eq(e->length, 8 + 4096 + 7 * row);
                cr_expect_eq(memcmp(o.data + e->offset, "\x89PNG", 4), 0);
                cr_expect_eq(o.data[e->offset + e->length - 1], row);
            }
            cr_expect(i < 2 || !c.extents, "the row that is null is in the pages");
            hub_parquet_column_dispose(&c);
        }
        hub_parquet_decoder_dispose(&d);
        close_fixture(&o);
    }
}

struct leaf_case {
    char path[40];
    uint8_t kind, item_size, max_rep;
    char trouble[40];
};

ParameterizedTestParameters(parquet, leaves)
{
    static struct leaf_case cases[] = {
        {"action", HUB_KIND_FLOAT, 4, 1, ""},
        {"episode_index", HUB_KIND_INT, 8, 0, ""},
        {"timestamp", HUB_KIND_FLOAT, 4, 0, ""},
    };
    return cr_make_param_array(struct leaf_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct leaf_case *c, parquet, leaves)
{
    struct opened o;
    struct hub_error err = {0};
    cr_assert_eq(open_fixture(&o, VARIANT, 0, &err), HUB_OK, "%s", err.detail);
    const uint32_t i = hub_parquet_find(&o.file, c->path);
    cr_assert_neq(i, HUB_NONE, "%s", c->path);
    const struct hub_parquet_leaf *leaf = &o.file.leaves[i];
    cr_assert_eq(leaf->item.kind, c->kind, "%s is of kind %u", c->path, leaf->item.kind);
    cr_assert_eq(leaf->item.item_size, c->item_size);
    cr_assert_eq(leaf->max_rep, c->max_rep);
    cr_assert_str_eq(leaf->trouble ? leaf->trouble : "", c->trouble);
    close_fixture(&o);
}

/* Every column of every way of writing: pages are found, levels agree with the rows, values of small columns
 * decode. */
static void check_columns(struct opened *o, unsigned variant)
{
    struct hub_parquet_decoder d;
    hub_parquet_decoder_init(&d, &o->source);
    for (uint32_t i = 0; i < o->file.leaf_count; i++) {
        const struct hub_parquet_leaf *leaf = &o->file.leaves[i];
        struct hub_parquet_shape shape = {0};
        for (uint32_t g = 0; g < o->file.group_count; g++) {
            const struct hub_parquet_chunk *chunk = &o->file.chunks[g * o->file.leaf_count + i];
            struct hub_parquet_pages pages;
            struct hub_error err = {0};
            cr_assert_null(chunk->trouble, "variant %u: %s: %s", variant, leaf->path, chunk->trouble);
            const enum hub_status st = hub_parquet_walk(&o->source, leaf, chunk, &pages, &err);
            cr_assert_eq(st, HUB_OK, "variant %u: %s: %s", variant, leaf->path, err.detail);
            cr_assert_eq(hub_parquet_scan(&d, leaf, &pages, o->file.group_rows[g], &shape, &err), HUB_OK,
                         "variant %u: %s: %s", variant, leaf->path, err.detail);
            if (strcmp(leaf->path, "episode_index") == 0) {
                int64_t *numbers = calloc(o->file.group_rows[g] + 1, sizeof *numbers);
                cr_assert_eq(hub_parquet_numbers(&d, leaf, &pages, numbers, NULL, &err), HUB_OK, "%s",
                             err.detail);
                for (uint64_t r = 0; r < o->file.group_rows[g]; r++)
                    cr_assert_eq(numbers[r], (int64_t)variant, "variant %u row %lu is %ld", variant, r,
                                 numbers[r]);
                free(numbers);
            }
            hub_parquet_pages_dispose(&pages);
        }
    }
    hub_parquet_decoder_dispose(&d);
}

Test(parquet, every_way_of_writing)
{
    for (unsigned variant = 0; variant <= 18; variant++) {
        struct opened o;
        struct hub_error err = {0};
        cr_assert_eq(open_fixture(&o, VARIANT, variant, &err), HUB_OK, "variant %u: %s", variant, err.detail);
        check_columns(&o, variant);
        close_fixture(&o);
    }
}

/* Whatever is wrong with them, they fail with words or not at all: nothing crashes. Episode 0 is whole. */
Test(parquet, damaged_files_fail_with_words)
{
    for (unsigned number = 0; number <= 11; number++) {
        struct opened o;
        struct hub_error err = {0};
        const enum hub_status st = open_fixture(&o, DAMAGED, number, &err);
        cr_assert(number != 0 || st == HUB_OK);
        cr_assert(st == HUB_OK || err.detail[0], "file %u", number);
        for (uint32_t i = 0; !st && i < o.file.leaf_count * o.file.group_count; i++) {
            struct hub_parquet_pages pages;
            if (!o.file.chunks[i].trouble &&
                !hub_parquet_walk(&o.source, &o.file.leaves[i % o.file.leaf_count], &o.file.chunks[i], &pages,
                                  NULL))
                hub_parquet_pages_dispose(&pages);
        }
        close_fixture(&o);
    }
}

Test(parquet, every_prefix_is_refused)
{
    size_t size;
    struct hub_parquet file;
    struct hub_byte_source source;
    uint8_t *data = slurp("lerobot/parquet-variants/data/chunk-000/episode_000000.parquet", &size);
    for (size_t n = 0; n < size; n += 7) {
        hub_byte_source_memory(&source, data, n);
        cr_assert_neq(hub_parquet_open(&source, &file, NULL), HUB_OK);
    }
    free(data);
}

struct page_case {
    char what[40];
    size_t size;
    uint8_t bytes[48];
    uint64_t values;
    uint8_t codec;
    enum hub_status st;
};

/* Page headers of an optional INT64 column, each followed by what there is of its body. */
ParameterizedTestParameters(parquet, page_headers)
{
    static struct page_case cases[] = {
        {"a whole page",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_OK},
        {"no pages", 0, {0}, 1, 0, HUB_CORRUPT},
        {"no values, no pages", 0, {0}, 0, 0, HUB_OK},
        {"header cut", 6, {0x15, 0, 0x15, 16, 0x15, 16}, 1, 0, HUB_CORRUPT},
        {"body cut",
         20,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"two sizes",
         31,
         {0x15, 0, 0x15, 18, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"two sizes, compressed",
         31,
         {0x15, 0, 0x15, 18, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         1,
         HUB_OK},
        {"negative size",
         31,
         {0x15, 0, 0x15, 1, 0x15, 1, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"no data header", 16, {0x15, 0, 0x15, 16, 0x15, 16, 0}, 1, 0, HUB_CORRUPT},
        {"more values than the column",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"negative values",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 3, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"DELTA_BINARY_PACKED",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 10, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_OK},
        {"DELTA_BYTE_ARRAY of numbers",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 14, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_UNSUPPORTED},
        {"BIT_PACKED values",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 8, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_UNSUPPORTED},
        {"BIT_PACKED levels",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 8, 0x15, 6, 0, 0},
         1,
         0,
         HUB_UNSUPPORTED},
        {"dictionary that is not there",
         31,
         {0x15, 0, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 16, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"unknown page type",
         31,
         {0x15, 18, 0x15, 16, 0x15, 16, 0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
         1,
         0,
         HUB_UNSUPPORTED},
        {"v2 levels larger than the page",
         31,
         {0x15, 6, 0x15, 16, 0x15, 16, 0x5C, 0x15, 2, 0x15, 0, 0x15, 2, 0x15, 0, 0x15, 40, 0x15, 0, 0, 0},
         1,
         0,
         HUB_CORRUPT},
        {"page of 2 GiB",
         31,
         {0x15, 0, 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 0x15, 16, 0x2C,
          0x15, 2, 0x15, 0,    0x15, 6,    0x15, 6,    0,    0},
         1,
         1,
         HUB_TOO_BIG},
    };
    return cr_make_param_array(struct page_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct page_case *c, parquet, page_headers)
{
    const struct hub_parquet_leaf leaf = {.path = "x",
                                          .item = {.kind = HUB_KIND_INT, .item_size = 8},
                                          .physical = HUB_PHYS_INT64,
                                          .max_def = 1};
    const struct hub_parquet_chunk chunk = {
        .codec = c->codec, .size = c->size, .values = c->values, .nulls = -1};
    struct hub_byte_source source;
    struct hub_parquet_pages pages;
    struct hub_error err = {0};
    hub_byte_source_memory(&source, c->bytes, c->size);
    const enum hub_status st = hub_parquet_walk(&source, &leaf, &chunk, &pages, &err);
    cr_assert_eq(st, c->st, "%s: %s: %s", c->what, hub_status_name(st), err.detail);
    if (!st)
        hub_parquet_pages_dispose(&pages);
}
