/* storage/encode/json.c */
#include "rows.h"

#include "storage/text/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static void expect_json(enum hub_field_type type, const struct hub_rows *rows, enum hub_nonfinite how,
                        const char *want, uint64_t want_count)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    uint64_t count = 0, bytes = rows->offsets ? rows->offsets[rows->rows]
                                              : rows->rows * hub_variant_row_bytes(&rows->variant);
    cr_assert_eq(hub_json_rows(type, rows, false, how, &count, &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, want);
    cr_expect_eq(count, want_count, "%s: %lu", want, (unsigned long)count);
    const uint64_t bound = hub_json_bound(type, &rows->variant, rows->rows, bytes);
    cr_expect_geq(bound, out.size, "%s: bound %lu", want, (unsigned long)bound);
}

static const uint32_t two_three[HUB_MAX_RANK] = {2, 3}, pair[HUB_MAX_RANK] = {2}, three[HUB_MAX_RANK] = {3};

Test(json_rows, numbers)
{
    const double d[] = {0.1, -1, 1e300, 5e-324, 0, -0.0};
    const float f[] = {0.1F, -4.8F};
    const uint16_t h[] = {0x2E66, 0xFBFF, 0x7C00};
    const int8_t i8[] = {-128, 127, 0};
    const uint8_t u8[] = {255, 0};
    const int16_t i16[] = {-32768};
    const int64_t i64[] = {INT64_MIN, INT64_MAX};
    const uint64_t u64[] = {UINT64_MAX, 9007199254740993};
    const uint8_t flags[] = {1, 0, 2};
    struct hub_rows r = fixed_rows(HUB_KIND_FLOAT, 8, NULL, 6, d);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[0.1,-1.0,1e+300,5e-324,0.0,-0.0]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 8, three, 2, d);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[0.1,-1.0,1e+300],[5e-324,0.0,-0.0]]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 8, two_three, 1, d);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[[0.1,-1.0,1e+300],[5e-324,0.0,-0.0]]]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 8, two_three, 0, NULL);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 4, pair, 1, f);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[0.1,-4.8]]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 2, NULL, 3, h);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_STRING, "[0.1,-65504.0,\"Infinity\"]", 1);
    r = fixed_rows(HUB_KIND_INT, 1, NULL, 3, i8);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[-128,127,0]", 0);
    r = fixed_rows(HUB_KIND_UINT, 1, pair, 1, u8);
    expect_json(HUB_FIELD_IMAGE_RAW, &r, HUB_NONFINITE_NULL, "[[255,0]]", 0);
    r = fixed_rows(HUB_KIND_INT, 2, NULL, 1, i16);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[-32768]", 0);
    r = fixed_rows(HUB_KIND_INT, 8, NULL, 2, i64);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[-9223372036854775808,9223372036854775807]", 0);
    r = fixed_rows(HUB_KIND_UINT, 8, NULL, 2, u64);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[18446744073709551615,9007199254740993]", 0);
    r = fixed_rows(HUB_KIND_BOOL, 1, NULL, 3, flags);
    expect_json(HUB_FIELD_BOOL, &r, HUB_NONFINITE_NULL, "[true,false,true]", 0);
}

Test(json_rows, non_finite_and_null)
{
    const double d[] = {NAN, INFINITY, -INFINITY, 1};
    uint8_t valid[] = {1, 0, 0, 1};
    struct hub_rows r = fixed_rows(HUB_KIND_FLOAT, 8, pair, 2, d);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[null,null],[null,1.0]]", 3);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_STRING, "[[\"NaN\",\"Infinity\"],[\"-Infinity\",1.0]]",
                3);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_LITERAL, "[[NaN,Infinity],[-Infinity,1.0]]", 3);
    r.valid = valid;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[null,null],[null,1.0]]", 1);
    r = fixed_rows(HUB_KIND_INT, 1, pair, 2, "\1\0\0\2");
    r.valid = valid;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[1,null],[null,2]]", 0);
    const float f[] = {-INFINITY, NAN};
    r = fixed_rows(HUB_KIND_COMPLEX, 8, NULL, 1, f);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_STRING, "[[\"-Infinity\",\"NaN\"]]", 2);
}

Test(json_rows, complex_and_big_endian)
{
    const double d[] = {1.5, -2.25, 0, 1};
    struct hub_rows r = fixed_rows(HUB_KIND_COMPLEX, 16, NULL, 2, d);
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[1.5,-2.25],[0.0,1.0]]", 0);
    r = fixed_rows(HUB_KIND_INT, 2, NULL, 2, "\xFF\xFE\x01\x00");
    r.variant.big_endian = 1;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[-2,256]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 4, NULL, 1, "\x3F\xC0\x00\x00");
    r.variant.big_endian = 1;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[1.5]", 0);
    r = fixed_rows(HUB_KIND_FLOAT, 2, NULL, 1, "\x3E\x00");
    r.variant.big_endian = 1;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[1.5]", 0);
    r = fixed_rows(HUB_KIND_COMPLEX, 8, NULL, 1, "\x3F\xC0\x00\x00\xBF\x80\x00\x00");
    r.variant.big_endian = 1;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[[1.5,-1.0]]", 0);
    r = fixed_rows(HUB_KIND_UINT, 8, NULL, 1, "\x00\x00\x00\x00\x00\x00\x01\x02");
    r.variant.big_endian = 1;
    expect_json(HUB_FIELD_NUMBER, &r, HUB_NONFINITE_NULL, "[258]", 0);
}

Test(json_rows, text_bytes_and_json)
{
    uint64_t offsets[] = {0, 2, 2, 6}, json_offsets[] = {0, 9, 10, 13};
    uint8_t valid[] = {1, 0, 1};
    struct hub_rows r = fixed_rows(HUB_KIND_FIXED, 4, NULL, 3, "ab\0\0\"\n\0\0wxyz");
    expect_json(HUB_FIELD_TEXT, &r, HUB_NONFINITE_NULL, "[\"ab\",\"\\\"\\n\",\"wxyz\"]", 0);
    expect_json(HUB_FIELD_BYTES, &r, HUB_NONFINITE_NULL, "[\"YWIAAA==\",\"IgoAAA==\",\"d3h5eg==\"]", 0);
    r = fixed_rows(HUB_KIND_FIXED, 2, pair, 2, "a\0b\0\0\0\xC3\xA9");
    expect_json(HUB_FIELD_TEXT, &r, HUB_NONFINITE_NULL, "[[\"a\",\"b\"],[\"\",\"\xC3\xA9\"]]", 0);
    r = var_rows(3, "ab\xE7\x8C\xAB\xFF", offsets);
    expect_json(HUB_FIELD_TEXT, &r, HUB_NONFINITE_NULL, "[\"ab\",\"\",\"\xE7\x8C\xAB\xEF\xBF\xBD\"]", 0);
    expect_json(HUB_FIELD_IMAGE_JPEG, &r, HUB_NONFINITE_NULL, "[\"YWI=\",\"\",\"54yr/w==\"]", 0);
    r.valid = valid;
    expect_json(HUB_FIELD_OPAQUE, &r, HUB_NONFINITE_NULL, "[\"YWI=\",null,\"54yr/w==\"]", 0);
    r = fixed_rows(HUB_KIND_UINT, 1, pair, 2, "abcd");
    expect_json(HUB_FIELD_IMAGE_PNG, &r, HUB_NONFINITE_NULL, "[\"YWI=\",\"Y2Q=\"]", 0);
    r = var_rows(3, "{\"a\": 1 }{NaN", json_offsets);
    expect_json(HUB_FIELD_PADDED_JSON, &r, HUB_NONFINITE_NULL, "[{\"a\":1},null,null]", 2);
    expect_json(HUB_FIELD_PADDED_JSON, &r, HUB_NONFINITE_STRING, "[{\"a\":1},null,\"NaN\"]", 2);
    expect_json(HUB_FIELD_PADDED_JSON, &r, HUB_NONFINITE_LITERAL, "[{\"a\":1},null,NaN]", 2);
    const uint32_t eight[HUB_MAX_RANK] = {8};
    r = fixed_rows(HUB_KIND_UINT, 1, eight, 3, "[1, 2]\0\0\0\0\0\0\0\0\0\0{\"a\":1e9");
    expect_json(HUB_FIELD_PADDED_JSON, &r, HUB_NONFINITE_NULL, "[[1,2],null,null]", 1);
}

Test(json_rows, every_nesting_and_many_rows)
{
    uint32_t dims[HUB_MAX_RANK] = {2, 1, 2, 1, 2, 1, 2, 1};
    enum { ROWS = 100, VALUES = ROWS * 16 };
    double data[VALUES];
    for (int i = 0; i < VALUES; i++)
        data[i] = -1.2345678901234567e-100 / (i + 1);
    const struct hub_rows r = fixed_rows(HUB_KIND_COMPLEX, 16, dims, ROWS / 2, data);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *parsed = NULL;
    uint64_t count = 0;
    cr_assert_eq(hub_json_rows(HUB_FIELD_NUMBER, &r, false, HUB_NONFINITE_NULL, &count, &out, NULL), HUB_OK);
    cr_assert_leq(out.size, hub_json_bound(HUB_FIELD_NUMBER, &r.variant, r.rows, sizeof(data)));
    cr_assert_eq(hub_json_parse(hub_buf_view(&out), MIB, &parsed, NULL), HUB_OK);
    size_t seen = 0;
    for (size_t row = 0; row < ROWS / 2; row++) {
        for (unsigned item = 0; item < 16; item++) {
            const json_t *at = json_array_get(parsed, row);
            for (unsigned axis = 0; axis < 8; axis++)
                at = json_array_get(at, axis % 2 ? 0 : item >> (3 - axis / 2) & 1);
            cr_assert_eq(json_real_value(json_array_get(at, 0)), data[seen++]);
            cr_assert_eq(json_real_value(json_array_get(at, 1)), data[seen++]);
        }
    }
}

Test(json_rows, the_ceiling_holds)
{
    const double d[] = {0.1, 0.2, 0.3};
    const struct hub_rows r = fixed_rows(HUB_KIND_FLOAT, 8, NULL, 3, d);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf exact = HUB_BUF_INIT(13), less = HUB_BUF_INIT(12);
    uint64_t count = 0, offsets[] = {0, 8};
    cr_expect_eq(hub_json_rows(HUB_FIELD_NUMBER, &r, false, HUB_NONFINITE_NULL, &count, &exact, NULL),
                 HUB_OK);
    cr_expect_eq(hub_json_rows(HUB_FIELD_NUMBER, &r, false, HUB_NONFINITE_NULL, &count, &less, NULL),
                 HUB_TOO_BIG);
    const struct hub_rows json = var_rows(1, "[1,2,3,4]", offsets);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf small = HUB_BUF_INIT(4);
    cr_expect_eq(hub_json_rows(HUB_FIELD_PADDED_JSON, &json, false, HUB_NONFINITE_NULL, &count, &small, NULL),
                 HUB_TOO_BIG);
    struct hub_variant v = r.variant;
    cr_expect_eq(hub_json_bound(HUB_FIELD_NUMBER, &v, UINT64_MAX, UINT64_MAX), UINT64_MAX);
}
