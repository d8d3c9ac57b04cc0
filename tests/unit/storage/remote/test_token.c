/* storage/remote/token.c: a service account's file, and what is asked for with it. */
#include "storage/io/fs.h"
#include "storage/remote/remote.h"
#include "storage/remote/token.h"
#include "storage/text/base64.h"
#include "storage/text/json.h"
#include "tests/support/answers.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>

#define TOKEN_URI "http://hub/token"
#define GRANT "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="

static char folder[32], path[64];
static EVP_PKEY *key;

static void begin(void)
{
    strcpy(folder, "/tmp/hub-token-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/account.json", folder);
    key = EVP_RSA_gen(1024); /* short, so that it is made fast */
    cr_assert_not_null(key);
}

static void end(void)
{
    EVP_PKEY_free(key);
    cr_assert_eq(hub_fs_remove(AT_FDCWD, folder, NULL), HUB_OK);
}

TestSuite(token, .init = begin, .fini = end);

static json_t *account(void)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *pem;
    cr_assert_eq(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    const long size = BIO_get_mem_data(bio, &pem);
    json_t *out = json_pack("{s:s, s:s, s:s, s:s, s:s#}", "type", "service_account", "client_email",
                            "robot@lab.example", "private_key_id", "k1", "token_uri", TOKEN_URI,
                            "private_key", pem, (int)size);
    BIO_free(bio);
    cr_assert_not_null(out);
    return out;
}

static enum hub_status open_text(const char *text, struct hub_google_account **out, struct hub_error *err)
{
    const struct hub_transport_options options = {.token = "not this one",
                                                  .other_hosts = HUB_OTHER_HOSTS_ANY};
    cr_assert_eq(hub_fs_write(AT_FDCWD, path, hub_view_of(text), 0600, NULL), HUB_OK);
    return hub_google_account_open(path, &options, out, err);
}

static enum hub_status open_document(const json_t *document, struct hub_google_account **out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *text = json_dumps(document, 0);
    return open_text(text, out, err);
}

/* ---- the file ---- */

Test(token, a_file_that_is_none_is_refused)
{
    static const char *const members[] = {"type", "client_email", "token_uri", "private_key"};
    static const char *const texts[] = {"", "[]", "{}", "not json", "{\"type\":\"authorized_user\"}"};
    struct hub_google_account *none = NULL;
    for (size_t i = 0; i < HUB_COUNT(members); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *document = account();
        struct hub_error err = {0};
        json_object_set_new(document, members[i], json_string(""));
        cr_expect_eq(open_document(document, &none, &err), HUB_DENIED, "%s", members[i]);
        cr_expect_eq(err.problem, HUB_PROBLEM_BAD_CREDENTIALS);
        cr_expect_null(strstr(err.detail, "PRIVATE KEY"), "no secret is in the message");
    }
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        cr_expect_eq(open_text(texts[i], &none, NULL), HUB_DENIED, "%s", texts[i]);
    cr_expect_eq(
        hub_google_account_open("/nonexistent", &(struct hub_transport_options){.token = NULL}, &none, NULL),
        HUB_DENIED);
}

Test(token, a_key_that_is_not_rsa_is_refused)
{
    struct hub_google_account *none = NULL;
    EVP_PKEY_free(key);
    key = EVP_EC_gen("P-256");
    HUB_CLEANUP(hub_json_decrefp) json_t *document = account();
    cr_expect_eq(open_document(document, &none, NULL), HUB_DENIED);
}

/* ---- the token ---- */

/* base64url without padding, as text */
static void decode(struct hub_view part, struct hub_buf *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf padded = HUB_BUF_INIT(8 * KIB);
    cr_assert_eq(hub_buf_add_view(&padded, part, NULL), HUB_OK);
    for (size_t i = 0; i < padded.size; i++)
        padded.data[i] = padded.data[i] == '-' ? '+' : padded.data[i] == '_' ? '/' : padded.data[i];
    while (padded.size % 4)
        cr_assert_eq(hub_buf_add_text(&padded, "=", NULL), HUB_OK);
    cr_assert_eq(hub_base64_decode(hub_buf_view(&padded), out, NULL), HUB_OK);
}

static bool is_signed(struct hub_view text, struct hub_view signature)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    const bool good = EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                      EVP_DigestVerify(context, (const unsigned char *)signature.data, signature.size,
                                       (const unsigned char *)text.data, text.size) == 1;
    EVP_MD_CTX_free(context);
    return good;
}

Test(token, it_is_asked_for_by_a_signed_assertion)
{
    static const struct answer answers[] = {
        {.url = TOKEN_URI, .body = "{\"access_token\":\"t1\",\"expires_in\":3600}"}, {NULL}};
    HUB_CLEANUP(hub_json_decrefp) json_t *document = account();
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf head = HUB_BUF_INIT(8 * KIB), claims = HUB_BUF_INIT(8 * KIB),
                   signature = HUB_BUF_INIT(8 * KIB);
    struct hub_google_account *a = NULL;
    const char *token = NULL;
    answers_set(answers);
    cr_assert_eq(open_document(document, &a, NULL), HUB_OK);
    cr_expect_str_eq(answers_token(), "", "the remote's token is none of the service of tokens");
    cr_expect_eq(answers_options()->other_hosts, HUB_OTHER_HOSTS_NONE);
    cr_assert_eq(hub_google_account_token(a, &token, NULL), HUB_OK);
    cr_expect_str_eq(token, "t1");
    const char *form = answers_form(0);
    cr_assert_eq(strncmp(form, GRANT, sizeof GRANT - 1), 0, "%s", form);
    const char *text = form + sizeof GRANT - 1, *dot = strchr(text, '.'), *last = strrchr(text, '.');
    cr_assert(dot && last > dot);
    decode((struct hub_view){text, (size_t)(dot - text)}, &head);
    decode((struct hub_view){dot + 1, (size_t)(last - dot - 1)}, &claims);
    decode(hub_view_of(last + 1), &signature);
    cr_expect_str_eq(head.data, "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k1\"}");
    HUB_CLEANUP(hub_json_decrefp) json_t *said = json_loads(claims.data, 0, NULL);
    cr_expect_str_eq(hub_member_text(said, "iss"), "robot@lab.example");
    cr_expect_str_eq(hub_member_text(said, "aud"), TOKEN_URI);
    cr_expect_str_eq(hub_member_text(said, "scope"), "https://www.googleapis.com/auth/devstorage.read_only");
    cr_expect_eq(hub_member_uint(said, "exp") - hub_member_uint(said, "iat"), 3600);
    cr_expect(is_signed((struct hub_view){text, (size_t)(last - text)}, hub_buf_view(&signature)));
    hub_google_account_free(a);
}

Test(token, one_that_is_still_good_is_not_asked_for_again)
{
    static const struct answer answers[] = {
        {.url = TOKEN_URI, .body = "{\"access_token\":\"t1\",\"expires_in\":3600}"}, {NULL}};
    HUB_CLEANUP(hub_json_decrefp) json_t *document = account();
    struct hub_google_account *a = NULL;
    const char *token = NULL;
    answers_set(answers);
    cr_assert_eq(open_document(document, &a, NULL), HUB_OK);
    cr_assert_eq(hub_google_account_token(a, &token, NULL), HUB_OK);
    cr_assert_eq(hub_google_account_token(a, &token, NULL), HUB_OK);
    cr_expect_null(token, "the last one");
    cr_expect_eq(answers_count(), 1);
    hub_google_account_free(a);
}

Test(token, answers_without_one)
{
    static const struct {
        enum hub_status st;
        const char *body;
        enum hub_status seen;
        const char *problem;
    } cases[] = {
        {HUB_OK, "", HUB_CORRUPT, "protocol"},
        {HUB_OK, "<html>", HUB_CORRUPT, "protocol"},
        {HUB_OK, "{\"expires_in\":3600}", HUB_CORRUPT, "protocol"},
        {HUB_OK, "{\"access_token\":\"\"}", HUB_CORRUPT, "protocol"},
        {HUB_OK, "{\"access_token\":7}", HUB_CORRUPT, "protocol"},
        {HUB_INVALID, "invalid_grant", HUB_DENIED, "bad-credentials"},
        {HUB_DENIED, "", HUB_DENIED, "bad-credentials"},
        {HUB_IO, "", HUB_IO, "bad-credentials"}, /* tried again later */
        {HUB_CANCELLED, "", HUB_CANCELLED, ""},
    };
    HUB_CLEANUP(hub_json_decrefp) json_t *document = account();
    struct hub_google_account *a = NULL;
    cr_assert_eq(open_document(document, &a, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct answer answers[] = {{.url = TOKEN_URI, .status = cases[i].st, .body = cases[i].body},
                                         {NULL}};
        struct hub_error err = {0};
        const char *token = "left";
        answers_set(answers);
        cr_expect_eq(hub_google_account_token(a, &token, &err), cases[i].seen, "%zu", i);
        cr_expect_str_eq(hub_problem_name(err.problem), cases[i].problem, "%zu", i);
        cr_expect_null(token);
    }
    hub_google_account_free(a);
}
