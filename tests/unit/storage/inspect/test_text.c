/* What counts as text, a path, JSON and a fact. */
#include "storage/inspect/text.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct json_case {
    char text[64];
    enum hub_json_kind kind;
    bool valid;
};

ParameterizedTestParameters(text, json)
{
    static struct json_case cases[] = {
        {"{}", HUB_JSON_OBJECT, true},
        {" [ ] ", HUB_JSON_ARRAY, true},
        {"{}", HUB_JSON_ARRAY, false},
        {"[]", HUB_JSON_OBJECT, false},
        {"null", HUB_JSON_VALUE, true},
        {"", HUB_JSON_VALUE, false},
        {"  ", HUB_JSON_VALUE, false},
        {"{\"a\":[1,-2.5e+3,true,false,null,{\"b\":\"c\"}]}", HUB_JSON_OBJECT, true},
        {"{\"a\":1,}", HUB_JSON_VALUE, false},
        {"{\"a\" 1}", HUB_JSON_VALUE, false},
        {"{,}", HUB_JSON_VALUE, false},
        {"{a:1}", HUB_JSON_VALUE, false},
        {"[1,]", HUB_JSON_VALUE, false},
        {"[,1]", HUB_JSON_VALUE, false},
        {"[1 2]", HUB_JSON_VALUE, false},
        {"[1]]", HUB_JSON_VALUE, false},
        {"[1", HUB_JSON_VALUE, false},
        {"[1}", HUB_JSON_VALUE, false},
        {"{\"a\":1]", HUB_JSON_VALUE, false},
        {"[[],{},[{}]]", HUB_JSON_VALUE, true},
        {"1 2", HUB_JSON_VALUE, false},
        {"NaN", HUB_JSON_VALUE, false},
        {"[Infinity]", HUB_JSON_VALUE, false},
        {"01", HUB_JSON_VALUE, false},
        {"-", HUB_JSON_VALUE, false},
        {"-0", HUB_JSON_VALUE, true},
        {"1.", HUB_JSON_VALUE, false},
        {".5", HUB_JSON_VALUE, false},
        {"1e", HUB_JSON_VALUE, false},
        {"1e400", HUB_JSON_VALUE, false},
        {"9007199254740991", HUB_JSON_VALUE, true},
        {"9007199254740992", HUB_JSON_VALUE, false},
        {"-9007199254740992", HUB_JSON_VALUE, false},
        {"99999999999999999999999", HUB_JSON_VALUE, false},
        {"\"\\u00e9\\n\\\"\"", HUB_JSON_VALUE, true},
        {"\"\\ud83d\\ude00\"", HUB_JSON_VALUE, true},
        {"\"\\ud83d\"", HUB_JSON_VALUE, false},
        {"\"\\ude00\"", HUB_JSON_VALUE, false},
        {"\"\\u0000\"", HUB_JSON_VALUE, true},
        {"{\"\\u0000\":1}", HUB_JSON_VALUE, false},
        {"\"\\x\"", HUB_JSON_VALUE, false},
        {"\"a\nb\"", HUB_JSON_VALUE, false},
        {"\"a", HUB_JSON_VALUE, false},
        {"\"\\", HUB_JSON_VALUE, false},
        {"\"\xff\"", HUB_JSON_VALUE, false},
        {"tru", HUB_JSON_VALUE, false},
    };
    return cr_make_param_array(struct json_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct json_case *c, text, json)
{
    cr_expect_eq(hub_json_valid(hub_view_of(c->text), c->kind), c->valid, "%s", c->text);
}

Test(text, json_depth)
{
    char text[131];
    for (int depth = 63; depth <= 65; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        cr_expect_eq(hub_json_valid((struct hub_view){text, (size_t)depth * 2}, HUB_JSON_VALUE), depth <= 64);
    }
}

struct utf8_case {
    char text[16];
    size_t size;
    bool valid, line, path;
};

ParameterizedTestParameters(text, utf8)
{
    static struct utf8_case cases[] = {
        {"abc", 3, true, true, true},
        {"", 0, true, true, false},
        {"a/b", 3, true, true, true},
        {"a//b", 4, true, true, false},
        {"/a", 2, true, true, false},
        {"a/", 2, true, true, false},
        {"a/../b", 6, true, true, false},
        {".", 1, true, true, false},
        {"..a", 3, true, true, true},
        {"a\nb", 3, true, false, true},
        {"a\x7f", 2, true, false, true},
        {"a\0b", 3, false, false, false},
        {"\xc3\xa9", 2, true, true, true},
        {"\xc3", 1, false, false, false},
        {"\xc0\x80", 2, false, false, false},
        {"\xe0\x80\x80", 3, false, false, false},
        {"\xed\xa0\x80", 3, false, false, false},
        {"\xe2\x82\xac", 3, true, true, true},
        {"\xf0\x9f\x98\x80", 4, true, true, true},
        {"\xf4\x90\x80\x80", 4, false, false, false},
        {"\xf5\x80\x80\x80", 4, false, false, false},
        {"\x80", 1, false, false, false},
    };
    return cr_make_param_array(struct utf8_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct utf8_case *c, text, utf8)
{
    const struct hub_view text = {c->text, c->size};
    cr_expect_eq(hub_text_valid(text), c->valid);
    cr_expect_eq(hub_line_valid(text), c->line);
    cr_expect_eq(hub_path_valid(text), c->path);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf mended = HUB_BUF_INIT(100);
    cr_assert_eq(hub_text_mend(text, 100, true, &mended, NULL), HUB_OK);
    cr_expect(hub_line_valid(hub_buf_view(&mended)));
    cr_expect_eq(c->line, hub_view_equal(text, hub_buf_view(&mended)));
}

Test(text, mending_cuts_whole_characters)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf mended = HUB_BUF_INIT(100);
    cr_assert_eq(hub_text_mend(HUB_VIEW("ab\xe2\x82\xac"), 4, false, &mended, NULL), HUB_OK);
    cr_expect_str_eq(mended.data, "ab");
}

Test(text, facts)
{
    cr_expect(hub_fact_valid(HUB_VIEW("era"), HUB_VIEW("E5")));
    cr_expect(hub_fact_valid(HUB_VIEW("claimed_steps"), HUB_VIEW("123")));
    cr_expect_not(hub_fact_valid(HUB_VIEW("claimed_steps"), HUB_VIEW("-1")));
    cr_expect_not(hub_fact_valid(HUB_VIEW("claimed_steps"), HUB_VIEW("")));
    cr_expect_not(hub_fact_valid(HUB_VIEW("authors"), HUB_VIEW("{}")));
    cr_expect(hub_fact_valid(HUB_VIEW("authors"), HUB_VIEW("[\"a\"]")));
    cr_expect_not(hub_fact_valid(HUB_VIEW("nonsense"), HUB_VIEW("x")));
}
