/* storage/text/json_write.c, json_read.c, utf8.c */
#include "storage/text/json.h"

#include <criterion/criterion.h>
#include <math.h>

Test(json, writer)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    struct hub_json j = hub_json_to(&out, NULL);
    hub_json_object(&j);
    hub_json_put_text(&j, "id", "a\"b");
    hub_json_put_text(&j, "absent", NULL);
    hub_json_put_int(&j, "steps", -5);
    hub_json_put_double(&j, "return", 0.1);
    hub_json_put_array(&j, "list");
    hub_json_array(&j);
    hub_json_end_array(&j);
    hub_json_object(&j);
    hub_json_end_object(&j);
    hub_json_bool(&j, true);
    hub_json_null(&j);
    hub_json_double(&j, INFINITY);
    hub_json_double(&j, -INFINITY);
    hub_json_double(&j, NAN);
    hub_json_safe_int(&j, 9007199254740991);
    hub_json_safe_int(&j, 9007199254740992);
    hub_json_safe_int(&j, -9007199254740992);
    hub_json_safe_uint(&j, UINT64_MAX);
    hub_json_uint(&j, UINT64_MAX);
    hub_json_end_array(&j);
    hub_json_put_raw(&j, "raw", HUB_VIEW("{\"x\":1}"));
    hub_json_put_raw(&j, "none", (struct hub_view){0});
    hub_json_put_bool(&j, "no", false);
    hub_json_put_object(&j, "o");
    hub_json_put_uint(&j, "n", 7);
    hub_json_end_object(&j);
    hub_json_end_object(&j);
    cr_assert_eq(hub_json_status(&j), HUB_OK);
    cr_expect_str_eq(
        out.data,
        "{\"id\":\"a\\\"b\",\"steps\":-5,\"return\":0.1,\"list\":[[],{},true,null,\"Infinity\","
        "\"-Infinity\",\"NaN\",9007199254740991,\"9007199254740992\",\"-9007199254740992\","
        "\"18446744073709551615\",18446744073709551615],\"raw\":{\"x\":1},\"none\":null,\"no\":false,"
        "\"o\":{\"n\":7}}");
    json_t *parsed = NULL;
    cr_expect_eq(hub_json_parse(HUB_VIEW("[1]"), 2, &parsed, NULL), HUB_TOO_BIG);
}

Test(json, writer_stops_at_the_ceiling)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(16);
    struct hub_error err = {0};
    struct hub_json j = hub_json_to(&out, &err);
    hub_json_array(&j);
    for (int i = 0; i < 1000; i++)
        hub_json_int(&j, i);
    hub_json_end_array(&j);
    cr_expect_eq(hub_json_status(&j), HUB_TOO_BIG);
    cr_expect_leq(out.size, 16);
}

Test(json, strings)
{
    static const struct {
        struct hub_view text;
        const char *json;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"plain", 5}, "\"plain\""},
        {{"\\\"/", 3}, "\"\\\\\\\"/\""},
        {{"\b\t\n\v\f\r\x1F\0\x7F", 9}, "\"\\b\\t\\n\\u000b\\f\\r\\u001f\\u0000\x7F\""},
        {{"\xC3\xA9\xE7\x8C\xAB\xF0\x9F\x90\x88", 9}, "\"\xC3\xA9\xE7\x8C\xAB\xF0\x9F\x90\x88\""},
        {{"a\xFFz\xC3", 4}, "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\""},
        {{"\xED\xA0\x80", 3}, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* an encoded surrogate */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_json_add_string(&out, cases[i].text, NULL), HUB_OK);
        cr_expect_str_eq(out.data, cases[i].json);
    }
}

Test(json, strict_out_of_python)
{
    static const char *const cases[][2] = {
        {"{\"low\": [-Infinity, Infinity, NaN]}", "{\"low\":[\"-Infinity\",\"Infinity\",\"NaN\"]}"},
        {"NaN", "\"NaN\""},
        {" [ ] ", "[]"},
        {"{ }", "{}"},
        {"\t{\"a\" : [1 , 2.50, -0, -0.0e-7, 1E+2]}\r\n", "{\"a\":[1,2.50,-0,-0.0e-7,1E+2]}"},
        {"9007199254740991", "9007199254740991"},
        {"9007199254740992", "\"9007199254740992\""},
        {"-9007199254740992", "\"-9007199254740992\""},
        {"123456789012345678901234567890", "\"123456789012345678901234567890\""},
        {"18446744073709551615", "\"18446744073709551615\""},
        {"4.800000190734863", "4.800000190734863"},
        {"3.4028234663852886e+38", "3.4028234663852886e+38"},
        {"1e999", "\"Infinity\""},
        {"-1.5e400", "\"-Infinity\""},
        {"1e-999", "1e-999"},
        {"\"a\\u0000b\"", "\"a\\u0000b\""},
        {"{\"a\\u0000b\":1}", "{\"a\\ufffdb\":1}"},
        {"\"\\ud83d\\udc08\"", "\"\\ud83d\\udc08\""},
        {"\"\\ud83d\"", "\"\\ufffd\""},
        {"\"\\ud83dx\\udc08\"", "\"\\ufffdx\\ufffd\""},
        {"\"\\ud83d\\ud83d\\udc08\"", "\"\\ufffd\\ud83d\\udc08\""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9\""},
        {"\"\xC3\xA9\"", "\"\xC3\xA9\""},
        {"[true, false, null, \"\"]", "[true,false,null,\"\"]"},
        {"{\"a\": {\"b\": [{}, [], [[1]]]}, \"a\": 2}", "{\"a\":{\"b\":[{},[],[[1]]]},\"a\":2}"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        HUB_CLEANUP(hub_json_decrefp) json_t *parsed = NULL;
        struct hub_error err = {0};
        cr_expect_eq(hub_json_strict(hub_view_of(cases[i][0]), &out, &err), HUB_OK, "%s: %s", cases[i][0],
                     err.detail);
        cr_expect_str_eq(out.data, cases[i][1]);
        cr_expect_eq(hub_json_parse(hub_buf_view(&out), KIB, &parsed, &err), HUB_OK, "%s: %s", cases[i][1],
                     err.detail);
    }
}

/* Rows of numbers that are written as JSON keep their digits, and say of NaN what rows of numbers do. */
Test(json, data)
{
    static const char text[] = "{\"a\": [NaN, -Infinity, 1e999, 12345678901234567890], \"NaN\": 1.50}";
    static const char *const wanted[] = {
        [HUB_NONFINITE_NULL] = "{\"a\":[null,null,null,12345678901234567890],\"NaN\":1.50}",
        [HUB_NONFINITE_STRING] =
            "{\"a\":[\"NaN\",\"-Infinity\",\"Infinity\",12345678901234567890],\"NaN\":1.50}",
        [HUB_NONFINITE_LITERAL] = "{\"a\":[NaN,-Infinity,Infinity,12345678901234567890],\"NaN\":1.50}"};
    for (int how = HUB_NONFINITE_NULL; how <= HUB_NONFINITE_LITERAL; how++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        uint64_t count = 1;
        cr_expect_eq(hub_json_data(HUB_VIEW(text), (enum hub_nonfinite)how, &count, &out, NULL), HUB_OK);
        cr_expect_str_eq(out.data, wanted[how]);
        cr_expect_eq(count, 4);
        cr_expect_eq(hub_json_data(HUB_VIEW("[NaN"), (enum hub_nonfinite)how, &count, &out, NULL),
                     HUB_CORRUPT);
        cr_expect_str_eq(out.data, wanted[how]);
        cr_expect_eq(count, 4);
    }
}

Test(json, refused)
{
    static const char *const cases[] = {
        "",
        " ",
        "[",
        "]",
        "{",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "[1 2]",
        "1 2",
        "01",
        "-",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "0x10",
        "nan",
        "inf",
        "-NaN",
        "+Infinity",
        "tru",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\n\"",
        "\"\xFF\"",
        "\"\xC3\"",
        "\"\xED\xA0\x80\"",
        "'a'",
        "[1}",
        "{\"a\":1]",
        "[1]]",
        "// x",
        "\xEF\xBB\xBF[]",
        "nullx",
        "[true false]",
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        struct hub_error err = {0};
        cr_assert_eq(hub_buf_add_text(&out, "kept", NULL), HUB_OK);
        cr_expect_eq(hub_json_strict(hub_view_of(cases[i]), &out, &err), HUB_CORRUPT, "%s", cases[i]);
        cr_expect_str_eq(out.data, "kept");
        cr_expect(strstr(err.detail, "at byte"));
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_json_strict((struct hub_view){"[1]\0", 4}, &out, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_json_strict((struct hub_view){"\"\\\0\"", 4}, &out, NULL), HUB_CORRUPT);
}

Test(json, limits)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf small = HUB_BUF_INIT(8);
    char deep[2 * (HUB_JSON_DEPTH + 1)];
    memset(deep, '[', HUB_JSON_DEPTH + 1);
    memset(deep + HUB_JSON_DEPTH + 1, ']', HUB_JSON_DEPTH + 1);
    cr_expect_eq(hub_json_strict((struct hub_view){deep + 1, 2 * HUB_JSON_DEPTH}, &out, NULL), HUB_OK);
    cr_expect_eq(hub_json_strict((struct hub_view){deep, sizeof(deep)}, &out, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_json_strict(HUB_VIEW("[1,2,3,4,5,6]"), &small, NULL), HUB_TOO_BIG);
    cr_expect_eq(small.size, 0);
}

static size_t encode(uint32_t code, char out[4])
{
    static const uint8_t lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(lead[n] | code);
    return n;
}

Test(utf8, valid)
{
    static const char *const good[] = {"",
                                       "ascii",
                                       "eight bytes and more",
                                       "\xC2\x80",
                                       "\xDF\xBF",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF0\x90\x80\x80",
                                       "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80",
                                      "\xC0\x80",
                                      "\xC1\xBF",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xFF",
                                      "\xC2",
                                      "\xE2\x82",
                                      "\xC2x",
                                      "12345678\xC2"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect(hub_utf8_valid(hub_view_of(good[i])), "%zu", i);
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_not(hub_utf8_valid(hub_view_of(bad[i])), "%zu", i);
    for (uint32_t code = 0; code <= 0x10FFFF; code += code == 0xD7FF ? 0x801 : 1) {
        char text[4];
        uint32_t back = 1;
        const size_t n = encode(code, text);
        cr_assert(hub_utf8_decode((struct hub_view){text, n}, &back) == n && back == code, "%x", code);
    }
}

Test(utf8, clean)
{
    char text[] = "a\x1b[2J\xc2\x9b\x9b\xe2\x80\xae\xe6\x89\x89\xff\n";
    hub_utf8_clean(text, sizeof text - 1);
    cr_assert_str_eq(text, "a?[2J??????\xe6\x89\x89??");
}
