/* storage/formats/parquet/thrift.c over short byte strings. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/formats/parquet/thrift.h"

struct skip_case {
    const char what[40];
    size_t size;
    uint8_t bytes[64];
    bool good;
};

/* Each is one struct, skipped field by field. */
ParameterizedTestParameters(thrift, skipping)
{
    static struct skip_case cases[] = {
        {"empty struct", 1, {0x00}, true},
        {"no stop", 0, {0}, false},
        {"field 1 i32", 3, {0x15, 0x02, 0x00}, true},
        {"varint without end", 3, {0x15, 0xFF, 0xFF}, false},
        {"varint of 11 bytes",
         13,
         {0x16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00},
         false},
        {"varint over 64 bits",
         12,
         {0x16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x00},
         false},
        {"largest varint",
         12,
         {0x16, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x00},
         true},
        {"unknown type 13", 3, {0x1D, 0x00, 0x00}, false},
        {"true", 2, {0x11, 0x00}, true},
        {"double", 10, {0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x00}, true},
        {"double cut", 5, {0x17, 0, 0, 0, 0}, false},
        {"binary", 5, {0x18, 0x02, 'a', 'b', 0x00}, true},
        {"binary past the end", 4, {0x18, 0x09, 'a', 'b'}, false},
        {"binary of 2^63 bytes",
         12,
         {0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x00},
         false},
        {"list of three bytes", 6, {0x19, 0x33, 1, 2, 3, 0x00}, true},
        {"list of booleans", 5, {0x19, 0x21, 1, 2, 0x00}, true},
        {"list of 2^32 bytes", 8, {0x19, 0xF3, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x00}, false},
        {"list of 15 in long form",
         19,
         {0x19, 0xF3, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00},
         true},
        {"list of nothing known", 4, {0x19, 0x30, 1, 0x00}, false},
        {"empty map", 3, {0x1B, 0x00, 0x00}, true},
        {"map of i32 to binary", 7, {0x1B, 0x01, 0x58, 0x02, 0x01, 'x', 0x00}, true},
        {"map of 2^28 pairs", 8, {0x1B, 0x80, 0x80, 0x80, 0x80, 0x01, 0x33, 0x00}, false},
        {"struct in struct", 3, {0x1C, 0x00, 0x00}, true},
        {"field id over 16 bits", 6, {0x05, 0xFE, 0xFF, 0x07, 0x00, 0x00}, false},
        {"field by its full id", 5, {0x05, 0x10, 0x02, 0x00, 0x00}, true},
        {"struct 16 deep",
         33,
         {0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C},
         true},
        {"an empty list of no type", 3, {0x19, 0x00, 0x00}, true},
        {"a list of no type", 4, {0x19, 0x10, 0x00, 0x00}, false},
        {"struct 17 deep",
         35,
         {0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C, 0x1C,
          0x1C},
         false},
    };
    return cr_make_param_array(struct skip_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct skip_case *c, thrift, skipping)
{
    struct hub_thrift t = hub_thrift_of(c->bytes, c->size);
    for (struct hub_thrift_field f = {0}; hub_thrift_next(&t, &f);)
        hub_thrift_skip(&t, &f);
    cr_assert_eq(!hub_thrift_failed(&t), c->good, "%s", c->what);
}

Test(thrift, values)
{
    /* 1: i32 -3, 2: true, 4: "hi", 5: list of i64 (1, -1) */
    static const uint8_t bytes[] = {0x15, 0x05, 0x11, 0x28, 0x02, 'h', 'i', 0x19, 0x26, 0x02, 0x01, 0x00};
    struct hub_thrift t = hub_thrift_of(bytes, sizeof bytes);
    struct hub_thrift_field f = {0}, element;
    cr_assert(hub_thrift_next(&t, &f));
    cr_assert_eq(f.id, 1);
    cr_assert_eq(hub_thrift_int(&t, &f), -3);
    cr_assert(hub_thrift_next(&t, &f));
    cr_assert(hub_thrift_bool(&t, &f));
    cr_assert(hub_thrift_next(&t, &f));
    cr_assert_eq(f.id, 4);
    cr_assert(hub_view_is(hub_thrift_binary(&t, &f), "hi"));
    cr_assert(hub_thrift_next(&t, &f));
    cr_assert_eq(hub_thrift_list(&t, &f, &element), 2);
    cr_assert_eq(hub_thrift_int(&t, &element), 1);
    cr_assert_eq(hub_thrift_int(&t, &element), -1);
    cr_assert_not(hub_thrift_next(&t, &f));
    cr_assert_not(hub_thrift_failed(&t));
}

Test(thrift, another_type_than_asked_for_fails)
{
    static const uint8_t bytes[] = {0x18, 0x02, 'h', 'i', 0x00};
    struct hub_thrift t = hub_thrift_of(bytes, sizeof bytes);
    struct hub_thrift_field f = {0};
    cr_assert(hub_thrift_next(&t, &f));
    cr_assert_eq(hub_thrift_int(&t, &f), 0);
    cr_assert(hub_thrift_failed(&t));
    cr_assert_not(hub_thrift_next(&t, &f));
}
