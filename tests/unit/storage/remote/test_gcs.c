/* storage/remote/gcs.c: a bucket's pages of objects, and the URLs that it is asked by. */
#include "storage/remote/remote.h"
#include "tests/support/answers.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define LIST                                                                                                 \
    "http://gcs:9000/storage/v1/b/lab/o?projection=noAcl&maxResults=1000"                                    \
    "&fields=nextPageToken,items(name,size,generation,md5Hash,crc32c,updated,metadata)&prefix="
#define GET "http://gcs:9000/download/storage/v1/b/lab/o/"

static struct hub_remote remote;

static void open_as(const char *address)
{
    const struct hub_remote_options options = {.endpoint = "http://gcs:9000//"};
    cr_assert_eq(hub_remote_open(address, &options, &remote, NULL), HUB_OK);
}

static void begin(void)
{
    unsetenv("GOOGLE_APPLICATION_CREDENTIALS");
    unsetenv("STORAGE_EMULATOR_HOST");
    open_as("gcp://lab/sets");
}

static void end(void)
{
    hub_remote_close(&remote);
}

TestSuite(gcs, .init = begin, .fini = end);

static enum hub_status files(const char *id, struct hub_remote_files *out, struct hub_error *err)
{
    return hub_remote_list_files(&remote, id, NULL, out, err);
}

/* ---- objects ---- */

/* The CRC-32C of "123456789" is e3069283: RFC 3720 B.4 and catalogues of CRCs. */
Test(gcs, an_object_is_a_file)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2Fpen-v1%2F",
         .body = "{\"kind\":\"storage#objects\",\"items\":["
                 "{\"name\":\"sets/pen-v1/b\",\"size\":\"9\",\"generation\":\"1700000000000001\","
                 "\"crc32c\":\"4waSgw==\",\"md5Hash\":\"1B2M2Y8AsgTpgAmY7PhCfg==\","
                 "\"updated\":\"2023-11-14T22:13:20.123Z\"},"
                 "{\"name\":\"sets/pen-v1/a\",\"size\":0,\"md5Hash\":\"1B2M2Y8AsgTpgAmY7PhCfg==\"},"
                 "{\"name\":\"sets/pen-v1/c\"}]}"}, /* storage-testbench: an empty object has no size */
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    struct hub_error err = {0};
    answers_set(answers);
    cr_assert_eq(files("pen-v1", &out, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(out.count, 3);
    cr_expect_str_eq(out.id, "pen-v1");
    cr_expect_eq(strlen(out.revision), HUB_REVISION_CHARS);
    const struct hub_file_facts *a = &out.items[0], *b = &out.items[1], *c = &out.items[2];
    cr_expect_str_eq(b->path, "b");
    cr_expect_eq(b->size, 9);
    cr_expect_eq(b->generation, 1700000000000001);
    cr_expect_eq(b->modified_ns, INT64_C(1700000000123000000));
    cr_expect_eq(b->other, HUB_BY_CRC32C, "it is of the whole object, composite or not");
    cr_expect_arr_eq(b->sum, ((uint8_t[]){0xe3, 0x06, 0x92, 0x83}), 4, "big-endian");
    cr_expect_eq(a->other, HUB_BY_MD5);
    cr_expect_eq(a->sum[0], 0xd4, "the MD5 of nothing: d41d8cd98f00...");
    cr_expect_eq(c->other, HUB_NO_DIGEST);
    cr_expect_eq(c->size, 0);
    cr_expect_eq(c->generation, 0);
}

Test(gcs, digests_of_another_length_are_none)
{
    static const char *const members[] = {
        "\"crc32c\":\"4waS\"", "\"crc32c\":\"4waSgw\\n\"", "\"crc32c\":7",
        "\"crc32c\":\"\"",     "\"md5Hash\":\"4waSgw==\"", "\"md5Hash\":\"????\""};
    for (size_t i = 0; i < HUB_COUNT(members); i++) {
        HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
        char body[256];
        snprintf(body, sizeof body, "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"1\",%s}]}", members[i]);
        const struct answer answers[] = {{.url = LIST "sets%2Fa%2F", .body = body}, {NULL}};
        answers_set(answers);
        cr_assert_eq(files("a", &out, NULL), HUB_OK, "%s", members[i]);
        cr_expect_eq(out.items[0].other, HUB_NO_DIGEST, "%s", members[i]);
    }
}

Test(gcs, malformed_listings_are_refused)
{
    static const char *const bodies[] = {
        "",
        "[]",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"1\"",
        "{\"items\":[{\"size\":\"1\"}]}",
        "{\"items\":[7]}",
        "{\"items\":[{\"name\":7}]}",
        "{\"items\":[{\"name\":\"x\"}]}",
        "{\"items\":[{\"name\":\"other/a/x\",\"size\":\"1\"}]}", /* it does not begin as was asked for */
        "{\"items\":[{\"name\":\"sets/\\u0000/x\",\"size\":\"1\"}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"-1\"}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"1x\"}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"\"}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"9223372036854775808\"}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":1.5}]}",
        "{\"items\":[{\"name\":\"sets/a/x\",\"size\":null}]}",
        "{\"items\":[{\"name\":\"sets/a/x\"},{\"name\":\"sets/a/x\"}]}",
    };
    for (size_t i = 0; i < HUB_COUNT(bodies); i++) {
        struct hub_remote_files out = {0};
        struct hub_error err = {0};
        const struct answer answers[] = {{.url = LIST "sets%2Fa%2F", .body = bodies[i]}, {NULL}};
        answers_set(answers);
        cr_expect_eq(files("a", &out, &err), HUB_CORRUPT, "%s: %s", bodies[i], err.detail);
        cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL, "%s", bodies[i]);
    }
}

Test(gcs, names_that_escape_are_left_out)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2Fa%2F",
         .body = "{\"items\":[{\"name\":\"sets/a/../../x\",\"size\":\"1\"},{\"name\":\"sets/a//"
                 "x\",\"size\":\"1\"},"
                 "{\"name\":\"sets/a/good\",\"size\":\"1\"},{\"name\":\"sets/a/good/below\",\"size\":\"5\"},"
                 "{\"name\":\"sets/a/\\u0007\",\"size\":\"1\"},{\"name\":\"sets/a/./x\",\"size\":\"1\"},"
                 "{\"name\":\"sets/a/x\\u0000y\",\"size\":\"1\"}]}"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    answers_set(answers);
    cr_assert_eq(files("a", &out, NULL), HUB_OK);
    cr_assert_eq(out.count, 1);
    cr_expect_str_eq(out.items[0].path, "good/below", "what is a folder of others cannot be a file as well");
    cr_expect_eq(out.bytes, 5);
    cr_expect_eq(out.left_out_count, 6);
}

/* ---- pages ---- */

Test(gcs, a_token_asks_for_the_next_page_also_after_an_empty_one)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2Fa%2F", .body = "{\"nextPageToken\":\"t/1+=&\"}"},
        {.url = LIST "sets%2Fa%2F&pageToken=t%2F1%2B%3D%26",
         .body = "{\"items\":[{\"name\":\"sets/a/x\",\"size\":\"1\"}],\"nextPageToken\":\"2\"}"},
        {.url = LIST "sets%2Fa%2F&pageToken=2",
         .body = "{\"items\":[{\"name\":\"sets/a/y\",\"size\":\"2\"}]}"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    answers_set(answers);
    cr_assert_eq(files("a", &out, NULL), HUB_OK);
    cr_expect_eq(out.count, 2);
    cr_expect_eq(out.bytes, 3);
    cr_expect_eq(answers_count(), 3);
}

Test(gcs, pages_without_an_end_are_given_up)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2Fa%2F", .body = "{\"nextPageToken\":\"t\"}"},
        {.url = LIST "sets%2Fa%2F&pageToken=t", .body = "{\"nextPageToken\":\"t\"}"},
        {NULL}};
    struct hub_remote_files out = {0};
    struct hub_error err = {0};
    answers_set(answers);
    cr_expect_eq(files("a", &out, &err), HUB_TOO_BIG);
    cr_expect_eq(err.problem, HUB_PROBLEM_TOO_LONG);
}

/* ---- what is there ---- */

static enum hub_status note(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    (void)text;
    return hub_buf_addf(user, err, "%s %s;", hub_member_text(item, "id"), hub_member_text(item, "format"));
}

static enum hub_status list(const char *prefix, struct hub_buf *out, struct hub_error *err)
{
    return remote.kind->list(&remote, &(struct hub_remote_query){.prefix = prefix, .brief = true}, note, out,
                             err);
}

Test(gcs, datasets_are_found_by_their_names)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2F",
         .body = "{\"items\":[{\"name\":\"sets/D4RL/pen-v1/data/metadata.json\",\"size\":\"3\"},"
                 "{\"name\":\"sets/D4RL/pen-v1/data/main_data.hdf5\",\"size\":\"5\"},"
                 "{\"name\":\"sets/old-v0/data/main_data.hdf5\",\"size\":\"5\","
                 "\"metadata\":{\"total_episodes\":\"2\",\"minari_version\":\"0.4.2\"}}]}"},
        {.url = LIST "sets%2FD4RL%2F",
         .body = "{\"items\":[{\"name\":\"sets/D4RL/pen-v1/data/metadata.json\",\"size\":\"3\"}]}"},
        {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(4 * KIB), some = HUB_BUF_INIT(4 * KIB);
    answers_set(answers);
    cr_assert_eq(list(NULL, &all, NULL), HUB_OK);
    cr_expect_str_eq(all.data, "old-v0 minari-hdf5;D4RL/pen-v1 minari-hdf5;");
    cr_assert_eq(list("D4RL/", &some, NULL), HUB_OK);
    cr_expect_str_eq(some.data, "D4RL/pen-v1 minari-hdf5;");
}

static const char *listed(enum hub_remote_only only, const char *prefix)
{
    static struct hub_buf out = {.limit = 4 * KIB};
    static struct hub_error err;
    const struct hub_remote_query query = {.prefix = prefix, .brief = true, .only = only};
    out.size = 0;
    cr_assert_eq(hub_buf_add_text(&out, "", NULL), HUB_OK);
    const enum hub_status st = remote.kind->list(&remote, &query, note, &out, &err);
    return st ? hub_problem_name(err.problem) : out.data;
}

Test(gcs, what_of_a_place_is_listed)
{
#define FILE(name) "{\"name\":\"sets/" name "\",\"size\":\"3\"}"
    static const struct answer answers[] = {
        {.url = LIST "sets%2F",
         .body = "{\"items\":[" FILE("arm/meta/info.json") "," FILE("arm/videos/x") "," FILE(
             "docs/x") "," FILE("a-v0/data/metadata.json") "]}"},
        {.url = LIST "sets%2Fdocs%2F", .body = "{\"items\":[" FILE("docs/x") "]}"},
        {NULL}};
    answers_set(answers);
    cr_expect_str_eq(listed(HUB_REMOTE_EVERYTHING, NULL), "a-v0 minari-hdf5;arm lerobot;docs files;");
    cr_expect_str_eq(listed(HUB_REMOTE_EVERYTHING, "docs/"), "docs files;");
    cr_expect_str_eq(listed(HUB_REMOTE_MINARI, NULL), "a-v0 minari-hdf5;");
    cr_expect_str_eq(listed(HUB_REMOTE_MINARI, "docs/"), "");
    cr_expect_str_eq(listed(HUB_REMOTE_TREE, NULL), "sets files;");
}

Test(gcs, a_place_that_is_one_dataset_has_its_name)
{
    static const struct answer answers[] = {
        {.url = LIST "sets%2F", .body = "{\"items\":[" FILE("meta/info.json") "," FILE("videos/x") "]}"},
        {.url = LIST "sets%2Fsets%2F", .body = "{}"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files tree = {0};
    answers_set(answers);
    cr_expect_str_eq(listed(HUB_REMOTE_EVERYTHING, NULL), "sets lerobot;");
    cr_expect_str_eq(listed(HUB_REMOTE_TREE, NULL), "sets files;");
    cr_expect_str_eq(listed(HUB_REMOTE_MINARI, NULL), "remote-empty");
    cr_assert_eq(files("sets", &tree, NULL), HUB_OK);
    cr_expect_str_eq(tree.items[0].path, "meta/info.json");
    cr_expect_str_eq(tree.pin, "");
}

Test(gcs, a_failed_listing_is_explained)
{
    static const struct {
        enum hub_status st;
        const char *problem;
    } cases[] = {{HUB_DENIED, "remote-closed"}, {HUB_NOT_FOUND, "remote-missing"}, {HUB_IO, "unreachable"}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
        const struct answer answers[] = {
            {.url = LIST "sets%2F", .status = cases[i].st, .problem = HUB_PROBLEM_UNREACHABLE}, {NULL}};
        struct hub_error err = {0};
        answers_set(answers);
        cr_expect_eq(list(NULL, &out, &err), cases[i].st);
        cr_expect_str_eq(hub_problem_name(err.problem), cases[i].problem);
    }
}

Test(gcs, nothing_there_is_said)
{
    static const struct answer answers[] = {{.url = LIST "sets%2F", .body = "{\"kind\":\"storage#objects\"}"},
                                            {.url = LIST "sets%2Fa%2F", .body = "{}"},
                                            {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    struct hub_remote_files none = {0};
    struct hub_error err = {0};
    answers_set(answers);
    cr_expect_eq(list(NULL, &out, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_REMOTE_EMPTY);
    cr_expect_eq(files("a", &none, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_DATASET_NOT_FOUND);
    cr_expect_eq(files("../a", &none, &err), HUB_INVALID);
}

/* ---- bytes ---- */

Test(gcs, the_name_of_an_object_is_one_segment)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf url = HUB_BUF_INIT(4 * KIB), bare = HUB_BUF_INIT(4 * KIB), space = HUB_BUF_INIT(4 * KIB);
    const struct hub_remote_files of = {.pin = "pen-v1"};
    const struct hub_file_facts file = {.path = "data/a b+c%#?", .generation = 1700000000000001};
    struct hub_fetch fetch = {0};
    cr_assert_eq(remote.kind->open(&remote, &of, &file, &url, &fetch, NULL), HUB_OK);
    cr_expect_str_eq(url.data,
                     GET "sets%2Fpen-v1%2Fdata%2Fa%20b%2Bc%25%23%3F?alt=media&generation=1700000000000001");
    cr_expect(fetch.as_stored,
              "an object stored as gzip is not unpacked on its way: its digest is of what is kept");
    const struct hub_file_facts unpinned = {.path = "x"};
    cr_assert_eq(
        remote.kind->open(&remote, &(struct hub_remote_files){.pin = ""}, &unpinned, &bare, &fetch, NULL),
        HUB_OK);
    cr_expect_str_eq(bare.data, GET "sets%2Fx?alt=media");
    cr_assert_eq(remote.kind->space(&remote, "D4RL/pen", &space, NULL), HUB_OK);
    cr_expect_str_eq(space.data, GET "sets%2FD4RL%2Fpen%2Fnamespace_metadata.json?alt=media");
}

Test(gcs, where_the_service_is)
{
    static const struct {
        const char *emulator, *endpoint, *head;
    } cases[] = {
        {NULL, NULL, "https://storage.googleapis.com/storage/v1/b/lab/o?"},
        {"http://localhost:9000/", NULL, "http://localhost:9000/storage/v1/b/lab/o?"},
        {"localhost:9000", NULL, "http://localhost:9000/storage/v1/b/lab/o?"}, /* as Go has it */
        {"http://localhost:9000", "https://here", "https://here/storage/v1/b/lab/o?"},
        {"", NULL, "https://storage.googleapis.com/storage/v1/b/lab/o?"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_remote_files none = {0};
        const struct hub_remote_options options = {.endpoint = cases[i].endpoint};
        hub_remote_close(&remote);
        unsetenv("STORAGE_EMULATOR_HOST");
        if (cases[i].emulator)
            setenv("STORAGE_EMULATOR_HOST", cases[i].emulator, 1);
        cr_assert_eq(hub_remote_open("gcp://lab", &options, &remote, NULL), HUB_OK);
        answers_set(NULL);
        cr_expect_eq(files("a", &none, NULL), HUB_INVALID);
        cr_expect_eq(strncmp(answers_url(0), cases[i].head, strlen(cases[i].head)), 0, "%s", answers_url(0));
    }
}
