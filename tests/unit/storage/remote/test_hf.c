/* storage/remote/hf.c: repos of Hugging Face, their commits, trees and errors. */
#include "storage/remote/remote.h"
#include "tests/support/answers.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define API "http://hf/api/datasets"
#define SHA "0123456789abcdef0123456789abcdef01234567"
#define COMMIT "{\"id\":\"lab/arm\",\"sha\":\"" SHA "\",\"lastModified\":\"2023-11-14T22:13:20.000Z\"}"
#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" /* SHA-256 of nothing */
#define EMPTY_BLOB "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"                    /* git's, of the same */

static struct hub_remote remote;

static void open_as(const char *address)
{
    const struct hub_remote_options options = {.endpoint = "http://hf/"};
    hub_remote_close(&remote);
    cr_assert_eq(hub_remote_open(address, &options, &remote, NULL), HUB_OK);
}

static void begin(void)
{
    static const char *const names[] = {"HF_TOKEN", "HF_TOKEN_PATH", "HF_ENDPOINT", "XDG_CACHE_HOME"};
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        unsetenv(names[i]);
    setenv("HF_HOME", "/nonexistent", 1);
    open_as("hf://lab");
}

static void end(void)
{
    hub_remote_close(&remote);
}

TestSuite(hf, .init = begin, .fini = end);

static enum hub_status files(const char *id, struct hub_remote_files *out, struct hub_error *err)
{
    return hub_remote_list_files(&remote, id, NULL, out, err);
}

/* ---- trees ---- */

Test(hf, a_tree_over_pages)
{
    static const struct answer answers[] = {
        {.url = API "/lab/arm/revision/main", .body = COMMIT},
        {.url = API "/lab/arm/tree/" SHA "?recursive=true",
         .body = "[{\"type\":\"directory\",\"path\":\"meta\",\"oid\":\"x\",\"size\":0},"
                 "{\"type\":\"file\",\"path\":\"meta/info.json\",\"size\":0,\"oid\":\"" EMPTY_BLOB "\"}]",
         .next = "http://elsewhere/steal?recursive=true&cursor=a%3D"},
        {.url = API "/lab/arm/tree/" SHA "?recursive=true&cursor=a%3D",
         .body = "[{\"type\":\"file\",\"path\":\"big.parquet\",\"size\":7,\"oid\":\"" EMPTY_BLOB "\","
                 "\"lfs\":{\"oid\":\"" EMPTY "\",\"size\":7,\"pointerSize\":134}},"
                 "{\"type\":\"file\",\"path\":\"own.bin\",\"size\":1,\"oid\":\"" EMPTY_BLOB
                 "\",\"unhashed\":true}]"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
    struct hub_error err = {0};
    answers_set(answers);
    cr_assert_eq(files("arm", &out, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(out.count, 3);
    const struct hub_file_facts *big = &out.items[0], *info = &out.items[1], *own = &out.items[2];
    cr_expect_str_eq(info->path, "meta/info.json");
    cr_expect_eq(info->other, HUB_GIT_SHA1);
    cr_expect_eq(info->sum[0], 0xe6);
    cr_expect_not(info->has_sha256);
    cr_expect(big->has_sha256);
    cr_expect_eq(big->sha256[0], 0xe3);
    cr_expect_eq(big->other, HUB_NO_DIGEST, "with lfs the oid is that of its pointer");
    cr_expect_eq(big->modified_ns, INT64_C(1700000000000000000));
    cr_expect_eq(own->other, HUB_NO_DIGEST, "a hub's own word");
    struct hub_fetch fetch = {0};
    cr_assert_eq(remote.kind->open(&remote, &out, info, &url, &fetch, NULL), HUB_OK);
    cr_expect_str_eq(url.data, "http://hf/datasets/lab/arm/resolve/" SHA "/meta/info.json");
}

Test(hf, the_first_segment_of_an_id_is_the_repo)
{
    static const struct answer answers[] = {
        {.url = API "/lab/D4RL/revision/main", .body = COMMIT},
        {.url = API "/lab/D4RL/tree/" SHA "/pen/a%20b-v1?recursive=true",
         .body = "[{\"type\":\"file\",\"path\":\"pen/a b-v1/data/x+y\",\"size\":1},"
                 "{\"type\":\"file\",\"path\":\"pen/a b-v10/data/x\",\"size\":1}]"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
    struct hub_fetch fetch = {0};
    answers_set(answers);
    cr_assert_eq(files("D4RL/pen/a b-v1", &out, NULL), HUB_OK);
    cr_assert_eq(out.count, 1);
    cr_expect_str_eq(out.items[0].path, "data/x+y");
    cr_assert_eq(remote.kind->open(&remote, &out, &out.items[0], &url, &fetch, NULL), HUB_OK);
    cr_expect_str_eq(url.data, "http://hf/datasets/lab/D4RL/resolve/" SHA "/pen/a%20b-v1/data/x%2By");
}

Test(hf, names_that_escape_are_left_out)
{
    static const struct answer answers[] = {
        {.url = API "/lab/arm/revision/main", .body = COMMIT},
        {.url = API "/lab/arm/tree/" SHA "?recursive=true",
         .body = "[{\"type\":\"file\",\"path\":\"../../x\",\"size\":1},{\"type\":\"file\",\"path\":\"/"
                 "x\",\"size\":1},"
                 "{\"type\":\"file\",\"path\":\"a\\u0000b\",\"size\":1},{\"type\":\"file\",\"path\":\"good\","
                 "\"size\":1},"
                 "{\"type\":\"file\",\"path\":\"a\\r\\nb\",\"size\":1}]"},
        {NULL}};
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files out = {0};
    answers_set(answers);
    cr_assert_eq(files("arm", &out, NULL), HUB_OK);
    cr_assert_eq(out.count, 1);
    cr_expect_str_eq(out.items[0].path, "good");
    cr_expect_eq(out.left_out_count, 4);
}

Test(hf, malformed_answers_are_refused)
{
    static const struct {
        const char *commit, *tree;
    } cases[] = {
        {"{}", ""},
        {"[]", ""},
        {"{\"sha\":\"main\"}", ""},
        {"{\"sha\":\"" SHA "0\"}", ""},
        {"{\"sha\":\"0123456789ABCDEF0123456789abcdef01234567\"}", ""}, /* lower case: wire-protocols 3.6 */
        {"{\"sha\":\"../../../../../../../../../../../../../ab\"}", ""},
        {COMMIT, "{}"},
        {COMMIT, "[{\"type\":\"file\",\"path\":\"a\""},
        {COMMIT, "[{\"type\":\"file\",\"size\":1}]"},
        {COMMIT, "[{\"type\":\"file\",\"path\":\"a\"}]"},
        {COMMIT, "[{\"type\":\"file\",\"path\":\"a\",\"size\":-1}]"},
        {COMMIT, "[{\"type\":\"file\",\"path\":\"a\",\"size\":\"1\"}]"},
        {COMMIT,
         "[{\"type\":\"file\",\"path\":\"a\",\"size\":1},{\"type\":\"file\",\"path\":\"a\",\"size\":1}]"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct answer answers[] = {
            {.url = API "/lab/arm/revision/main", .body = cases[i].commit},
            {.url = API "/lab/arm/tree/" SHA "?recursive=true", .body = cases[i].tree},
            {NULL}};
        struct hub_remote_files out = {0};
        struct hub_error err = {0};
        answers_set(answers);
        cr_expect_eq(files("arm", &out, &err), HUB_CORRUPT, "%zu: %s", i, err.detail);
        cr_expect_eq(err.problem, HUB_PROBLEM_PROTOCOL, "%zu", i);
    }
}

Test(hf, ids_that_are_none_ask_nobody)
{
    static const char *const ids[] = {"../arm", "-arm/x", "a b/x", "", "arm/../x", "arm//x"};
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        struct hub_remote_files out = {0};
        answers_set(NULL);
        cr_expect_neq(files(ids[i], &out, NULL), HUB_OK, "%s", ids[i]);
        cr_expect_eq(answers_count(), 0, "%s", ids[i]);
    }
    open_as("hf://lab/arm");
    struct hub_remote_files other = {0};
    cr_expect_eq(files("leg", &other, NULL), HUB_NOT_FOUND, "the address names one repo");
}

/* ---- errors ---- */

Test(hf, errors_are_explained_by_their_code)
{
    static const struct {
        enum hub_status st;
        const char *code;
        enum hub_status seen;
        const char *problem;
    } cases[] = {
        {HUB_NOT_FOUND, "RepoNotFound", HUB_NOT_FOUND, "dataset-not-found"},
        {HUB_NOT_FOUND, NULL, HUB_NOT_FOUND, "dataset-not-found"},
        {HUB_DENIED, "RepoNotFound", HUB_DENIED, "repo-closed"},
        {HUB_DENIED, "GatedRepo", HUB_DENIED, "repo-closed"},
        {HUB_DENIED, NULL, HUB_DENIED, "repo-closed"},
        {HUB_IO, NULL, HUB_IO, "unreachable"},
        {HUB_BUSY, NULL, HUB_BUSY, "unreachable"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct answer answers[] = {{.url = API "/lab/arm/revision/main",
                                          .status = cases[i].st,
                                          .problem = HUB_PROBLEM_UNREACHABLE,
                                          .code = cases[i].code},
                                         {NULL}};
        struct hub_remote_files out = {0};
        struct hub_error err = {0};
        answers_set(answers);
        cr_expect_eq(files("arm", &out, &err), cases[i].seen, "%zu", i);
        cr_expect_str_eq(hub_problem_name(err.problem), cases[i].problem, "%zu", i);
    }
}

Test(hf, a_wrong_revision_names_those_that_are_there)
{
    static const struct answer answers[] = {
        {.url = API "/lab/arm/revision/v3%2F0", .status = HUB_NOT_FOUND, .code = "RevisionNotFound"},
        {.url = API "/lab/arm/refs",
         .body = "{\"branches\":[{\"name\":\"main\"},{\"ref\":\"x\"},7],\"tags\":[{\"name\":\"v2.1\"}],"
                 "\"converts\":[]}"},
        {NULL}};
    struct hub_remote_files out = {0};
    struct hub_error err = {0};
    open_as("hf://lab/arm@v3/0");
    answers_set(answers);
    cr_expect_eq(files("arm", &out, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_REVISION_MISSING);
    cr_expect_not_null(strstr(err.detail, "; there are: main, v2.1"), "%s", err.detail);
}

/* ---- datasets ---- */

static enum hub_status note(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    (void)text;
    return hub_buf_addf(user, err, "%s %s;", hub_member_text(item, "id"), hub_member_text(item, "format"));
}

Test(hf, a_namespace_lists_its_datasets)
{
    static const struct answer answers[] = {
        {.url = API "?author=lab",
         .body = "[{\"id\":\"lab/D4RL\"},{\"id\":\"other/D4RL\"},{\"id\":\"lab\"},"
                 "{\"id\":\"lab/../x\"},{\"id\":7},{}]"},
        {.url = API "/lab/D4RL/revision/main",
         .body = "{\"sha\":\"" SHA "\",\"siblings\":[{\"rfilename\":\"namespace_metadata.json\"}]}"},
        {.url = API "/lab/D4RL/tree/" SHA "?recursive=false",
         .body = "[{\"type\":\"file\",\"path\":\"namespace_metadata.json\",\"size\":2}]"},
        {.url = API "/lab/D4RL/tree/" SHA "?recursive=true",
         .body = "[{\"type\":\"file\",\"path\":\"namespace_metadata.json\",\"size\":2},"
                 "{\"type\":\"file\",\"path\":\"pen-v1/data/metadata.json\",\"size\":2}]"},
        {.url = "http://hf/datasets/lab/D4RL/resolve/" SHA "/namespace_metadata.json",
         .body = "{\"datasets\":[\"D4RL/pen-v1\",\"elsewhere/x-v0\",\"D4RL/../x\",7],\"namespaces\":[]}"},
        {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB);
    struct hub_error err = {0};
    answers_set(answers);
    cr_assert_eq(remote.kind->list(&remote, &(struct hub_remote_query){.brief = true}, note, &out, &err),
                 HUB_OK, "%s", err.detail);
    cr_expect_str_eq(out.data, "D4RL/pen-v1 minari-hdf5;");
}

Test(hf, a_repo_that_is_named_is_a_dataset_whatever_is_in_it)
{
    static const struct answer answers[] = {
        {.url = API "/lab/arm/revision/v2.1", .body = COMMIT},
        {.url = API "/lab/arm/tree/" SHA "?recursive=true",
         .body = "[{\"type\":\"file\",\"path\":\"meta/info.json\",\"size\":2}]"},
        {NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * KIB), space = HUB_BUF_INIT(4 * KIB);
    open_as("hf://lab/arm@v2.1");
    answers_set(answers);
    cr_assert_eq(remote.kind->list(&remote, &(struct hub_remote_query){.brief = true}, note, &out, NULL),
                 HUB_OK);
    cr_expect_str_eq(out.data, "arm files;");
    cr_assert_eq(remote.kind->space(&remote, "arm/x y", &space, NULL), HUB_OK);
    cr_expect_str_eq(space.data, "http://hf/datasets/lab/arm/resolve/v2.1/x%20y/namespace_metadata.json");
}

/* ---- opening ---- */

Test(hf, the_token_is_found_as_huggingface_hub_finds_it)
{
    char folder[] = "/tmp/hub-hf-XXXXXX", path[64];
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/token", folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(" hf_file \n", file);
    fclose(file);
    cr_expect_str_eq(answers_token(), "");
    setenv("HF_HOME", folder, 1);
    open_as("hf://lab");
    cr_expect_str_eq(answers_token(), "hf_file");
    setenv("HF_TOKEN", "hf_variable", 1);
    open_as("hf://lab");
    cr_expect_str_eq(answers_token(), "hf_variable");
    const struct hub_remote_options options = {.transport.token = "hf_given", .endpoint = "http://hf"};
    hub_remote_close(&remote);
    cr_assert_eq(hub_remote_open("hf://lab", &options, &remote, NULL), HUB_OK);
    cr_expect_str_eq(answers_token(), "hf_given");
    cr_expect_eq(answers_options()->other_hosts, HUB_OTHER_HOSTS_PUBLIC, "large files lie elsewhere");
    cr_expect_geq(answers_options()->retry.longest_advice_s, 300, "limits are by windows of five minutes");
    unlink(path);
    rmdir(folder);
}
