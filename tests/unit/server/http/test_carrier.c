/* server/http/carrier.c, link.c: from a request to its principal. */
#include "server/http/carrier.h"

#include "server/http/link.h"
#include "server/http/user.h"
#include "storage/text/base64.h"
#include "storage/text/time.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { ANN, SESSION, OLD, TOKENS };
static char texts[TOKENS][HUB_TOKEN_TEXT + 1];
static struct hub_token tokens[TOKENS];
static struct hub_access_table *table;
static struct hub_request request;
static struct hub_error err;
static struct hub_param headers[8];
static unsigned header_count;

static void begin(void)
{
    static const char *const names[TOKENS] = {"ann", "ann", "old"};
    static const uint8_t key[HUB_LINK_KEY] = {7};
    for (unsigned i = 0; i < TOKENS; i++) {
        cr_assert_eq(hub_token_make(texts[i], NULL), HUB_OK);
        cr_assert_eq(hub_token_digest(hub_view_of(texts[i]), &tokens[i], NULL), HUB_OK);
        strcpy(tokens[i].name, names[i]);
    }
    strcpy(tokens[SESSION].session_of, tokens[ANN].id);
    tokens[OLD].expires_ms = 1;
    cr_assert_eq(hub_access_new(NULL, 0, tokens, TOKENS, &table, NULL), HUB_OK);
    hub_access_set_link_key(table, key);
}

static void end(void)
{
    hub_request_dispose(&request);
    hub_access_put(table);
}
TestSuite(carrier, .init = begin, .fini = end);

/* A new request, whose headers are added and which is then identified. */
static void ask(enum hub_method method, const char *target)
{
    hub_request_end(&request);
    err = (struct hub_error){0};
    cr_assert_eq(hub_request_init(&request, method, target, &err), HUB_OK, "%s", err.detail);
    request.access = hub_access_get(table);
    request.headers = headers;
    header_count = 0;
}

static void send(const char *name, const char *value)
{
    headers[header_count++] = (struct hub_param){hub_view_of(name), hub_view_of(value)};
    request.header_count = header_count;
}

static enum hub_status identify(void)
{
    return hub_request_identify(&request, &err);
}

static const char *cookie(const char *name, const char *text)
{
    static char out[4][128];
    static unsigned next;
    char *at = out[next++ % 4];
    snprintf(at, sizeof out[0], "%s=%s", name, text);
    return at;
}

Test(carrier, is_a_header)
{
    char bearer[100];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf basic = HUB_BUF_INIT(KIB);
    snprintf(bearer, sizeof bearer, "any:%s", texts[ANN]);
    cr_assert_eq(hub_buf_add_text(&basic, "basic  ", NULL), HUB_OK);
    cr_assert_eq(hub_base64_encode(hub_view_of(bearer), &basic, NULL), HUB_OK);
    snprintf(bearer, sizeof bearer, "BEARER %s ", texts[ANN]);
    const struct {
        const char *value;
        enum hub_carrier carrier;
    } good[] = {{bearer, HUB_BY_BEARER}, {basic.data, HUB_BY_BASIC}};
    for (size_t i = 0; i < HUB_COUNT(good); i++) {
        ask(HUB_GET, "/d/lab/x");
        send("Authorization", good[i].value);
        cr_assert_eq(identify(), HUB_OK, "%s", err.detail);
        cr_expect_eq(request.carrier, good[i].carrier);
        cr_expect_str_eq(request.principal.token, "ann");
    }
    ask(HUB_GET, "/");
    send("Authorization", bearer);
    send("authorization", bearer);
    cr_expect_eq(identify(), HUB_INVALID, "two headers");
    ask(HUB_GET, "/");
    send("Authorization", "Bearer hf_abc");
    cr_expect_eq(identify(), HUB_OK, "somebody else's");
    cr_expect_null(request.principal.token);
}

Test(carrier, refuses_what_is_no_token_here)
{
    char text[100];
    for (unsigned i = SESSION; i <= OLD; i++) { /* a session is good as a cookie alone */
        ask(HUB_GET, "/");
        snprintf(text, sizeof text, "Bearer %s", texts[i]);
        send("Authorization", text);
        cr_expect_eq(identify(), HUB_DENIED);
        cr_expect_eq(err.problem, HUB_PROBLEM_BAD_TOKEN);
        cr_expect_null(strstr(err.detail, texts[i]), "no text has it");
    }
}

Test(carrier, is_a_cookie)
{
    char many[200];
    snprintf(many, sizeof many, "a=b; %s ;c", cookie(HUB_SESSION_COOKIE, texts[SESSION]));
    const char *const good[] = {cookie(HUB_SESSION_COOKIE, texts[SESSION]), many,
                                cookie(HUB_SESSION_COOKIE_TLS, texts[SESSION])};
    for (size_t i = 0; i < HUB_COUNT(good); i++) {
        ask(HUB_GET, "/");
        send("Cookie", good[i]);
        cr_assert_eq(identify(), HUB_OK);
        cr_expect_eq(request.carrier, HUB_BY_COOKIE, "%s", good[i]);
        cr_expect_str_eq(request.principal.token, "ann");
    }
    const char *const bad[] = {cookie(HUB_SESSION_COOKIE, texts[ANN]), cookie("xmh_session", texts[SESSION]),
                               cookie(HUB_SESSION_COOKIE, "mh_"), HUB_SESSION_COOKIE, ""};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        ask(HUB_GET, "/");
        send("Cookie", bad[i]);
        cr_assert_eq(identify(), HUB_OK, "one that is not good is none");
        cr_expect_eq(request.carrier, HUB_BY_NOTHING, "%s", bad[i]);
    }
    ask(HUB_GET, "/");
    send("Cookie", cookie(HUB_SESSION_COOKIE, texts[SESSION]));
    send("Cookie", cookie(HUB_SESSION_COOKIE, texts[OLD]));
    cr_assert_eq(identify(), HUB_OK);
    cr_expect_eq(request.carrier, HUB_BY_NOTHING, "two that differ");
}

/* A link of `path`, without the beginning of its URL. */
static const char *link_to(const char *path)
{
    static char out[KIB];
    char text[100];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(KIB);
    ask(HUB_POST, "/api/v1/links");
    snprintf(text, sizeof text, "Bearer %s", texts[ANN]);
    send("Authorization", text);
    cr_assert_eq(identify(), HUB_OK);
    request.base_url = "http://hub";
    cr_assert_eq(hub_request_write_link(&request, path, hub_time_now_s() + 60, &url, &err), HUB_OK, "%s",
                 err.detail);
    cr_assert(hub_view_starts(hub_buf_view(&url), "http://hub/"));
    snprintf(out, sizeof out, "%s", url.data + strlen("http://hub"));
    return out;
}

static enum hub_status follow(enum hub_method method, const char *target)
{
    char copy[KIB];
    snprintf(copy, sizeof copy, "%s", target);
    ask(method, copy);
    return identify();
}

Test(carrier, is_a_link)
{
    cr_assert_eq(follow(HUB_GET, link_to("/d/lab/a%20b?at=5")), HUB_OK, "%s", err.detail);
    cr_expect_eq(request.carrier, HUB_BY_LINK);
    cr_expect_str_eq(request.principal.token, "ann");
    cr_expect(request.principal.reads_only);
    cr_expect_str_eq(request.query_text, "at=5", "no log and no cache has the signature");
    cr_expect_eq(request.query_count, 1);
    cr_expect_eq(follow(HUB_HEAD, link_to("/d/lab/x")), HUB_OK);
    cr_expect_eq(follow(HUB_POST, link_to("/d/lab/x")), HUB_DENIED, "it only reads");
}

/* The link with another path in front of its query. */
static enum hub_status move(const char *link, const char *path)
{
    char target[2 * KIB];
    snprintf(target, sizeof target, "%s%s", path, strchr(link, '?'));
    return follow(HUB_GET, target);
}

Test(carrier, is_a_link_of_its_path_alone)
{
    char link[KIB];
    snprintf(link, sizeof link, "%s", link_to("/d/lab/x"));
    cr_expect_eq(move(link, "/d/lab/x"), HUB_OK);
    cr_expect_eq(move(link, "/d/lab/%78"), HUB_OK, "the same path");
    const char *const others[] = {"/d/lab/y", "/d/lab/x/y", "/d/lab", "/d/lab/X"};
    for (size_t i = 0; i < HUB_COUNT(others); i++)
        cr_expect_eq(move(link, others[i]), HUB_DENIED, "%s", others[i]);
    snprintf(link, sizeof link, "%s", link_to("/d/lab/"));
    const char *const below[] = {"/d/lab/x", "/d/lab/x/y", "/d/lab/"};
    for (size_t i = 0; i < HUB_COUNT(below); i++)
        cr_expect_eq(move(link, below[i]), HUB_OK, "%s", below[i]);
    const char *const beside[] = {"/d/lab", "/d/lab2/x", "/d/", "/api/lab/x"};
    for (size_t i = 0; i < HUB_COUNT(beside); i++)
        cr_expect_eq(move(link, beside[i]), HUB_DENIED, "%s", beside[i]);
}

Test(carrier, is_no_link_that_is_damaged)
{
    char link[KIB];
    snprintf(link, sizeof link, "%s", link_to("/d/lab/x"));
    for (char *at = strchr(link, '?') + 1; *at; at++) { /* one character that is another */
        const char was = *at;
        if (was == '&' || was == '=')
            continue;
        *at = was == '1' ? '2' : '1';
        const enum hub_status st = follow(HUB_GET, link);
        cr_expect(st == HUB_DENIED || request.carrier == HUB_BY_NOTHING, "%s", link);
        *at = was;
    }
    cr_expect_eq(follow(HUB_GET, "/d/lab/x?exp=1&as=a&sig=b"), HUB_DENIED);
    cr_expect_eq(follow(HUB_GET, "/d/lab/x?exp=1&as=a"), HUB_OK, "parameters as any");
    cr_expect_eq(request.query_count, 2);
}

Test(carrier, is_a_user_of_a_proxy)
{
    ask(HUB_GET, "/");
    cr_assert_eq(hub_request_name_user(&request, "ann", " robots , Domain Users,,", &err), HUB_OK);
    cr_expect_str_eq(request.principal.user, "ann");
    cr_assert_eq(request.principal.group_count, 2);
    cr_expect_str_eq(request.principal.groups[0], "robots");
    cr_expect_str_eq(request.principal.groups[1], "Domain Users");
    ask(HUB_GET, "/");
    cr_expect_eq(hub_request_name_user(&request, "", "robots", &err), HUB_OK);
    cr_expect_null(request.principal.user);
    cr_expect_eq(request.principal.group_count, 0, "groups are of a user");
    cr_expect_eq(hub_request_name_user(&request, " ann", NULL, &err), HUB_INVALID);
    cr_expect_eq(hub_request_name_user(&request, "ann", "robots\x01", &err), HUB_INVALID);
}

/* A user's link has the user's groups of when it was made. */
Test(carrier, is_a_link_of_a_user)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(KIB);
    ask(HUB_POST, "/api/v1/links");
    cr_expect_eq(hub_request_write_link(&request, "/d/x", 1, &url, &err), HUB_DENIED, "nobody has signed in");
    cr_assert_eq(hub_request_name_user(&request, "ann b", "robots,arms", &err), HUB_OK);
    request.carrier = HUB_BY_PROXY;
    request.base_url = "";
    cr_assert_eq(hub_request_write_link(&request, "/d/x", hub_time_now_s() + 60, &url, &err), HUB_OK);
    cr_assert_eq(follow(HUB_GET, url.data), HUB_OK, "%s", err.detail);
    cr_expect_str_eq(request.principal.user, "ann b");
    cr_assert_eq(request.principal.group_count, 2);
    cr_expect_str_eq(request.principal.groups[1], "arms");
    url.size = 0;
    cr_expect_eq(hub_request_write_link(&request, "/d/x", 1, &url, &err), HUB_DENIED, "a link makes none");
}
