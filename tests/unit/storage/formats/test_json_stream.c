/* JSON of any size, read in a stream. */
#include "storage/formats/json_stream.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

/* The value of a text as strict JSON, as a space or as it is; NULL: not shown, or no JSON. */
static char *shown(struct hub_view text, bool space, size_t limit, enum hub_status *st)
{
    struct hub_byte_source source;
    struct hub_json_stream *stream;
    struct hub_buf out = HUB_BUF_INIT(4 * MIB);
    bool is = false;
    hub_byte_source_memory(&source, text.data, text.size);
    cr_assert_eq(hub_json_stream_new(&source, 0, text.size, &stream, NULL), HUB_OK);
    *st = space ? hub_json_stream_space(stream, &out, limit, &is, NULL)
                : hub_json_stream_value(stream, &out, limit, &is, NULL);
    if (!*st)
        *st = hub_json_stream_end(stream, NULL);
    hub_json_stream_free(stream);
    char *result = *st || !is ? NULL : strndup(out.data, out.size);
    hub_buf_dispose(&out);
    return result;
}

struct stream_case {
    char text[120], value[120], space[120]; /* "": no JSON */
};

ParameterizedTestParameters(json_stream, values)
{
    static struct stream_case cases[] = {
        {" {\"a\" : [1, 2.50,\t-Infinity] } ", "{\"a\":[1,2.50,\"-Infinity\"]}",
         "{\"a\":[1,2.50,\"-Infinity\"]}"},
        {"{\"low\": [[0, 0], [0, 0]], \"high\": [1, 2]}", "{\"low\":[[0,0],[0,0]],\"high\":[1,2]}",
         "{\"low\":0,\"high\":[1,2]}"},
        {"{\"low\": [-Infinity, -Infinity], \"shape\": [2, 2]}",
         "{\"low\":[\"-Infinity\",\"-Infinity\"],\"shape\":[2,2]}",
         "{\"low\":\"-Infinity\",\"shape\":[2,2]}"},
        {"{\"low\": [], \"high\": [\"a\", \"a\"]}", "{\"low\":[],\"high\":[\"a\",\"a\"]}",
         "{\"low\":[],\"high\":[\"a\",\"a\"]}"},
        {"{\"low\": [1, {\"x\": 1}, 1]}", "{\"low\":[1,{\"x\":1},1]}", "{\"low\":[1,{\"x\":1},1]}"},
        {"{\"low\": [1, 1.0]}", "{\"low\":[1,1.0]}", "{\"low\":[1,1.0]}"},
        {"\"caf\\u00e9 \\\" \\\\ \\ud800\"", "\"caf\\u00e9 \\\" \\\\ \\ufffd\"",
         "\"caf\\u00e9 \\\" \\\\ \\ufffd\""},
        {"{\"\\u0000\": true}", "{\"\\ufffd\":true}", "{\"\\ufffd\":true}"},
        {"[12345678901234567890, null]", "[\"12345678901234567890\",null]",
         "[\"12345678901234567890\",null]"},
        {"{}", "{}", "{}"},
        {"[1,]", "", ""},
        {"[1 2]", "", ""},
        {"{\"a\" 1}", "", ""},
        {"{a: 1}", "", ""},
        {"[1", "", ""},
        {"[tru]", "", ""},
        {"[01]", "", ""},
        {"\"a", "", ""},
        {"\"a\nb\"", "", ""},
        {"\"\xFF\"", "", ""},
        {"1 2", "", ""},
        {"", "", ""},
        {"]", "", ""},
    };
    return cr_make_param_array(struct stream_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct stream_case *c, json_stream, values)
{
    for (int space = 0; space < 2; space++) {
        enum hub_status st;
        const char *want = space ? c->space : c->value;
        char *got = shown(hub_view_of(c->text), space, MIB, &st);
        cr_expect_eq(st, *want ? HUB_OK : HUB_CORRUPT, "%s", c->text);
        cr_expect_str_eq(got ? got : "", want, "%s", c->text);
        free(got);
    }
}

static void add_list(struct hub_buf *text, size_t count, const char *value, const char *last)
{
    cr_assert_eq(hub_buf_add_text(text, "[", NULL), HUB_OK);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(hub_buf_addf(text, NULL, "%s%s", i ? ", " : "", i + 1 == count ? last : value), HUB_OK);
    cr_assert_eq(hub_buf_add_text(text, "]", NULL), HUB_OK);
}

static char *space_of(size_t count, const char *value, const char *last, size_t limit)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * MIB);
    enum hub_status st;
    cr_assert_eq(hub_buf_add_text(&text, "{\"low\": ", NULL), HUB_OK);
    add_list(&text, count, value, last);
    cr_assert_eq(hub_buf_add_text(&text, "}", NULL), HUB_OK);
    char *got = shown(hub_buf_view(&text), true, limit, &st);
    cr_assert_eq(st, HUB_OK);
    return got;
}

Test(json_stream, bounds_of_any_length)
{
    struct {
        size_t count;
        const char *value, *last, *want;
    } cases[] = {
        {1000000, "255", "255", "{\"low\":255}"},
        {300, "0", "7", "{\"low\":{\"min\":0,\"max\":7,\"values\":300}}"},
        {300, "-Infinity", "0.5", "{\"low\":{\"min\":\"-Infinity\",\"max\":0.5,\"values\":300}}"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char *got = space_of(cases[i].count, cases[i].value, cases[i].last, 100);
        cr_expect_str_eq(got ? got : "nothing", cases[i].want);
        free(got);
    }
    char *got = space_of(256, "1", "2", KIB); /* as many as are shown */
    cr_assert_not_null(got);
    cr_expect_eq(strlen(got), strlen("{\"low\":[]}") + 511);
    free(got);
    cr_expect_null(space_of(256, "1", "2", 100)); /* more than there is room for */
}

Test(json_stream, a_long_text_is_counted_not_shown)
{
    enum { COUNT = 2000000 };
    char *text = malloc(COUNT * 2 + 3);
    enum hub_status st;
    text[0] = '"';
    for (size_t i = 0; i < COUNT; i++)
        memcpy(text + 1 + 2 * i, "\xC3\xA9", 2);
    memcpy(text + 1 + 2 * COUNT, "\"", 2);
    char *got = shown(hub_view_of(text), true, KIB, &st);
    cr_expect_str_eq(got ? got : "nothing", "{\"characters\":2000000}");
    free(got);
    cr_expect_null(shown(hub_view_of(text), false, MIB, &st)); /* as it is it is too long, but JSON */
    cr_expect_eq(st, HUB_OK);
    free(text);
}

Test(json_stream, nesting_has_an_end)
{
    char text[400] = "";
    enum hub_status st;
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    cr_expect_null(shown(hub_view_of(text), false, MIB, &st));
    cr_expect_eq(st, HUB_CORRUPT);
    memset(text, ' ', 40);
    memset(text + 160, ' ', 40);
    char *got = shown(hub_view_of(text), true, MIB, &st);
    cr_expect_not_null(got);
    free(got);
}

/* A string that holds JSON is gone into, and what follows it is read as before. */
Test(json_stream, text_inside_a_string)
{
    const char text[] =
        "{\"space\": \"{\\\"low\\\": [1, 1], \\\"k\\u00e9\\\": \\\"\\\\\\\"\\\"} \", \"next\": 2}";
    const char inside[] = "{\"low\": [1, 1], \"k\xC3\xA9\": \"\\\"\"} ";
    struct hub_byte_source source;
    struct hub_json_stream *s;
    struct hub_view key;
    struct hub_buf out = HUB_BUF_INIT(KIB);
    uint64_t stored, decoded;
    bool is;
    hub_byte_source_memory(&source, text, strlen(text));
    cr_assert_eq(hub_json_stream_new(&source, 0, strlen(text), &s, NULL), HUB_OK);
    cr_assert_eq(hub_json_stream_take(s, '{', NULL), HUB_OK);
    cr_assert_eq(hub_json_stream_key(s, &key, NULL), HUB_OK);
    cr_assert(hub_view_is(key, "\"space\""));
    cr_assert_eq(hub_json_stream_enter(s, NULL), HUB_OK);
    cr_expect_eq(hub_json_stream_offset(s), 11);
    cr_assert_eq(hub_json_stream_space(s, &out, KIB, &is, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"low\":1,\"k\xC3\xA9\":\"\\\"\"}");
    cr_assert_eq(hub_json_stream_end(s, NULL), HUB_OK);
    cr_assert_eq(hub_json_stream_leave(s, &stored, &decoded, NULL), HUB_OK);
    cr_expect_eq(stored, (uint64_t)(strstr(text, " \", \"next") - text) + 1 - 11);
    cr_expect_eq(decoded, sizeof inside - 1);
    cr_assert_eq(hub_json_stream_take(s, ',', NULL), HUB_OK);
    cr_assert_eq(hub_json_stream_key(s, &key, NULL), HUB_OK);
    out.size = 0;
    cr_assert_eq(hub_json_stream_value(s, &out, KIB, &is, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "2");
    hub_json_stream_free(s);
    hub_buf_dispose(&out);
}
