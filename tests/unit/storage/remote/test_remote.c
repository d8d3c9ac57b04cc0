/* storage/remote/remote.c: the table of remotes, and the lists of files that all kinds share. */
#include "storage/remote/remote.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>

/* ---- addresses ---- */

struct address_case {
    char address[48];
    char noun[8]; /* of its kind; "": none has such a scheme */
    bool good;
};

ParameterizedTestParameters(remote, addresses)
{
    static struct address_case cases[] = {
        {"http://hub", "hub", true},
        {"HTTPS://hub.example:8080", "hub", true}, /* schemes have no case: RFC 3986 3.1 */
        {"http://[::1]:80", "hub", true},
        {"http://hub:0", "hub", false},
        {"http://hub:65536", "hub", false},
        {"http://[::1", "hub", false},
        {"gcp://minari-datasets/D4RL", "bucket", true},
        {"gcp://Bucket", "bucket", false}, /* names of buckets are in lower case */
        {"gcp://b/../c", "bucket", false},
        {"hf://farama-minari", "repo", true},
        {"hf://lab/so100@v2.1", "repo", true},
        {"hf://-lab", "repo", false}, /* no '-' at the beginning: wire-protocols 3.1 */
        {"hf://lab/so100@../x", "repo", false},
        {"gcp://", "", false},
        {"ftp://host", "", false},
        {"", "", false},
    };
    return cr_make_param_array(struct address_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct address_case *c, remote, addresses)
{
    struct hub_view rest = {NULL, 0};
    const struct hub_remote_row *row = hub_remote_find(hub_view_of(c->address), &rest);
    cr_assert_str_eq(row ? row->kind->noun : "", c->noun, "'%s'", c->address);
    if (row)
        cr_expect_eq(row->kind->is_address(rest), c->good, "'%s'", c->address);
}

Test(remote, opening_what_is_none_is_refused)
{
    struct hub_remote remote = {0};
    const struct hub_remote_options options = {0};
    cr_expect_eq(hub_remote_open("s3://bucket", &options, &remote, NULL), HUB_UNSUPPORTED);
    hub_remote_close(&remote);
}

/* ---- names ---- */

struct name_case {
    const char *name;
    size_t size;                            /* 0: of the text */
    enum { IS_FILE, LEFT_OUT, NOTHING } is; /* nothing: it is not even named */
};

static const struct name_case names[] = {
    {"data/metadata.json", 0, IS_FILE},
    {"a b/\xc3\xa9 + % ? #;&'\"\\~", 0, IS_FILE}, /* all but a slash may be in a name */
    {"store/.zarray", 0, IS_FILE},                /* files of a Zarr store are no hidden ones */
    {".hidden", 0, LEFT_OUT},
    {"data/.cache/x", 0, LEFT_OUT},
    {".gitattributes", 0, NOTHING},         /* git's own */
    {"right\xe2\x80\xaeleft", 0, LEFT_OUT}, /* its end is shown before its beginning */
    {"isolated\xe2\x81\xa6", 0, LEFT_OUT},
    {"", 0, LEFT_OUT},
    {"/etc/passwd", 0, LEFT_OUT},
    {"../up", 0, LEFT_OUT},
    {"a/../../up", 0, LEFT_OUT},
    {"a/..", 0, LEFT_OUT},
    {"./a", 0, LEFT_OUT},
    {"a/./b", 0, LEFT_OUT},
    {"a//b", 0, LEFT_OUT},
    {"folder/", 0, LEFT_OUT},
    {"line\nbreak", 0, LEFT_OUT},
    {"tab\tstop", 0, LEFT_OUT},
    {"bell\x07", 0, LEFT_OUT},
    {"csi\xc2\x9b", 0, LEFT_OUT}, /* a control character of two bytes */
    {"not utf-8 \xff", 0, LEFT_OUT},
    {"a\0b", 3, LEFT_OUT},
};

Test(remote, names_that_cannot_be_files_are_left_out)
{
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
        const struct name_case *c = &names[i];
        const struct hub_view name = {c->name, c->size ? c->size : strlen(c->name)};
        struct hub_file_facts *file = NULL;
        cr_assert_eq(hub_remote_files_try(&files, name, 7, &file, NULL), HUB_OK);
        cr_expect_eq(file != NULL, c->is == IS_FILE, "'%s'", c->name);
        cr_expect_eq(files.left_out_count, c->is == LEFT_OUT, "'%s'", c->name);
        cr_expect_eq(files.bytes, c->is == IS_FILE ? 7 : 0, "'%s'", c->name);
        if (!c->size)
            cr_expect_eq(hub_path_check(c->name, NULL), c->is == IS_FILE ? HUB_OK : HUB_CORRUPT, "'%s'",
                         c->name);
    }
    cr_expect_eq(hub_path_check(NULL, NULL), HUB_CORRUPT);
}

Test(remote, an_empty_object_may_stand_for_a_folder)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    struct hub_file_facts *file;
    cr_assert_eq(hub_remote_files_try(&files, hub_view_of("a/b/"), 0, &file, NULL), HUB_OK);
    cr_expect_null(file);
    cr_expect_eq(files.left_out_count, 0, "consoles make such ones: nothing is lost");
}

Test(remote, a_path_has_less_than_4096_bytes_and_a_segment_at_most_255)
{
    char path[4097];
    for (size_t i = 0; i < sizeof path; i++)
        path[i] = i % 200 == 199 ? '/' : 'x';
    path[4095] = '\0';
    cr_expect_eq(hub_path_check(path, NULL), HUB_OK);
    path[4095] = 'x';
    path[4096] = '\0';
    cr_expect_eq(hub_path_check(path, NULL), HUB_CORRUPT);
    memset(path, 'x', 256);
    path[256] = '\0';
    cr_expect_eq(hub_path_check(path, NULL), HUB_CORRUPT);
    path[255] = '\0';
    cr_expect_eq(hub_path_check(path, NULL), HUB_OK);
}

Test(remote, the_first_eight_left_out_are_named)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    struct hub_file_facts *file;
    for (char name[] = "a/../0"; name[5] < '0' + 10; name[5]++)
        cr_assert_eq(hub_remote_files_try(&files, hub_view_of(name), 1, &file, NULL), HUB_OK);
    cr_expect_eq(files.left_out_count, 10);
    cr_expect_str_eq(files.left_out[0], "a/../0");
    cr_expect_str_eq(files.left_out[HUB_LEFT_OUT - 1], "a/../7");
}

/* ---- lists ---- */

static void try_all(struct hub_remote_files *files, const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hub_file_facts *file = NULL;
        cr_assert_eq(hub_remote_files_try(files, hub_view_of(paths[i]), 10 + i, &file, NULL), HUB_OK);
        cr_assert_not_null(file);
    }
}

Test(remote, a_file_that_is_a_folder_too_is_left_out)
{
    static const char *const paths[] = {"b/x", "a/b", "b", "a-b", "a", "ab"};
    static const char *const sorted[] = {"a-b", "a/b", "ab", "b/x"};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    try_all(&files, paths, HUB_COUNT(paths));
    cr_assert_eq(hub_remote_files_sort(&files, NULL), HUB_OK);
    cr_assert_eq(files.count, HUB_COUNT(sorted));
    for (size_t i = 0; i < HUB_COUNT(sorted); i++)
        cr_expect_str_eq(files.items[i].path, sorted[i]);
    cr_expect_eq(files.left_out_count, 2);
    cr_expect_eq(files.bytes, 10 + 11 + 13 + 15, "of what is left");
}

Test(remote, a_name_twice_is_refused)
{
    static const char *const paths[] = {"b", "a", "b"};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tried = {0}, added = {0};
    struct hub_error err = {0};
    try_all(&tried, paths, HUB_COUNT(paths));
    cr_expect_eq(hub_remote_files_sort(&tried, &err), HUB_CORRUPT);
    cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL);
    for (size_t i = 0; i < HUB_COUNT(paths); i++)
        cr_assert_eq(hub_remote_files_add(&added, paths[i], 1, NULL, NULL), HUB_OK);
    cr_expect_eq(hub_remote_files_finish(&added, &err), HUB_CORRUPT);
}

Test(remote, sizes_that_overflow_are_refused)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_remote_files_add(&files, "a", UINT64_MAX, NULL, &err), HUB_OK);
    cr_expect_eq(hub_remote_files_add(&files, "b", 1, NULL, &err), HUB_CORRUPT);
    cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL);
}

Test(remote, a_digest_is_64_hex_or_none)
{
    static const char *const texts[] = {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                                        NULL, "", "e3b0",
                                        "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    for (size_t i = 0; i < HUB_COUNT(texts); i++) {
        const char name[] = {(char)('a' + i), '\0'};
        cr_assert_eq(hub_remote_files_add(&files, name, 0, texts[i], NULL), HUB_OK);
        cr_expect_eq(hub_file_proven(&files.items[i]), i == 0, "%s", texts[i]);
        cr_expect_str_eq(hub_file_digest_name(&files.items[i]), i == 0 ? "SHA-256" : "no digest");
    }
    cr_expect_eq(files.items[0].sha256[31], 0x55);
    files.items[1].other = HUB_BY_CRC32C;
    cr_expect_str_eq(hub_file_digest_name(&files.items[1]), "CRC-32C");
}

Test(remote, what_is_below_a_folder)
{
    static const char *const paths[] = {"pen/data/x", "pen-v1/data/x", "pen/y", "pencil"};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files all = {0}, below = {0}, whole = {0};
    struct hub_file_facts *none;
    try_all(&all, paths, HUB_COUNT(paths));
    cr_assert_eq(hub_remote_files_try(&all, hub_view_of("pen/../z"), 1, &none, NULL), HUB_OK);
    cr_assert_eq(hub_remote_files_sort(&all, NULL), HUB_OK);
    cr_assert_eq(hub_remote_files_below(&all, "pen", &below, NULL), HUB_OK);
    cr_assert_eq(below.count, 2);
    cr_expect_str_eq(below.items[0].path, "data/x");
    cr_expect_str_eq(below.items[1].path, "y");
    cr_expect_eq(below.bytes, 10 + 12);
    cr_expect_eq(below.left_out_count, 1);
    cr_expect_str_eq(below.left_out[0], "pen/../z");
    cr_assert_eq(hub_remote_files_below(&all, "", &whole, NULL), HUB_OK);
    cr_expect_eq(whole.count, 4);
}

/* ---- revisions ---- */

static void name(const struct hub_file_facts *file, size_t cut, char out[HUB_REVISION_CHARS + 1])
{
    cr_assert_eq(hub_remote_revision(file, 1, cut, out, NULL), HUB_OK);
    cr_assert_eq(strspn(out, "0123456789abcdef"), HUB_REVISION_CHARS);
}

Test(remote, a_revision_names_all_that_pins_the_files)
{
    char path[] = "d/a", other_path[] = "d/b", short_path[] = "a";
    const struct hub_file_facts file = {.path = path, .size = 3, .generation = 5, .other = HUB_BY_MD5};
    struct hub_file_facts others[] = {file, file, file, file, file, file};
    char first[HUB_REVISION_CHARS + 1], second[HUB_REVISION_CHARS + 1];
    name(&file, 0, first);
    others[0].path = other_path;
    others[1].size = 4;
    others[2].generation = 6;
    others[3].other = HUB_BY_CRC32C;
    others[4].sum[15] = 1;
    others[5].has_sha256 = true;
    for (size_t i = 0; i < HUB_COUNT(others); i++) {
        name(&others[i], 0, second);
        cr_expect_str_neq(first, second, "%zu", i);
    }
    const struct hub_file_facts moved = {.path = short_path, .size = 3, .generation = 5, .other = HUB_BY_MD5};
    struct hub_file_facts later = file;
    later.modified_ns = 1;
    name(&later, 0, second);
    cr_expect_str_eq(first, second, "times change when a copy is made");
    name(&file, 2, first);
    name(&moved, 0, second);
    cr_expect_str_eq(first, second, "where the folder lies is no part of it");
}

/* ---- members ---- */

Test(remote, members_of_other_types_are_none)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *object = json_pack("{s:s, s:I, s:I, s:f, s:n}", "text", "x", "number", (json_int_t)7, "negative",
                               (json_int_t)-7, "real", 7.0, "null");
    cr_expect_str_eq(hub_member_text(object, "text"), "x");
    cr_expect_null(hub_member_text(object, "number"));
    cr_expect_null(hub_member_text(object, "missing"));
    cr_expect_null(hub_member_text(NULL, "text"));
    cr_expect_eq(hub_member_uint(object, "number"), 7);
    cr_expect_eq(hub_member_uint(object, "negative"), 0);
    cr_expect_eq(hub_member_uint(object, "real"), 0);
    cr_expect_eq(hub_member_uint(object, "text"), 0);
    cr_expect_eq(hub_member_uint(object, "null"), 0);
}
