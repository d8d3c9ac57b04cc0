#include "client/cli/tokens.h"

#include "client/cli/cli.h"
#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[64], path[PATH_MAX];

static void set_up(void)
{
    snprintf(home, sizeof home, "/tmp/tokens-XXXXXX");
    cr_assert_not_null(mkdtemp(home));
    setenv("XDG_CONFIG_HOME", home, 1);
    unsetenv("MINARI_HUB_TOKEN");
    cr_assert(tokens_path(path));
}

static void tear_down(void)
{
    cr_assert_eq(hub_fs_remove(AT_FDCWD, home, NULL), HUB_OK);
}

TestSuite(tokens, .init = set_up, .fini = tear_down);

static unsigned mode_of(const char *name)
{
    struct stat st;
    return stat(name, &st) ? 0 : st.st_mode & 07777;
}

static void write_file(const char *text, mode_t mode)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s/minari", home);
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, folder, 0755, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(AT_FDCWD, path, hub_view_of(text), 0600, NULL), HUB_OK);
    cr_assert_eq(chmod(path, mode), 0);
}

static void expect_kept(const char *url, const char *token)
{
    char *got = NULL;
    struct hub_error err = {0};
    cr_assert_eq(tokens_get(path, url, &got, &err), HUB_OK, "%s", err.detail);
    if (token)
        cr_assert_str_eq(got, token);
    else
        cr_assert_null(got);
    tokens_free(got);
}

static bool put(const char *url, const char *token)
{
    bool had = false;
    struct hub_error err = {0};
    cr_assert_eq(tokens_put(path, url, token, &had, &err), HUB_OK, "%s", err.detail);
    return had;
}

Test(tokens, are_kept_by_url)
{
    cr_assert_eq(put("http://hub", NULL), false);
    cr_assert_eq(access(path, F_OK), -1, "to forget what is not there makes no file");
    expect_kept("http://hub", NULL);
    cr_assert_eq(put("http://hub", "mh_one"), false);
    cr_assert_eq(put("https://hub", "mh_two=="), false);
    cr_assert_eq(put("http://hub", "mh_three"), true);
    expect_kept("http://hub", "mh_three");
    expect_kept("https://hub", "mh_two==");
    expect_kept("http://hub:8080", NULL);
    cr_assert_eq(put("http://hub", NULL), true);
    expect_kept("http://hub", NULL);
    expect_kept("https://hub", "mh_two==");
}

Test(tokens, are_for_the_user_alone)
{
    char folder[PATH_MAX];
    struct hub_error err = {0};
    bool had;
    char *got = NULL;
    umask(0);
    put("http://hub", "mh_one");
    snprintf(folder, sizeof folder, "%s/minari", home);
    cr_assert_eq(mode_of(path), 0600);
    cr_assert_eq(mode_of(folder), 0700);
    for (mode_t more = 1; more <= 040; more <<= 1) {
        cr_assert_eq(chmod(path, 0600 | more), 0);
        cr_assert_eq(tokens_get(path, "http://hub", &got, &err), HUB_DENIED);
        cr_assert(strstr(err.detail, "chmod 600") && strstr(err.detail, path), "%s", err.detail);
        cr_assert_eq(tokens_put(path, "http://other", "mh_two", &had, &err), HUB_DENIED);
        cr_assert_eq(mode_of(path), 0600 | more, "the file is as it was");
    }
    cr_assert_eq(chmod(path, 0600), 0);
    cr_assert_eq(chmod(folder, 0755), 0);
    expect_kept("http://hub", "mh_one");
    put("http://other", "mh_two");
    cr_assert_eq(mode_of(folder), 0700);
}

Test(tokens, of_a_damaged_file_are_not_guessed)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "{\"http://hub\": 1}",
                                        "{\"http://hub\": {\"token\": \"mh_one\"}}",
                                        "{\"http://hub\": \"mh_\\u006fne\"}",
                                        "{\"http:\\/\\/hub\": \"mh_one\"}",
                                        "{\"http://hub\": \"two words\"}",
                                        "{\"http://hub\": \"mh_one\"} {}"};
    for (size_t i = 0; i < HUB_COUNT(texts); i++) {
        struct hub_error err = {0};
        char *got = NULL;
        write_file(texts[i], 0600);
        cr_assert_eq(tokens_get(path, "http://hub", &got, &err), HUB_CORRUPT, "%s", texts[i]);
        cr_assert_null(got);
        cr_assert(strstr(err.detail, path) && strstr(err.detail, "remove it"), "%s", err.detail);
        cr_assert_null(strstr(err.detail, "mh_"));
    }
    write_file("{\"http://hub\": \"mh_one\"\n, \"http://other\":\"mh_two\"}",
               0600); /* as somebody may write it */
    expect_kept("http://other", "mh_two");
}

Test(tokens, of_a_damaged_file_are_left_there)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    struct hub_error err = {0};
    bool had;
    write_file("{\"http://hub\": \"mh_one\"", 0600);
    cr_assert_eq(tokens_put(path, "http://hub", "mh_two", &had, &err), HUB_CORRUPT);
    cr_assert_eq(hub_fs_read(AT_FDCWD, path, &text, NULL), HUB_OK);
    cr_assert_str_eq(text.data, "{\"http://hub\": \"mh_one\"");
}

Test(tokens, of_many_hubs)
{
    char url[32], token[32];
    for (int i = 0; i < 100; i++) {
        snprintf(url, sizeof url, "http://hub:%d", i + 1);
        snprintf(token, sizeof token, "mh_%d", i);
        put(url, token);
    }
    expect_kept("http://hub:1", "mh_0");
    expect_kept("http://hub:100", "mh_99");
}

Test(tokens, have_a_place)
{
    cr_assert(strcmp(path + strlen(home), "/minari/tokens.json") == 0, "%s", path);
    setenv("HOME", "/home/ann", 1);
    setenv("XDG_CONFIG_HOME", "relative", 1);
    cr_assert(tokens_path(path));
    cr_assert_str_eq(path, "/home/ann/.config/minari/tokens.json");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HOME");
    cr_assert_not(tokens_path(path));
}

/* ---- what people give ---- */

Test(tokens, are_taken_without_blanks)
{
    static const struct {
        const char *text, *token; /* NULL: refused */
    } cases[] = {{"mh_one", "mh_one"},
                 {" \tmh_one\r\n\n", "mh_one"},
                 {"ya29.a-b_c~d+e/f==", "ya29.a-b_c~d+e/f=="},
                 {"", NULL},
                 {" \n", NULL},
                 {"mh_one mh_two", NULL},
                 {"mh_one\nmh_two", NULL},
                 {"mh_\"one", NULL},
                 {"mh_\xc3\xa9", NULL},
                 {"mh_\x01", NULL},
                 {"a=b", NULL},
                 {"=", NULL}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char *got = NULL;
        struct hub_error err = {0};
        const enum hub_status st = tokens_take(hub_view_of(cases[i].text), &got, &err);
        cr_assert_eq(st, cases[i].token ? HUB_OK : HUB_INVALID, "%s", cases[i].text);
        if (cases[i].token)
            cr_assert_str_eq(got, cases[i].token);
        else
            cr_assert_null(strstr(err.detail, "mh_"));
        tokens_free(got);
    }
    char *got = NULL;
    cr_assert_eq(tokens_take((struct hub_view){"mh_\0one", 7}, &got, NULL), HUB_INVALID);
}

Test(tokens, are_read_from_pipes)
{
    int ends[2];
    char *got = NULL, big[TOKENS_CHARS + 1];
    struct hub_error err = {0};
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "mh_one\n", 7), 7);
    close(ends[1]);
    cr_assert_eq(tokens_read(ends[0], &got, &err), HUB_OK, "%s", err.detail);
    cr_assert_str_eq(got, "mh_one");
    tokens_free(got);
    close(ends[0]);
    cr_assert_eq(pipe(ends), 0);
    memset(big, 'x', sizeof big);
    cr_assert_eq(write(ends[1], big, sizeof big), (ssize_t)sizeof big);
    close(ends[1]);
    cr_assert_eq(tokens_read(ends[0], &got, &err), HUB_TOO_BIG);
    close(ends[0]);
}

/* ---- URLs ---- */

struct url_case {
    char address[64], url[64]; /* "": of no hub */
};

ParameterizedTestParameters(token_urls, normal)
{
    static struct url_case cases[] = {
        {"http://hub:8080", "http://hub:8080"},
        {"HTTP://Hub.Example.ORG:8080/", "http://hub.example.org:8080"},
        {"http://hub", "http://hub"},
        {"http://hub:80/", "http://hub"},
        {"http://hub:0080", "http://hub"},
        {"http://hub:443", "http://hub:443"},
        {"https://hub:443", "https://hub"},
        {"https://hub:80", "https://hub:80"},
        {"https://hub/below/it", "https://hub"},
        {"http://hub:8080/a:9", "http://hub:8080"},
        {"http://[::1]:8080", "http://[::1]:8080"},
        {"http://[FE80::80]", "http://[fe80::80]"},
        {"http://[::1]:80/x", "http://[::1]"},
        {"http://127.0.0.1:8080", "http://127.0.0.1:8080"},
        {"gcp://bucket", ""},
        {"hf://lab/robot", ""},
        {"hub:8080", ""},
        {"http://ann@hub", ""},
        {"", ""},
    };
    return cr_make_param_array(struct url_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct url_case *c, token_urls, normal)
{
    char url[TOKENS_URL] = "";
    cr_assert_eq(tokens_url(c->address, url), *c->url != '\0', "%s", c->address);
    cr_assert_str_eq(url, c->url);
}

/* ---- the one that is sent ---- */

static const char *found(struct cli *cli)
{
    const char *token = NULL;
    cr_assert_eq(cli_token_find(cli, &token), CLI_OK);
    return token ? token : "";
}

Test(tokens, of_the_order_of_sources)
{
    char file[PATH_MAX];
    struct cli cli = {.remote = {.kind = MINARI_REMOTE_HUB, .text = "http://hub:80"}};
    snprintf(file, sizeof file, "%s/token", home);
    cr_assert_eq(hub_fs_write(AT_FDCWD, file, HUB_VIEW("mh_file\n"), 0600, NULL), HUB_OK);
    cr_assert_str_eq(found(&cli), "");
    cr_assert_null(cli.token_source);
    put("http://hub", "mh_kept");
    cr_assert_str_eq(found(&cli), "mh_kept");
    cr_assert_str_eq(cli.token_source, "login");
    setenv("MINARI_HUB_TOKEN", "mh_variable", 1);
    cr_assert_str_eq(found(&cli), "mh_variable");
    snprintf(cli.remote.text, sizeof cli.remote.text, "hf://lab");
    cli.remote.kind = MINARI_REMOTE_HF;
    cr_assert_str_eq(found(&cli), "", "neither is for Hugging Face");
    cli.values[OPT_TOKEN_FILE] = file;
    cr_assert_str_eq(found(&cli), "mh_file");
    cr_assert_eq(unlink(file), 0);
    cr_assert_str_eq(found(&cli), "mh_file", "it is read once");
    cli_token_forget(&cli);
    cr_assert_null(cli.token);
}

Test(tokens, leave_no_core)
{
    struct cli cli = {.remote = {.kind = MINARI_REMOTE_HUB, .text = "http://hub"}};
    cr_assert_str_eq(found(&cli), "");
    cr_assert_eq(prctl(PR_GET_DUMPABLE), 1, "without a token a core tells what went wrong");
    put("http://hub", "mh_kept");
    cr_assert_str_eq(found(&cli), "mh_kept");
    cr_assert_eq(prctl(PR_GET_DUMPABLE), 0);
    cli_token_forget(&cli);
}
