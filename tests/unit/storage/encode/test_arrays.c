/* storage/encode/npy.c, npz.c, raw.c: the headers are those numpy 1.24 writes. */
#include "npz.h"
#include "rows.h"

#include "storage/base/cursor.h"
#include "storage/encode/representation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

static const uint32_t pair[HUB_MAX_RANK] = {2}, image[HUB_MAX_RANK] = {210, 160, 3};

Test(npy, headers)
{
    static const struct {
        enum hub_kind kind;
        uint32_t item_size;
        uint8_t big_endian;
        const uint32_t *dims;
        uint64_t rows;
        const char *dict;
        size_t size;
    } cases[] = {
        {HUB_KIND_FLOAT, 8, 0, NULL, 0, "{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", 128},
        {HUB_KIND_FLOAT, 8, 0, pair, 30, "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 2), }", 128},
        {HUB_KIND_FLOAT, 4, 1, NULL, 7, "{'descr': '>f4', 'fortran_order': False, 'shape': (7,), }", 128},
        {HUB_KIND_BOOL, 1, 0, NULL, 5, "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }", 128},
        {HUB_KIND_UINT, 1, 0, image, 1000000,
         "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 210, 160, 3), }", 128},
        {HUB_KIND_COMPLEX, 16, 0, NULL, 1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", 128},
        {HUB_KIND_FIXED, 5, 0, NULL, 2, "{'descr': '|S5', 'fortran_order': False, 'shape': (2,), }", 128},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        struct hub_rows r = fixed_rows(cases[i].kind, cases[i].item_size, cases[i].dims, cases[i].rows, NULL);
        r.variant.big_endian = cases[i].big_endian;
        cr_assert_eq(npy_header(&r.variant, cases[i].rows, false, &out), HUB_OK);
        cr_assert_eq(out.size, cases[i].size, "%s %zu", cases[i].dict, out.size);
        cr_expect_eq(memcmp(out.data, "\x93NUMPY\x01\x00", 8), 0);
        cr_expect_eq((uint8_t)out.data[8] | (uint8_t)out.data[9] << 8, (int)out.size - 10);
        cr_expect_eq(memcmp(out.data + 10, cases[i].dict, strlen(cases[i].dict)), 0, "%s", out.data + 10);
        cr_expect_eq(strspn(out.data + 10 + strlen(cases[i].dict), " "),
                     out.size - 11 - strlen(cases[i].dict));
        cr_expect_eq(out.data[out.size - 1], '\n');
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    const struct hub_variant var = {.kind = HUB_KIND_VAR};
    cr_expect_eq(npy_header(&var, 1, false, &out), HUB_NOT_ACCEPTABLE);
    const uint32_t big[HUB_MAX_RANK] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                        UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const struct hub_rows wide = fixed_rows(HUB_KIND_FIXED, UINT32_MAX, big, 0, NULL);
    cr_expect_eq(npy_header(&wide.variant, UINT64_MAX - 1, false, &out), HUB_OK);
    cr_expect_eq(out.size % 64, 0);
}

/* Header and rows. */
static enum hub_status npy(enum hub_npy_array as, const struct hub_rows *rows, bool bare, struct hub_buf *out)
{
    const uint64_t longest = hub_npy_longest(rows, as == HUB_NPY_TEXT);
    HUB_TRY(hub_npy_array_header(as, rows, bare, longest, out, NULL));
    return hub_npy_array_rows(as, rows, longest, out, NULL);
}

Test(npy, text)
{
    uint64_t offsets[] = {0, 2, 2, 9};
    uint8_t valid[] = {1, 1, 0};
    struct hub_rows r = var_rows(3, "ab\xE7\x8C\xAB\xF0\x9F\x90\x88", offsets);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_OK);
    cr_assert_eq(out.size, 128 + 3 * 2 * 4);
    cr_expect(strstr(out.data + 10, "'descr': '<U2'") && strstr(out.data + 10, "'shape': (3,)"));
    const uint32_t want[6] = {'a', 'b', 0, 0, 0x732B, 0x1F408};
    cr_expect_eq(memcmp(out.data + 128, want, sizeof(want)), 0);
    out.size = 0;
    r.valid = valid; /* the long one is null */
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_OK);
    cr_expect(strstr(out.data + 10, "'<U2'"));
    out.size = 0;
    r = fixed_rows(HUB_KIND_FIXED, 3, pair, 1, "x\0\0\0\0\0");
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_OK);
    cr_expect(strstr(out.data + 10, "'<U1'") && strstr(out.data + 10, "'shape': (1, 2)"));
    cr_expect_eq(out.size, 128 + 8);
    out.size = 0;
    r = var_rows(0, "", offsets);
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_OK);
    cr_expect_eq(out.size, 128);
    out.size = 0;
    r = fixed_rows(HUB_KIND_FIXED, 3, NULL, 1, "a\xFF\0"); /* no UTF-8 */
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_OK);
    const uint32_t replaced[2] = {'a', 0xFFFD};
    cr_expect_eq(memcmp(out.data + 128, replaced, sizeof(replaced)), 0);
    r = fixed_rows(HUB_KIND_INT, 4, NULL, 1, "abcd");
    cr_expect_eq(npy(HUB_NPY_TEXT, &r, false, &out), HUB_INVALID);
}

static void expect_shape(const struct hub_buf *npy, const char *descr, const char *shape)
{
    char dict[120];
    snprintf(dict, sizeof(dict), "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    cr_expect(strncmp(npy->data + 10, dict, strlen(dict)) == 0, "%s is not %.100s", dict, npy->data + 10);
}

Test(npy, one_row_has_no_leading_axis)
{
    uint64_t offsets[] = {0, 4};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    struct hub_rows r = fixed_rows(HUB_KIND_INT, 8, NULL, 1, NULL);
    cr_assert_eq(npy_header(&r.variant, 1, true, &out), HUB_OK);
    expect_shape(&out, "<i8", "()");
    out.size = 0;
    r = fixed_rows(HUB_KIND_UINT, 1, image, 1, NULL);
    cr_assert_eq(npy_header(&r.variant, 1, true, &out), HUB_OK);
    expect_shape(&out, "|u1", "(210, 160, 3)");
    r = var_rows(1, "word", offsets);
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_TEXT, &r, true, &out), HUB_OK);
    expect_shape(&out, "<U4", "()");
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, true, &out), HUB_OK);
    expect_shape(&out, "|u1", "(4,)");
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_LENGTHS, &r, true, &out), HUB_OK);
    expect_shape(&out, "<i8", "()");
}

Test(npy, bytes_are_padded_to_the_longest)
{
    uint64_t offsets[] = {0, 2, 2, 5, 9};
    uint8_t valid[] = {1, 1, 1, 0};
    struct hub_rows r = var_rows(4,
                                 "abcde"
                                 "null",
                                 offsets);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    r.valid = valid;
    cr_expect_eq(hub_npy_row_bytes(HUB_NPY_BYTES, &r.variant, hub_npy_longest(&r, false)), 3);
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, false, &out), HUB_OK);
    expect_shape(&out, "|u1", "(4, 3)");
    cr_expect_eq(out.size, 128 + 12);
    cr_expect_eq(memcmp(out.data + 128, "ab\0\0\0\0cde\0\0\0", 12), 0);
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_LENGTHS, &r, false, &out), HUB_OK);
    expect_shape(&out, "<i8", "(4,)");
    const int64_t lengths[] = {2, 0, 3, 0};
    cr_expect_eq(memcmp(out.data + 128, lengths, sizeof(lengths)), 0);

    out.size = 0; /* items of one size in rows, and rows of numbers that are one item */
    r = fixed_rows(HUB_KIND_FIXED, 3, pair, 1, "abcdef");
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, false, &out), HUB_OK);
    expect_shape(&out, "|u1", "(1, 2, 3)");
    out.size = 0;
    r = fixed_rows(HUB_KIND_UINT, 1, pair, 3, "abcdef");
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, false, &out), HUB_OK);
    expect_shape(&out, "|u1", "(3, 2)");
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_LENGTHS, &r, false, &out), HUB_OK);
    expect_shape(&out, "<i8", "(3,)");

    HUB_CLEANUP(hub_buf_dispose) struct hub_buf none = HUB_BUF_INIT(KIB), small = HUB_BUF_INIT(200);
    r = var_rows(0, "", offsets);
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, false, &none), HUB_OK);
    expect_shape(&none, "|u1", "(0, 0)");
    static char large[100];
    uint64_t one_large[] = {0, 100, 100};
    r = var_rows(2, large, one_large);
    cr_expect_eq(npy(HUB_NPY_BYTES, &r, false, &small), HUB_TOO_BIG);
}

static enum hub_status count_bytes(struct hub_encoding *e, uint64_t bytes, struct hub_error *err)
{
    (void)err;
    *(uint64_t *)e->user += bytes;
    return HUB_OK;
}

Test(npy, padding_has_a_ceiling)
{
    uint64_t reserved = 0;
    struct hub_encoding_field text = {.name = "prompt", .type = HUB_FIELD_TEXT},
                              bytes = {.type = HUB_FIELD_BYTES};
    struct hub_encoding e = {.fields = &text, .reserve = count_bytes, .user = &reserved};
    struct hub_error err = {0};
    cr_expect_eq(hub_encode_reserve_padded(&e, 0, 64 * MIB + 1, 2, &err), HUB_TOO_BIG);
    cr_expect_not_null(strstr(err.detail, "'prompt' with its rows padded"), "%s", err.detail);
    cr_expect_eq(reserved, 0);
    cr_expect_eq(hub_encode_reserve_padded(&e, 0, 64 * MIB, 2, NULL), HUB_OK);
    cr_expect_eq(reserved, 128 * MIB);
    e.fields = &bytes;
    cr_expect_eq(hub_encode_reserve_padded(&e, 0, 1 * GIB, 1, NULL), HUB_OK);
    cr_expect_eq(hub_encode_reserve_padded(&e, 0, 1 * GIB + 1, 1, NULL), HUB_TOO_BIG);
}

/* Rows that grew since the longest was looked for do not run over their neighbours. */
Test(npy, longer_than_the_longest)
{
    uint64_t offsets[] = {0, 2, 5};
    const struct hub_rows r = var_rows(2, "abcde", offsets);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_npy_array_rows(HUB_NPY_BYTES, &r, 2, &out, NULL), HUB_CHANGED);
    cr_expect_eq(hub_npy_array_rows(HUB_NPY_TEXT, &r, 2, &out, NULL), HUB_CHANGED);
    cr_expect_eq(hub_npy_array_rows(HUB_NPY_TEXT, &r, 3, &out, NULL), HUB_OK);
}

/* What a reader does: the end record, the directory, each member by its offset. */
static void expect_member(struct hub_view zip, struct hub_cursor *directory, const char *name,
                          struct hub_view npy)
{
    cr_assert_eq(hub_cursor_u32(directory), 0x02014B50);
    hub_cursor_skip(directory, 12);
    const uint32_t crc = hub_cursor_u32(directory), size = hub_cursor_u32(directory);
    cr_expect_eq(hub_cursor_u32(directory), size);
    const uint16_t name_size = hub_cursor_u16(directory), extra = hub_cursor_u16(directory);
    hub_cursor_skip(directory, 10);
    const uint32_t offset = hub_cursor_u32(directory);
    const struct hub_view got = {(const char *)hub_cursor_bytes(directory, name_size), name_size};
    cr_assert(!directory->failed && hub_view_is(got, name), "%s", name);
    cr_expect_eq(extra, 0);
    cr_expect_eq(size, npy.size);
    struct hub_cursor local = hub_cursor_of(zip.data + offset, zip.size - offset);
    cr_expect_eq(hub_cursor_u32(&local), 0x04034B50);
    hub_cursor_skip(&local, 10);
    cr_expect_eq(hub_cursor_u32(&local), crc);
    cr_expect_eq(hub_cursor_u32(&local), size);
    hub_cursor_skip(&local, 4);
    cr_expect_eq(hub_cursor_u16(&local), name_size);
    hub_cursor_skip(&local, 2u + name_size);
    const uint8_t *data = hub_cursor_bytes(&local, size);
    cr_assert_not_null(data);
    cr_expect_eq(memcmp(data, npy.data, size), 0);
    cr_expect_eq(crc, crc32(0, data, size));
}

Test(npz, members)
{
    static const char *const names[] = {"observations/achieved_goal", "mask", "caf\xC3\xA9"};
    const struct hub_view bodies[] = {HUB_VIEW("first npy"), HUB_VIEW(""),
                                      HUB_VIEW("third, a little longer")};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MIB), again = HUB_BUF_INIT(MIB);
    cr_assert_eq(hub_buf_add_text(&out, "before", NULL), HUB_OK);
    for (int round = 0; round < 2; round++) {
        struct hub_npz_writer *npz = NULL;
        struct hub_buf *to = round ? &again : &out;
        cr_assert_eq(hub_npz_writer_begin(to, &npz, NULL), HUB_OK);
        for (size_t i = 0; i < 3; i++)
            cr_assert_eq(add_member(npz, to, names[i], bodies[i]), HUB_OK);
        cr_assert_eq(hub_npz_writer_finish(npz, NULL), HUB_OK);
        hub_npz_writer_free(npz);
    }
    const struct hub_view zip = {out.data + 6, out.size - 6};
    cr_expect(hub_view_equal(zip, hub_buf_view(&again)), "equal arrays, equal bytes");
    struct hub_cursor end = hub_cursor_of(zip.data + zip.size - 22, 22);
    cr_assert_eq(hub_cursor_u32(&end), 0x06054B50);
    hub_cursor_skip(&end, 4);
    cr_expect_eq(hub_cursor_u16(&end), 3);
    cr_expect_eq(hub_cursor_u16(&end), 3);
    const uint32_t size = hub_cursor_u32(&end), offset = hub_cursor_u32(&end);
    cr_assert_eq(offset + size + 22, zip.size);
    struct hub_cursor directory = hub_cursor_of(zip.data + offset, size);
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s.npy", names[i]);
        expect_member(zip, &directory, name, bodies[i]);
    }
    cr_expect_eq(hub_cursor_left(&directory), 0);
}

Test(npz, many_members_need_zip64)
{
    enum { MEMBERS = 65535 };
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(64 * MIB);
    struct hub_npz_writer *npz = NULL;
    cr_assert_eq(hub_npz_writer_begin(&out, &npz, NULL), HUB_OK);
    for (int i = 0; i < MEMBERS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "a%d", i);
        cr_assert_eq(add_member(npz, &out, name, HUB_VIEW("x")), HUB_OK);
    }
    cr_assert_eq(hub_npz_writer_finish(npz, NULL), HUB_OK);
    hub_npz_writer_free(npz);
    struct hub_cursor end = hub_cursor_of(out.data + out.size - 22 - 20 - 56, 22 + 20 + 56);
    cr_expect_eq(hub_cursor_u32(&end), 0x06064B50);
    cr_expect_eq(hub_cursor_u64(&end), 44);
    hub_cursor_skip(&end, 12);
    cr_expect_eq(hub_cursor_u64(&end), MEMBERS);
    cr_expect_eq(hub_cursor_u64(&end), MEMBERS);
    const uint64_t size = hub_cursor_u64(&end), offset = hub_cursor_u64(&end);
    cr_expect_eq(offset + size + 98, out.size);
    cr_expect_eq(hub_cursor_u32(&end), 0x07064B50);
    hub_cursor_skip(&end, 4);
    cr_expect_eq(hub_cursor_u64(&end), out.size - 98);
    hub_cursor_skip(&end, 4);
    cr_expect_eq(hub_cursor_u32(&end), 0x06054B50);
    hub_cursor_skip(&end, 4);
    cr_expect_eq(hub_cursor_u16(&end), UINT16_MAX);
}

Test(npz, refused)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(100);
    struct hub_npz_writer *npz = NULL;
    cr_assert_eq(hub_npz_writer_begin(&out, &npz, NULL), HUB_OK);
    cr_expect_eq(add_member(npz, &out, "", HUB_VIEW("x")), HUB_INVALID);
    cr_expect_eq(add_member(npz, &out, "a", HUB_VIEW("x")), HUB_OK);
    cr_expect_eq(hub_npz_writer_finish(npz, NULL), HUB_TOO_BIG);
    hub_npz_writer_free(npz);
    hub_npz_writer_free(NULL);
}

Test(raw, rows)
{
    uint64_t offsets[] = {0, 2, 5};
    uint8_t big[] = {0, 1, 0xFF, 0xFE}, pairs[] = {0, 0, 0, 1, 0, 0, 0, 2};
    struct hub_rows r = fixed_rows(HUB_KIND_INT, 2, NULL, 2, big);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    r.variant.big_endian = 1;
    cr_assert_eq(hub_raw_rows(&r, &out, NULL), HUB_OK);
    cr_expect(hub_view_equal(hub_buf_view(&out), (struct hub_view){"\x01\x00\xFE\xFF", 4}));
    cr_expect_eq(r.variant.big_endian, 0);
    out.size = 0;
    r = fixed_rows(HUB_KIND_COMPLEX, 8, NULL, 1, pairs);
    r.variant.big_endian = 1;
    cr_assert_eq(hub_raw_rows(&r, &out, NULL), HUB_OK);
    cr_expect(hub_view_equal(hub_buf_view(&out), (struct hub_view){"\1\0\0\0\2\0\0\0", 8}));
    out.size = 0;
    r = var_rows(2, "abcde", offsets);
    cr_expect_eq(hub_raw_rows(&r, &out, NULL), HUB_NOT_ACCEPTABLE);
    r = var_rows(1, "abcde", offsets + 1);
    cr_assert_eq(hub_raw_rows(&r, &out, NULL), HUB_OK);
    cr_expect(hub_view_is(hub_buf_view(&out), "cde"));
}

/* Numbers of varying length: padded like bytes, in their own type; raw turns them round. */
Test(arrays, sequences)
{
    static const uint8_t numbers[] = {0, 1, 0, 2, 0, 3};
    uint64_t offsets[] = {0, 4, 4, 6};
    struct hub_rows r = var_rows(3, (const char *)numbers, offsets);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    r.variant.sequence = HUB_KIND_INT;
    r.variant.item_size = 2;
    r.variant.big_endian = 1;
    cr_assert(hub_variant_valid(&r.variant));
    cr_assert_eq(npy(HUB_NPY_BYTES, &r, false, &out), HUB_OK);
    cr_expect_not_null(strstr(out.data + 10, "'>i2', 'fortran_order': False, 'shape': (3, 2)"), "%s",
                       out.data + 10);
    cr_expect_eq(memcmp(out.data + out.size - 12, "\0\1\0\2\0\0\0\0\0\3\0\0", 12), 0);
    out.size = 0;
    cr_assert_eq(npy(HUB_NPY_LENGTHS, &r, false, &out), HUB_OK);
    cr_expect_eq(memcmp(out.data + out.size - 24, (int64_t[]){2, 0, 1}, 24), 0);
    out.size = 0;
    uint64_t nonfinite = 0;
    cr_assert_eq(hub_json_rows(HUB_FIELD_NUMBER, &r, false, HUB_NONFINITE_NULL, &nonfinite, &out, NULL),
                 HUB_OK);
    cr_expect(hub_view_is(hub_buf_view(&out), "[[1,2],[],[3]]"), "%s", out.data);
    out.size = 0;
    uint8_t own[] = {0, 1, 0, 2};
    r.rows = 1;
    r.data = own;
    cr_assert_eq(hub_raw_rows(&r, &out, NULL), HUB_OK);
    cr_expect(hub_view_equal(hub_buf_view(&out), (struct hub_view){"\1\0\2\0", 4}));
}
