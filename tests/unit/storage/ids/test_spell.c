/* The spelling of paths: what is written how, and that nothing is lost. */
#include "storage/ids/id.h"
#include "storage/ids/spell.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct spell_case {
    char path[32], id[64], file[64];
};

ParameterizedTestParameters(spell, both_ways)
{
    static struct spell_case cases[] = {
        {"D4RL/door/human-v2", "D4RL/door/human-v2", "D4RL/door/human-v2"},
        {"files", "files~", "files"}, /* it would end the id */
        {"files~", "files\\x7e", "files~"},
        {"files~~", "files~~", "files~~"},
        {"a/episodes/b", "a/episodes~/b", "a/episodes/b"},
        {"archive.tar", "archive.tar~", "archive.tar"},
        {"archive.tar.gz", "archive.tar.gz", "archive.tar.gz"},
        {"~old/x~", "\\x7eold/x~", "~old/x~"},
        {"a\tb\x7F", "a\\x09b\\x7f", "a\\x09b\\x7f"},
        {"a\\x41", "a\\x5cx41", "a\\x5cx41"}, /* as it is, it would be "aA" */
        {"b\xFF\xC3\xA4/\xC3", "b\\xff\xC3\xA4/\\xc3", "b\\xff\xC3\xA4/\\xc3"},
        {"\xC2\x85", "\\xc2\\x85", "\\xc2\\x85"}, /* a control character too */
        {"\xE2\x80\xAE"
         "fdp.exe",
         "\\xe2\\x80\\xaefdp.exe", "\\xe2\\x80\\xaefdp.exe"}, /* it reverses what follows */
        {"\xED\xA0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"},
        {"100%", "100%", "100%"},
        {"", "", ""},
    };
    return cr_make_param_array(struct spell_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct spell_case *c, spell, both_ways)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB), file = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf back = HUB_BUF_INIT(KIB), again = HUB_BUF_INIT(KIB);
    cr_assert_eq(hub_spell_id(hub_view_of(c->path), &id, NULL), HUB_OK);
    cr_assert_eq(hub_spell_path(hub_view_of(c->path), &file, NULL), HUB_OK);
    cr_assert(hub_view_is(hub_buf_view(&id), c->id), "%s", id.data);
    cr_assert(hub_view_is(hub_buf_view(&file), c->file), "%s", file.data);
    cr_assert_eq(hub_unspell_id(hub_buf_view(&id), &back, NULL), HUB_OK);
    cr_assert_eq(hub_unspell(hub_buf_view(&file), &again, NULL), HUB_OK);
    cr_assert(hub_view_is(hub_buf_view(&back), c->path), "%s", back.data);
    cr_assert(hub_view_is(hub_buf_view(&again), c->path), "%s", again.data);
    if (c->path[0])
        cr_assert_eq(hub_id_check(hub_buf_view(&id), NULL), HUB_OK);
}

Test(spell, what_is_no_spelling)
{
    static const char *const bad[] = {"\\",    "a\\",   "\\x",   "\\x4",   "\\y41",
                                      "\\x4g", "\\X41", "\\x00", "a\\x2fb"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
        cr_expect_eq(hub_unspell(hub_view_of(bad[i]), &out, NULL), HUB_INVALID, "%s", bad[i]);
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_unspell(HUB_VIEW("\\xFF\\xfe"), &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "\xFF\xFE");
}

Test(spell, an_id_as_anybody_may_type_it)
{
    static const char *const cases[][3] = {
        {"lab/episodes", "lab/episodes~", "lab/episodes"},
        {"lab/episodes~", "lab/episodes~", "lab/episodes"},
        {"lab/\\x65pisodes", "lab/episodes~", "lab/\\x65pisodes"}, /* the spelling of earlier releases */
        {"episodes\\x7e", "episodes\\x7e", "episodes\\x7e"},
        {"~x", "\\x7ex", "~x"},
        {"a\\xFF", "a\\xff", "a\\xFF"},
        {"door-human-v2", "door-human-v2", "door-human-v2"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB), folder = HUB_BUF_INIT(KIB);
        cr_assert_eq(hub_respell_id(hub_view_of(cases[i][0]), &id, NULL), HUB_OK);
        cr_assert_eq(hub_id_folder(hub_view_of(cases[i][0]), &folder, NULL), HUB_OK);
        cr_expect_str_eq(id.data, cases[i][1]);
        cr_expect_str_eq(folder.data, cases[i][2]);
    }
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_respell_id(HUB_VIEW("a\\q"), &out, NULL), HUB_INVALID);
}
