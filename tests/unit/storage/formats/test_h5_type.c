/* HDF5 datatypes and dataspaces from bytes, as the specification lays them out. */
#include "storage/formats/hdf5/h5_parse.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct type_case {
    uint8_t bytes[48];
    size_t size;
    char npy[16];
    enum hub_field_type field;
    bool convert;
    char unreadable[48];
};

ParameterizedTestParameters(h5_type, types)
{
    static struct type_case cases[] = {
        /* class and version, 3 bytes of bits, size; then properties */
        {{0x10, 8, 0, 0, 8, 0, 0, 0, 0, 0, 64, 0}, 12, "<i8", HUB_FIELD_NUMBER, false, ""},
        {{0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0}, 12, "|u1", HUB_FIELD_NUMBER, false, ""},
        {{0x10, 9, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0}, 12, ">i4", HUB_FIELD_NUMBER, false, ""},
        {{0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 17, 0}, 12, "<i4", HUB_FIELD_NUMBER, true, ""},
        {{0x10, 8, 0, 0, 3, 0, 0, 0, 0, 0, 24, 0}, 12, "", 0, false, "integer of 3 bytes"},
        {{0x10, 8, 0, 0, 4, 0, 0, 0, 9, 0, 32, 0}, 12, "", 0, false, "integer of 32 bits at bit 9"},
        {{0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0},
         20,
         "<f4",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x11, 0x21, 63, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0},
         20,
         ">f8",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x11, 0x20, 15, 0, 2, 0, 0, 0, 0, 0, 16, 0, 10, 5, 0, 10, 15, 0, 0, 0},
         20,
         "<f2",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x11, 0x20, 15, 0, 2, 0, 0, 0, 0, 0, 16, 0, 7, 8, 0, 7, 127, 0, 0, 0},
         20,
         "",
         0,
         false,
         "float of 16 bits that is not IEEE 754"},
        {{0x13, 1, 0, 0, 5, 0, 0, 0}, 8, "|S5", HUB_FIELD_TEXT, false, ""},
        {{0x13, 2, 0, 0, 5, 0, 0, 0}, 8, "|S5", HUB_FIELD_TEXT, false, ""},
        {{0x13, 3, 0, 0, 5, 0, 0, 0}, 8, "", 0, false, "string padded in way 3"},
        {{0x13, 0, 0, 0, 0, 0, 0, 0}, 8, "", 0, false, "string of no bytes"},
        {{0x19, 1, 1, 0, 16, 0, 0, 0, 0x13, 0, 0, 0, 1, 0, 0, 0}, 16, "|O", HUB_FIELD_TEXT, false, ""},
        {{0x19, 0, 0, 0, 16, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0},
         20,
         "|O",
         HUB_FIELD_BYTES,
         false,
         ""},
        {{0x19, 0, 0, 0, 16, 0, 0, 0, 0x10, 8, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0},
         20,
         "|O",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x38, 2, 0, 0,   1,   0,   0,   0,   0x30, 8,   0,   0,   1,   0, 0, 0, 0,
          0,    8, 0, 'F', 'A', 'L', 'S', 'E', 0,    'T', 'R', 'U', 'E', 0, 0, 1},
         33,
         "|b1",
         HUB_FIELD_BOOL,
         false,
         ""},
        {{0x38, 1, 0, 0, 1, 0, 0, 0, 0x30, 8, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0, 'U', 'P', 0, 7},
         24,
         "|i1",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x3A, 0, 0, 0, 24, 0, 0, 0, 2, 2, 0, 0, 0, 3, 0, 0, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0},
         29,
         "<i4",
         HUB_FIELD_NUMBER,
         false,
         ""},
        {{0x3A, 0, 0, 0, 23, 0, 0, 0, 2, 2, 0, 0, 0, 3, 0, 0, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0},
         29,
         "",
         0,
         false,
         "array type whose size is not that of its items"},
        {{0x17, 0, 0, 0, 8, 0, 0, 0}, 8, "", 0, false, "reference type"},
        {{0x14, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0}, 12, "", 0, false, "bitfield type"},
    };
    return cr_make_param_array(struct type_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct type_case *c, h5_type, types)
{
    struct hub_cursor cursor = hub_cursor_of(c->bytes, c->size);
    struct hub_h5_type type;
    struct hub_error err = {0};
    char npy[16] = "";
    cr_assert_eq(h5_type_parse(&cursor, &type, &err), HUB_OK, "%s", err.detail);
    cr_expect_str_eq(type.unreadable, c->unreadable);
    if (!c->unreadable[0]) {
        hub_variant_npy(&type.variant, npy);
        cr_expect_str_eq(npy, c->npy);
        cr_expect_eq(type.field, c->field);
        cr_expect_eq(type.convert, c->convert);
        cr_expect(hub_variant_valid(&type.variant));
        cr_expect_eq(hub_cursor_left(&cursor), 0);
    }
    for (size_t cut = 0; cut < c->size; cut++) { /* no prefix is read past its end */
        cursor = hub_cursor_of(c->bytes, cut);
        cr_expect_neq(h5_type_parse(&cursor, &type, NULL), HUB_OK, "of %zu bytes, %zu do", c->size, cut);
    }
}

Test(h5_type, nesting_has_an_end)
{
    uint8_t bytes[8 * 20] = {0};
    for (unsigned i = 0; i < 20; i++) {
        bytes[8 * i] = 0x19; /* sequences of sequences */
        bytes[8 * i + 4] = 16;
    }
    struct hub_cursor cursor = hub_cursor_of(bytes, sizeof bytes);
    struct hub_h5_type type;
    cr_expect_eq(h5_type_parse(&cursor, &type, NULL), HUB_UNSUPPORTED);
}

Test(h5_type, dataspaces)
{
    static const uint8_t two[] = {1,    2,    1,    0,    0, 0, 0, 0, 5, 0, 0,    0,    0,    0,
                                  0,    0,    3,    0,    0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF,
                                  0xFF, 0xFF, 0xFF, 0xFF, 3, 0, 0, 0, 0, 0, 0,    0};
    static const uint8_t scalar[] = {2, 0, 0, 0}, null[] = {2, 0, 0, 2}, many[] = {2, 9, 0, 1};
    const struct hub_h5 file = {.offset_size = 8, .length_size = 8};
    uint64_t dims[HUB_MAX_RANK], max_dims[HUB_MAX_RANK];
    uint32_t rank;
    struct hub_cursor c = hub_cursor_of(two, sizeof two);
    cr_assert_eq(h5_space_parse(&file, &c, &rank, dims, max_dims, NULL), HUB_OK);
    cr_expect(rank == 2 && dims[0] == 5 && dims[1] == 3 && max_dims[0] == UINT64_MAX && max_dims[1] == 3);
    c = hub_cursor_of(two, sizeof two - 1);
    cr_expect_eq(h5_space_parse(&file, &c, &rank, dims, max_dims, NULL), HUB_CORRUPT);
    c = hub_cursor_of(scalar, sizeof scalar);
    cr_assert_eq(h5_space_parse(&file, &c, &rank, dims, NULL, NULL), HUB_OK);
    cr_expect_eq(rank, 0);
    c = hub_cursor_of(null, sizeof null);
    cr_assert_eq(h5_space_parse(&file, &c, &rank, dims, NULL, NULL), HUB_OK);
    cr_expect_eq(rank, HUB_NONE);
    c = hub_cursor_of(many, sizeof many);
    cr_expect_eq(h5_space_parse(&file, &c, &rank, dims, NULL, NULL), HUB_UNSUPPORTED);
}
