/* storage/encode/table_stream.c, png.c */
#include "rows.h"

#include "storage/base/cursor.h"
#include "storage/encode/representation.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <zlib.h>

static const struct hub_variant number = {.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 1, .dims = {3}};
static const struct hub_variant var = {.kind = HUB_KIND_VAR};
static const struct hub_variant picture = {
    .kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {4, 5, 3}};
static const struct hub_variant stack = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {4, 5, 2}};
static const struct hub_variant planes = {
    .kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {12, 32, 32}};
static const struct hub_variant depth = {.kind = HUB_KIND_FLOAT, .item_size = 4, .rank = 2, .dims = {6, 8}};
static const struct hub_variant padded = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {64}};

Test(represent, the_table)
{
    static const struct {
        enum hub_field_type type;
        const struct hub_variant *variant;
        /* for json npy npz csv arrow arrow-file jsonl raw image: y yes, n not-acceptable, d needs-decoding */
        const char *one, *many;
    } cases[] = {
        {HUB_FIELD_NUMBER, &number, "yyyyyyyyn", "yyyyyyyyn"},
        {HUB_FIELD_BOOL, &number, "yyyyyyyyn", "yyyyyyyyn"},
        {HUB_FIELD_TEXT, &var, "yyyyyyyyn", "yyyyyyynn"},
        {HUB_FIELD_BYTES, &var, "ynynyyyyn", "ynynyyynn"},
        {HUB_FIELD_OPAQUE, &var, "ynynyyyyn", "ynynyyynn"},
        {HUB_FIELD_IMAGE_JPEG, &var, "ydydyyyyy", "ydydyyynn"},
        {HUB_FIELD_IMAGE_PNG, &padded, "ydydyyyyy", "ydydyyynn"},
        {HUB_FIELD_IMAGE_RAW, &picture, "yyynyyyyy", "yyynyyyyn"},
        {HUB_FIELD_IMAGE_RAW, &stack, "yyynyyyyn", "yyynyyyyn"},
        {HUB_FIELD_IMAGE_RAW, &planes, "yyynyyyyy", "yyynyyyyn"},
        {HUB_FIELD_IMAGE_NUMBER, &depth, "yyynyyyyy", "yyynyyyyn"},
        {HUB_FIELD_NUMBER, &depth, "yyynyyyyn", "yyynyyyyn"},
        {HUB_FIELD_NUMBER, &stack, "yyynyyyyn", "yyynyyyyn"},
        {HUB_FIELD_PADDED_JSON, &padded, "yyynyyyyn", "yyynyyyyn"},
        {HUB_FIELD_PADDED_JSON, &var, "ynynyyyyn", "ynynyyynn"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        for (int many = 0; many < 2; many++) {
            const char *want = many ? cases[i].many : cases[i].one;
            for (const struct hub_representation *as = hub_representations; *want; as++, want++) {
                struct hub_error err = {0};
                const enum hub_status st =
                    hub_encode_check(cases[i].type, cases[i].variant, as, many ? 2 : 1, &err);
                const char got = !st ? 'y' : err.problem == HUB_PROBLEM_NEEDS_DECODING ? 'd' : 'n';
                cr_expect_eq(got, *want, "case %zu as %s: %s", i, as->name, err.detail);
                cr_expect(st == HUB_OK || st == HUB_NOT_ACCEPTABLE);
            }
        }
    }
    const struct hub_representation *npy = &hub_representations[1];
    struct hub_error err = {0};
    cr_expect_eq(hub_encode_check(HUB_FIELD_BYTES, &var, npy, 2, &err), HUB_NOT_ACCEPTABLE);
    cr_expect_str_eq(err.detail,
                     "bytes rows are not available as npy, but as json, npz, arrow, arrow-file, jsonl, raw "
                     "(one row)");
    cr_expect_eq(hub_encode_check(HUB_FIELD_TYPE_COUNT, &var, npy, 2, &err), HUB_INVALID);
}

Test(represent, lists)
{
    char list[HUB_REPRESENTATIONS_CHARS];
    hub_representations_list(HUB_LIST_ALL, false, list);
    cr_expect_str_eq(list, "json, npy, npz, csv, arrow, arrow-file, jsonl, raw, image, jpeg, png");
    hub_representations_list(HUB_LIST_ALL, true, list);
    cr_expect_str_eq(list, "application/json, application/x-npy, application/x-npz, text/csv, "
                           "application/vnd.apache.arrow.stream, application/vnd.apache.arrow.file, "
                           "application/x-ndjson, "
                           "application/octet-stream, image/jpeg, image/png");
    hub_representations_list(HUB_LIST_OF_SEVERAL, false, list);
    cr_expect_str_eq(list, "json, npz, csv, arrow, arrow-file, jsonl");
    hub_representations_list(HUB_LIST_OF_VALUES, false, list);
    cr_expect_str_eq(list, "json, npz, csv, arrow, arrow-file, jsonl");
    hub_representations_list(HUB_LIST_OF_ROWS, false, list);
    cr_expect_str_eq(list, "npz, csv, arrow, arrow-file, jsonl");
    hub_representations_list(HUB_LIST_OF_WINDOWS, false, list);
    cr_expect_str_eq(list, "npz, arrow, arrow-file");
    hub_representations_list(HUB_LIST_OF_PAGES, false, list);
    cr_expect_str_eq(list, "json, jsonl");
}

static uint32_t be32(struct hub_cursor *c)
{
    return __builtin_bswap32(hub_cursor_u32(c));
}

/* A chunk of the expected type; its CRC is checked. */
static struct hub_view chunk(struct hub_cursor *c, const char *type)
{
    const uint32_t size = be32(c);
    const uint8_t *typed = hub_cursor_bytes(c, (size_t)size + 4);
    cr_assert_not_null(typed);
    cr_assert_eq(memcmp(typed, type, 4), 0, "%.4s", (const char *)typed);
    cr_assert_eq(be32(c), crc32(0, typed, size + 4));
    return (struct hub_view){(const char *)typed + 4, size};
}

static void unfilter(uint8_t *lines, size_t line, size_t step, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *at = lines + y * (line + 1);
        cr_assert_leq(at[0], 2);
        for (size_t i = 1; i <= line; i++) {
            if (at[0] == 1 && i > step)
                at[i] = (uint8_t)(at[i] + at[i - step]);
            if (at[0] == 2 && y)
                at[i] = (uint8_t)(at[i] + at[i - line - 1]);
        }
    }
}

static void expect_png(const uint32_t dims[HUB_MAX_RANK], uint8_t color_type, bool noise)
{
    const uint32_t channels = dims[2] ? dims[2] : 1, height = dims[0], width = dims[1];
    const size_t line = (size_t)width * channels, size = line * height;
    HUB_CLEANUP(hub_freep) uint8_t *data = malloc(size), *lines = malloc(size + height);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    struct hub_drawn_range range = {0};
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(noise ? i * 2654435761U >> 13 : i / line);
    const struct hub_rows r = fixed_rows(HUB_KIND_UINT, 1, dims, 1, data);
    cr_assert_eq(hub_png_row(&r, &range, &out, NULL), HUB_OK);
    struct hub_cursor c = hub_cursor_of(out.data, out.size);
    cr_assert_eq(memcmp(hub_cursor_bytes(&c, 8), "\x89PNG\r\n\x1A\n", 8), 0);
    const struct hub_view header = chunk(&c, "IHDR");
    struct hub_cursor h = hub_cursor_of(header.data, header.size);
    cr_expect_eq(be32(&h), width);
    cr_expect_eq(be32(&h), height);
    cr_expect_eq(hub_cursor_u8(&h), 8);
    cr_expect_eq(hub_cursor_u8(&h), color_type);
    const struct hub_view pixels = chunk(&c, "IDAT");
    uLongf got = size + height;
    cr_assert_eq(uncompress(lines, &got, (const uint8_t *)pixels.data, pixels.size), Z_OK);
    cr_assert_eq(got, size + height);
    unfilter(lines, line, channels, height);
    for (uint32_t y = 0; y < height; y++)
        cr_assert_eq(memcmp(lines + y * (line + 1) + 1, data + y * line, line), 0);
    (void)chunk(&c, "IEND");
    cr_expect_eq(hub_cursor_left(&c), 0);
    cr_expect(noise || out.size < size / 4 + 100);
}

Test(png, pictures)
{
    static const uint32_t shapes[][HUB_MAX_RANK] = {
        {210, 160, 3}, {84, 84}, {1, 1, 1}, {7, 300, 4}, {50, 1, 3}};
    static const uint8_t types[] = {2, 0, 0, 6, 2};
    for (size_t i = 0; i < HUB_COUNT(shapes); i++) {
        expect_png(shapes[i], types[i], true);
        expect_png(shapes[i], types[i], false);
    }
}

Test(png, refused)
{
    static const uint32_t shapes[][HUB_MAX_RANK] = {{4, 5, 2}, {4}, {4, 5, 3, 1}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    struct hub_drawn_range range = {0};
    for (size_t i = 0; i < HUB_COUNT(shapes); i++) {
        const struct hub_rows r = fixed_rows(HUB_KIND_UINT, 1, shapes[i], 1, NULL);
        cr_expect_eq(hub_png_row(&r, &range, &out, NULL), HUB_NOT_ACCEPTABLE);
    }
    const uint32_t fine[HUB_MAX_RANK] = {4, 5, 3}, huge[HUB_MAX_RANK] = {20000, 20000};
    const struct hub_rows two = fixed_rows(HUB_KIND_UINT, 1, fine, 2, NULL);
    cr_expect_eq(hub_png_row(&two, &range, &out, NULL), HUB_NOT_ACCEPTABLE);
    const struct hub_rows wide = fixed_rows(HUB_KIND_UINT, 2, fine, 1, NULL);
    cr_expect_eq(hub_png_row(&wide, &range, &out, NULL), HUB_NOT_ACCEPTABLE);
    const struct hub_rows big = fixed_rows(HUB_KIND_UINT, 1, huge, 1, NULL);
    cr_expect_eq(hub_png_row(&big, &range, &out, NULL), HUB_TOO_BIG);
}
