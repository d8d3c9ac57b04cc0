#include "storage/model/dtype.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct name_case {
    struct hub_variant variant;
    enum hub_field_type type;
    char npy[16], name[24];
};

ParameterizedTestParameters(dtype, names)
{
    static struct name_case cases[] = {
        {{.kind = HUB_KIND_FLOAT, .item_size = 8}, HUB_FIELD_NUMBER, "<f8", "float64"},
        {{.kind = HUB_KIND_FLOAT, .item_size = 2, .big_endian = 1}, HUB_FIELD_NUMBER, ">f2", "float16"},
        {{.kind = HUB_KIND_INT, .item_size = 1}, HUB_FIELD_NUMBER, "|i1", "int8"},
        {{.kind = HUB_KIND_INT, .item_size = 1, .big_endian = 1}, HUB_FIELD_NUMBER, "|i1", "int8"},
        {{.kind = HUB_KIND_UINT, .item_size = 4}, HUB_FIELD_NUMBER, "<u4", "uint32"},
        {{.kind = HUB_KIND_BOOL, .item_size = 1}, HUB_FIELD_BOOL, "|b1", "bool"},
        {{.kind = HUB_KIND_COMPLEX, .item_size = 16}, HUB_FIELD_NUMBER, "<c16", "complex128"},
        {{.kind = HUB_KIND_FIXED, .item_size = 5}, HUB_FIELD_TEXT, "|S5", "text"},
        {{.kind = HUB_KIND_FIXED, .item_size = 1000000000}, HUB_FIELD_BYTES, "|S1000000000", "bytes"},
        {{.kind = HUB_KIND_VAR}, HUB_FIELD_TEXT, "|O", "text"},
        {{.kind = HUB_KIND_VAR}, HUB_FIELD_IMAGE_JPEG, "|O", "bytes"},
        {{.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {9}},
         HUB_FIELD_PADDED_JSON,
         "|u1",
         "json"},
    };
    return cr_make_param_array(struct name_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct name_case *c, dtype, names)
{
    char npy[16], name[24];
    cr_assert(hub_variant_valid(&c->variant));
    hub_variant_npy(&c->variant, npy);
    hub_variant_name(&c->variant, c->type, name);
    cr_expect_str_eq(npy, c->npy);
    cr_expect_str_eq(name, c->name);
}

struct shape_case {
    struct hub_variant variant;
    bool valid;
    uint64_t bytes;
};

ParameterizedTestParameters(dtype, shapes)
{
    static struct shape_case cases[] = {
        {{.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 2, .dims = {3, 5}}, true, 120},
        {{.kind = HUB_KIND_FLOAT, .item_size = 8, .rank = 2, .dims = {0, 5}}, true, 0},
        {{.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {1u << 30}}, true, 1u << 30},
        {{.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1, .dims = {(1u << 30) + 1}}, false, 0},
        {{.kind = HUB_KIND_UINT, .item_size = 8, .rank = 8, .dims = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}},
         false,
         0},
        {{.kind = HUB_KIND_UINT, .item_size = 1, .rank = 3, .dims = {0, ~0u, 1}},
         false,
         0}, /* as if not empty */
        {{.kind = HUB_KIND_FLOAT, .item_size = 3}, false, 0},
        {{.kind = HUB_KIND_FLOAT, .item_size = 1}, false, 0},
        {{.kind = HUB_KIND_NONE, .item_size = 1}, false, 0},
        {{.kind = HUB_KIND_COUNT, .item_size = 1}, false, 0},
        {{.kind = HUB_KIND_VAR, .item_size = 1}, false, 0},
        {{.kind = HUB_KIND_VAR, .rank = 1, .dims = {1}}, false, 0},
        {{.kind = HUB_KIND_VAR, .sequence = HUB_KIND_FLOAT, .item_size = 4}, true, 0},
        {{.kind = HUB_KIND_VAR, .sequence = HUB_KIND_FLOAT, .item_size = 3}, false, 0},
        {{.kind = HUB_KIND_VAR, .sequence = HUB_KIND_FIXED, .item_size = 3}, false, 0},
        {{.kind = HUB_KIND_FIXED, .item_size = 0}, false, 0},
        {{.kind = HUB_KIND_BOOL, .item_size = 1, .big_endian = 2}, false, 0},
        {{.kind = HUB_KIND_BOOL, .item_size = 1, .padding = 1}, false, 0},
        {{.kind = HUB_KIND_FIXED, .item_size = 1, .padding = HUB_PAD_COUNT}, false, 0},
        {{.kind = HUB_KIND_BOOL, .item_size = 1, .rank = 9}, false, 0},
        {{.kind = HUB_KIND_BOOL, .item_size = 1, .rank = 0, .dims = {1}},
         false,
         0}, /* a dimension nobody counts */
    };
    return cr_make_param_array(struct shape_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct shape_case *c, dtype, shapes)
{
    cr_assert_eq(hub_variant_valid(&c->variant), c->valid);
    if (c->valid)
        cr_expect_eq(hub_variant_row_bytes(&c->variant), c->bytes);
}

struct padding_case {
    uint8_t padding;
    char item[9];
    size_t size;
};

ParameterizedTestParameters(dtype, text_sizes)
{
    static struct padding_case cases[] = {
        {HUB_PAD_NULS, "ab\0cd", 5},      {HUB_PAD_NULS, "", 0},           {HUB_PAD_NULS, "ab cd   ", 8},
        {HUB_PAD_FIRST_NUL, "ab\0cd", 2}, {HUB_PAD_FIRST_NUL, "", 0},      {HUB_PAD_FIRST_NUL, "abcdefgh", 8},
        {HUB_PAD_BLANKS, "ab cd   ", 5},  {HUB_PAD_BLANKS, "        ", 0}, {HUB_PAD_BLANKS, "ab\0cd\0  ", 5},
        {HUB_PAD_BLANKS, "abcdefgh", 8},
    };
    return cr_make_param_array(struct padding_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct padding_case *c, dtype, text_sizes)
{
    const struct hub_variant v = {.kind = HUB_KIND_FIXED, .item_size = 8, .padding = c->padding};
    cr_expect_eq(hub_variant_text_size(&v, c->item), c->size, "%u '%s'", c->padding, c->item);
}
