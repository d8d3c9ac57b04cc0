#include "storage/base/error.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <minari/remote.h>
#include <stdio.h>

struct remote_case {
    char text[80];
    enum minari_status st;
    enum minari_remote_kind kind;
    char normal[80];
};

ParameterizedTestParameters(remote, parse)
{
    static struct remote_case cases[] = {
        {"http://hub:8080", MINARI_OK, MINARI_REMOTE_HUB, "http://hub:8080"},
        {"HTTPS://hub.example.org/", MINARI_OK, MINARI_REMOTE_HUB, "https://hub.example.org"},
        {"http://hub/below//", MINARI_OK, MINARI_REMOTE_HUB, "http://hub/below"},
        {"http://[::1]:8080", MINARI_OK, MINARI_REMOTE_HUB, "http://[::1]:8080"},
        {"gcp://minari-datasets/prefix", MINARI_OK, MINARI_REMOTE_GCP, "gcp://minari-datasets/prefix"},
        {"hf://farama-minari", MINARI_OK, MINARI_REMOTE_HF, "hf://farama-minari"},
        {"hf://farama-minari/D4RL", MINARI_OK, MINARI_REMOTE_HF, "hf://farama-minari/D4RL"},
        {"hf://lab/robot@v2.1", MINARI_OK, MINARI_REMOTE_HF, "hf://lab/robot@v2.1"},
        {"hf://lab/robot@refs/convert/parquet", MINARI_OK, MINARI_REMOTE_HF,
         "hf://lab/robot@refs/convert/parquet"},
        {"hf://lab@v2.1", MINARI_INVALID, 0, ""}, /* a revision is a repo's */
        {"hf://lab/robot/deeper", MINARI_INVALID, 0, ""},
        {"hf://lab/robot@", MINARI_INVALID, 0, ""},
        {"gcp://Bucket", MINARI_INVALID, 0, ""},
        {"gcp://bucket/a//b", MINARI_INVALID, 0, ""},
        {"gcp://bucket/../b", MINARI_INVALID, 0, ""},
        {"http://", MINARI_INVALID, 0, ""},
        {"http:///path", MINARI_INVALID, 0, ""},
        {"http://user:pass@hub", MINARI_INVALID, 0, ""}, /* a token is for that */
        {"http://hub?x=1", MINARI_INVALID, 0, ""},
        {"http://hub name", MINARI_INVALID, 0, ""},
        {"ftp://hub", MINARI_INVALID, 0, ""},
        {"file:///etc", MINARI_INVALID, 0, ""},
        {"hub:8080", MINARI_INVALID, 0, ""},
        {"127.0.0.1:8080", MINARI_INVALID, 0, ""},
        {"http://hub:65535/x", MINARI_OK, MINARI_REMOTE_HUB, "http://hub:65535/x"},
        {"http://hub:65536", MINARI_INVALID, 0, ""},
        {"http://127.0.0.1:99999", MINARI_INVALID, 0, ""},
        {"http://hub:0", MINARI_INVALID, 0, ""},
        {"http://hub:", MINARI_INVALID, 0, ""},
        {"http://hub:80x", MINARI_INVALID, 0, ""},
        {"http://:80", MINARI_INVALID, 0, ""},
        {"http://[::1", MINARI_INVALID, 0, ""},
        {"http://[]:80", MINARI_INVALID, 0, ""},
        {"http://[::1]80", MINARI_INVALID, 0, ""},
        {"http://a:1:2", MINARI_INVALID, 0, ""},
        {"", MINARI_INVALID, 0, ""},
    };
    return cr_make_param_array(struct remote_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct remote_case *c, remote, parse)
{
    struct minari_remote r;
    struct minari_error err;
    cr_assert_eq(minari_remote_parse(c->text, &r, &err), c->st, "%s", c->text);
    if (!c->st) {
        cr_assert_eq(r.kind, c->kind);
        cr_assert_str_eq(r.text, c->normal);
    } else {
        cr_assert_not_null(strstr(err.detail, "http://"), "the error says what is accepted: %s", err.detail);
    }
}

struct choose_case {
    char option[32], hub_url[32], minari_remote[32]; /* "-": not given */
    enum minari_status st;
    char text[40], origin[32];
};

ParameterizedTestParameters(remote, precedence)
{
    static struct choose_case cases[] = {
        {"-", "-", "-", MINARI_OK, "hf://farama-minari", "default"},
        {"-", "", "", MINARI_OK, "hf://farama-minari", "default"},
        {"-", "-", "gcp://bucket", MINARI_OK, "gcp://bucket", "MINARI_REMOTE"},
        {"-", "http://a", "gcp://bucket", MINARI_OK, "http://a", "MINARI_HUB_URL"},
        {"http://b", "http://a", "gcp://bucket", MINARI_OK, "http://b", "--remote"},
        {"hf://org", "http://a", "-", MINARI_OK, "hf://org", "--remote"},
        {"-", "-", "http://a", MINARI_INVALID, "", ""}, /* Python Minari would fail on it */
        {"-", "nonsense", "-", MINARI_INVALID, "", ""},
        {"nonsense", "http://a", "-", MINARI_INVALID, "", ""},
    };
    return cr_make_param_array(struct choose_case, cases, HUB_COUNT(cases));
}

static const char *given(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

ParameterizedTest(const struct choose_case *c, remote, precedence)
{
    struct minari_remote r;
    struct minari_error err;
    cr_assert_eq(minari_remote_choose(given(c->option), given(c->hub_url), given(c->minari_remote), &r, &err),
                 c->st);
    if (!c->st) {
        cr_assert_str_eq(r.text, c->text);
        cr_assert_str_eq(r.origin, c->origin);
    }
}

Test(remote, a_bare_address_is_guessed)
{
    struct minari_error err;
    for (size_t i = 0; i < 3; i++) {
        static const char *const texts[] = {"127.0.0.1:8080", "hub:8080", "hub.example.org"};
        char meant[64];
        snprintf(meant, sizeof meant, "did you mean http://%s ?", texts[i]);
        cr_assert_eq(minari_remote_parse(texts[i], NULL, &err), MINARI_INVALID);
        cr_assert(strstr(err.detail, meant), "%s", err.detail);
    }
}
