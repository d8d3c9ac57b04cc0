/* storage/remote/hub.c: another hub's URLs, pages and lists of files. */
#include "storage/remote/hub.h"
#include "tests/support/answers.h"

#include <criterion/criterion.h>

#define DATASETS "http://hub:8080/lab/api/v1/datasets"

static struct hub_remote remote;

static void begin(void)
{
    const struct hub_remote_options options = {.endpoint = NULL};
    cr_assert_eq(hub_remote_open("http://hub:8080/lab", &options, &remote, NULL), HUB_OK);
}

static void end(void)
{
    hub_remote_close(&remote);
}

TestSuite(hub, .init = begin, .fini = end);

/* ---- URLs ---- */

Test(hub, urls_of_datasets)
{
    static const struct {
        const char *id, *rest, *url;
    } cases[] = {
        {NULL, NULL, DATASETS},
        {"D4RL/door/human-v2", NULL, DATASETS "/D4RL/door/human-v2"},
        {"D4RL/door/human-v2", "files", DATASETS "/D4RL/door/human-v2/files"},
        {"a b/\xc3\xa9%?-v0", "files", DATASETS "/a%20b/%C3%A9%25%3F-v0/files"},
        {"../../admin", NULL, NULL},
        {"a/../b", "files", NULL},
        {"a//b", NULL, NULL},
        {"", NULL, NULL},
        {"a-v0/files", NULL, DATASETS "/a-v0/files~"}, /* as it is it would name another resource */
        {"a-v0/\\x66iles", "rows", DATASETS "/a-v0/files~/rows"},
        {"a\nb", NULL, DATASETS "/a%5Cx0ab"},
        {"a\\b", NULL, NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
        const enum hub_status st = hub_api_url(&remote, cases[i].id, cases[i].rest, &url, NULL);
        cr_expect_eq(st, cases[i].url ? HUB_OK : HUB_INVALID, "'%s'", cases[i].id);
        if (cases[i].url)
            cr_expect_str_eq(url.data, cases[i].url);
    }
}

Test(hub, only_a_hub_has_its_api)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
    const struct hub_remote bucket = {.kind = &hub_remote_gcs, .base = "gcp://b"};
    struct hub_error err = {0};
    cr_expect_eq(hub_api_url(&bucket, NULL, NULL, &url, &err), HUB_UNSUPPORTED);
    cr_expect_eq(err.problem, HUB_PROBLEM_HUB_NEEDED);
}

Test(hub, parameters_of_a_listing)
{
    const struct hub_remote_filter filters[] = {{"q", "robot arm"}, {"task", NULL}, {"robot", "a&b=c"}, {0}};
    const struct hub_remote_query query = {
        .prefix = "D4RL/", .release = "0.5.3", .sort = "-size", .latest = true, .filters = filters};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB), bare = HUB_BUF_INIT(4 * KIB);
    cr_assert_eq(hub_api_list_url(&remote, &query, 1000, &url, NULL), HUB_OK);
    cr_expect_str_eq(url.data, DATASETS "?limit=1000&prefix=D4RL%2F&for=0.5.3&sort=-size&latest=true"
                                        "&q=robot%20arm&robot=a%26b%3Dc");
    cr_assert_eq(hub_api_list_url(&remote, &(struct hub_remote_query){.prefix = NULL}, 7, &bare, NULL),
                 HUB_OK);
    cr_expect_str_eq(bare.data, DATASETS "?limit=7");
}

Test(hub, an_answer_is_about_the_id_or_a_version_of_it)
{
    static const struct {
        const char *asked, *got;
        bool same;
    } cases[] = {
        {"a/b-v1", "a/b-v1", true},    {"a/b", "a/b-v1", true},   {"a/b", "a/b", true},
        {"a/b-v1", "a/b-v2", false},   {"a/b", "a/bc-v1", false}, {"a/b", "x/a/b-v1", false},
        {"a/b", "a/b-v1/../c", false}, {"a/b-v1", "a/b", false},  {"a/b", "", false},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_api_same_id(cases[i].asked, cases[i].got), cases[i].same, "%s %s", cases[i].asked,
                     cases[i].got);
}

/* ---- pages ---- */

static enum hub_status note(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    cr_expect(json_is_object(item));
    HUB_TRY(hub_buf_add_view(user, text, err));
    return hub_buf_add_text(user, ";", err);
}

static enum hub_status list(struct hub_buf *out, struct hub_error *err)
{
    return remote.kind->list(&remote, &(struct hub_remote_query){.prefix = NULL}, note, out, err);
}

Test(hub, of_the_next_page_only_the_query_is_taken_over)
{
    static const struct answer answers[] = {
        {.url = DATASETS "?limit=1000",
         .body = "{\"items\":[{\"id\": "
                 "\"a-v0\"}],\"next\":\"http://evil.example/elsewhere?limit=1000&after=a%2Db\"}"},
        {.url = DATASETS "?limit=1000&after=a%2Db",
         .body = "{\"items\":[{\"id\":\"b-v0\"}],\"next\":\"/no-query\"}"},
        {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    answers_set(answers);
    cr_assert_eq(list(&out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"id\": \"a-v0\"};{\"id\":\"b-v0\"};", "as they came");
    cr_expect_eq(answers_count(), 2);
}

Test(hub, an_empty_page_is_the_last)
{
    static const struct answer answers[] = {
        {.url = DATASETS "?limit=1000", .body = "{\"items\":[],\"next\":\"?limit=1000&after=x\"}"}, {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    answers_set(answers);
    cr_expect_eq(list(&out, NULL), HUB_OK);
    cr_expect_eq(answers_count(), 1);
}

Test(hub, what_is_no_list_is_refused)
{
    static const char *const bodies[] = {
        "",     "<html>", "[]", "{}", "{\"items\":{}}", "{\"items\":\"a\"}", "{\"items\":[{\"id\":\"a-v0\"}",
        "null",
    };
    for (size_t i = 0; i < HUB_COUNT(bodies); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
        const struct answer answers[] = {{.url = DATASETS "?limit=1000", .body = bodies[i]}, {NULL}};
        struct hub_error err = {0};
        answers_set(answers);
        cr_expect_eq(list(&out, &err), HUB_CORRUPT, "%s", bodies[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL, "%s", bodies[i]);
    }
}

/* ---- files ---- */

#define FILES DATASETS "/a-v0/files"
#define HEAD "{\"id\":\"a-v0\",\"revision\":\"r1\",\"items\":"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static enum hub_status files(const char *url, const char *body, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err)
{
    const struct answer answers[] = {{.url = url, .body = body}, {NULL}};
    answers_set(answers);
    return hub_remote_list_files(&remote, "a-v0", revision, out, err);
}

Test(hub, a_list_of_files)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    struct hub_error err = {0};
    cr_assert_eq(files(FILES "?revision=r1",
                       HEAD "[{\"path\":\"data/b\",\"size\":3,\"sha256\":null,\"more\":1},"
                            "{\"path\":\"data/a\",\"size\":0,\"sha256\":\"" EMPTY
                            "\",\"modified\":\"2023-11-14T22:13:20.5Z\"}]}",
                       "r1", &out, &err),
                 HUB_OK, "%s", err.detail);
    cr_assert_eq(out.count, 2);
    cr_expect_str_eq(out.id, "a-v0");
    cr_expect_str_eq(out.revision, "r1");
    cr_expect_str_eq(out.items[0].path, "data/a");
    cr_expect(out.items[0].has_sha256);
    cr_expect_eq(out.items[0].modified_ns, INT64_C(1700000000500000000));
    cr_expect_not(out.items[1].has_sha256);
    cr_expect_eq(out.bytes, 3);
}

Test(hub, a_version_may_answer_for_a_name)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    const struct answer answers[] = {
        {.url = DATASETS "/a/files", .body = "{\"id\":\"a-v7\",\"revision\":\"r1\",\"items\":[]}"}, {NULL}};
    answers_set(answers);
    cr_assert_eq(hub_remote_list_files(&remote, "a", NULL, &out, NULL), HUB_OK);
    cr_expect_str_eq(out.id, "a-v7");
}

Test(hub, malformed_and_hostile_lists_of_files_are_refused)
{
    static const struct {
        const char *body;
        enum hub_status st;
        const char *problem;
    } cases[] = {
        {"[]", HUB_CORRUPT, "protocol"},
        {"{\"revision\":\"r1\",\"items\":[]}", HUB_CORRUPT, "protocol"},
        {"{\"id\":\"a-v0\",\"items\":[]}", HUB_CORRUPT, "protocol"},
        {"{\"id\":\"b-v0\",\"revision\":\"r1\",\"items\":[]}", HUB_CORRUPT, "protocol"},
        {"{\"id\":\"a-v0\",\"revision\":\"r2\",\"items\":[]}", HUB_CHANGED, "revision-gone"},
        {HEAD "{}}", HUB_CORRUPT, "protocol"},
        {HEAD "[7]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"../x\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"/etc/passwd\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a/../../x\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\\nb\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\\u0000b\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\"}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":-1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":\"1\"}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":1.0}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":99999999999999999999}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":1},{\"path\":\"a\",\"size\":1}]}", HUB_CORRUPT, "protocol"},
        {HEAD "[{\"path\":\"a\",\"size\":9223372036854775807},{\"path\":\"b\",\"size\":9223372036854775807},"
              "{\"path\":\"c\",\"size\":2}]}",
         HUB_CORRUPT, "protocol"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_remote_files out = {0};
        struct hub_error err = {0};
        cr_expect_eq(files(FILES "?revision=r1", cases[i].body, "r1", &out, &err), cases[i].st, "%s: %s",
                     cases[i].body, err.detail);
        cr_expect_str_eq(hub_problem_name(err.problem), cases[i].problem, "%s", cases[i].body);
        cr_expect_null(out.items, "nothing is left behind");
    }
}

Test(hub, bytes_are_asked_for_at_the_revision)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB), space = HUB_BUF_INIT(4 * KIB);
    const struct hub_remote_files of = {.id = "D4RL/a-v0", .revision = "r+1"};
    const struct hub_file_facts file = {.path = "data/x y#1.hdf5"};
    struct hub_fetch fetch = {0};
    cr_assert_eq(remote.kind->open(&remote, &of, &file, &url, &fetch, NULL), HUB_OK);
    cr_expect_str_eq(url.data, DATASETS "/D4RL/a-v0/files/data/x%20y%231.hdf5?revision=r%2B1");
    cr_assert_eq(remote.kind->space(&remote, "D4RL/door", &space, NULL), HUB_OK);
    cr_expect_str_eq(space.data, "http://hub:8080/lab/api/v1/namespaces/D4RL/door");
}
