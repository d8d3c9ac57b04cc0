/* storage/formats/npy.c */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/formats/npy.h"

struct dtype_case {
    char text[12];
    enum hub_status st;
    uint8_t kind, big_endian;
    uint32_t item_size;
};

ParameterizedTestParameters(npy, dtypes)
{
    static struct dtype_case cases[] = {
        {"<f4", HUB_OK, HUB_KIND_FLOAT, 0, 4},     {">f8", HUB_OK, HUB_KIND_FLOAT, 1, 8},
        {"|u1", HUB_OK, HUB_KIND_UINT, 0, 1},      {">u1", HUB_OK, HUB_KIND_UINT, 0, 1},
        {"b1", HUB_OK, HUB_KIND_BOOL, 0, 1},       {"=i2", HUB_OK, HUB_KIND_INT, 0, 2},
        {"<c16", HUB_OK, HUB_KIND_COMPLEX, 0, 16}, {"|S5", HUB_OK, HUB_KIND_FIXED, 0, 5},
        {"<f2", HUB_OK, HUB_KIND_FLOAT, 0, 2},     {"<f16", HUB_UNSUPPORTED, 0, 0, 0},
        {"|O", HUB_UNSUPPORTED, 0, 0, 0},          {"<U4", HUB_UNSUPPORTED, 0, 0, 0},
        {"<M8[ns]", HUB_OK, HUB_KIND_INT, 0, 8},   {"", HUB_UNSUPPORTED, 0, 0, 0},
        {"<", HUB_UNSUPPORTED, 0, 0, 0},           {"<i3", HUB_UNSUPPORTED, 0, 0, 0},
        {"|S0", HUB_UNSUPPORTED, 0, 0, 0},         {"<i99999999", HUB_UNSUPPORTED, 0, 0, 0},
    };
    return cr_make_param_array(struct dtype_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct dtype_case *c, npy, dtypes)
{
    struct hub_variant v = {0};
    cr_assert_eq(hub_npy_dtype(hub_view_of(c->text), &v, NULL), c->st, "%s", c->text);
    cr_assert_eq(v.kind, c->kind, "%s", c->text);
    cr_assert_eq(v.big_endian, c->big_endian, "%s", c->text);
    cr_assert_eq(v.item_size, c->item_size, "%s", c->text);
}

struct header_case {
    char header[120];
    uint32_t data;
    enum hub_status st;
    uint32_t rank;
    uint64_t bytes;
};

ParameterizedTestParameters(npy, headers)
{
    static struct header_case cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, HUB_OK, 2, 24},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 23, HUB_CORRUPT, 0, 0},
        {"{'descr': '|b1', 'fortran_order': True, 'shape': (), }  \n", 1, HUB_OK, 0, 1},
        {"{\"shape\": (3L,), \"fortran_order\": False, \"descr\": \"<i8\"}", 24, HUB_OK, 1, 24},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (0, 99999999999), }", 0, HUB_OK, 2, 0},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }", 0, HUB_CORRUPT, 0,
         0},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", 9, HUB_UNSUPPORTED, 0, 0},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 9, HUB_UNSUPPORTED, 0, 0},
        {"{'descr': '<f4', 'shape': (2,), }", 8, HUB_CORRUPT, 0, 0},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }", 8, HUB_CORRUPT, 0, 0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, HUB_CORRUPT, 0, 0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, HUB_CORRUPT, 0, 0},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, HUB_CORRUPT, 0, 0},
        {"{'descr': '<f4", 8, HUB_CORRUPT, 0, 0},
        {"", 8, HUB_CORRUPT, 0, 0},
    };
    return cr_make_param_array(struct header_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct header_case *c, npy, headers)
{
    uint8_t file[10 + 120 + 32] = "\x93NUMPY\x01\x00";
    struct hub_byte_source source;
    struct hub_npy npy = {0};
    struct hub_error err = {0};
    const size_t length = strlen(c->header);
    file[8] = (uint8_t)length;
    memcpy(file + 10, c->header, length);
    hub_byte_source_memory(&source, file, 10 + length + c->data);
    const enum hub_status st = hub_npy_read(&source, 0, source.size, &npy, &err);
    cr_assert_eq(st, c->st, "%s: %s", c->header, err.detail);
    if (!st) {
        cr_assert_eq(npy.rank, c->rank);
        cr_assert_eq(npy.data_bytes, c->bytes);
        cr_assert_eq(npy.data_offset, 10 + length);
    }
}

Test(npy, transposing)
{
    /* columns of [[0 1 2] [3 4 5]] one after another */
    static const uint8_t fortran[] = {0, 3, 1, 4, 2, 5}, expected[] = {0, 1, 2, 3, 4, 5};
    const struct hub_variant v = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 2, .dims = {2, 3}};
    uint8_t out[6];
    hub_npy_transpose(&v, fortran, out);
    cr_assert_arr_eq(out, expected, sizeof out);
}
