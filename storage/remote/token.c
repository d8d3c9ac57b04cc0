/* Tokens of service accounts: see token.h. */
#include "storage/remote/token.h"

#include "storage/io/fs.h"
#include "storage/text/base64.h"
#include "storage/text/json.h"
#include "storage/text/time.h"

#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdlib.h>

enum { FILE_BYTES = 64 * 1024, ANSWER_BYTES = 64 * 1024, HOUR_S = 3600, EARLY_S = 300 };

static const char scope[] = "https://www.googleapis.com/auth/devstorage.read_only";

struct hub_google_account {
    struct hub_transport *transport; /* its own: tokens are asked for while other bytes come */
    char *email, *key_id, *token_uri, *token;
    EVP_PKEY *key;
    int64_t expires_s, lifetime_s;
};

static void free_context(EVP_MD_CTX **context)
{
    EVP_MD_CTX_free(*context);
}

static enum hub_status dup_member(char **out, const json_t *document, const char *key, const char *path,
                                  struct hub_error *err)
{
    const char *text = json_string_value(json_object_get(document, key));
    if (!text || !*text)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS, "'%.200s' has no '%s'", path, key);
    return hub_dup(out, text, err);
}

static enum hub_status read_key(struct hub_google_account *a, const char *pem, const char *path,
                                struct hub_error *err)
{
    BIO *bio = pem ? BIO_new_mem_buf(pem, -1) : NULL;
    a->key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
    BIO_free(bio);
    if (!a->key || EVP_PKEY_base_id(a->key) != EVP_PKEY_RSA)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS,
                           "'%.200s' has no RSA key as 'private_key'", path);
    return HUB_OK;
}

static enum hub_status read_account(struct hub_google_account *a, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(FILE_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    struct hub_error why = {0};
    if (hub_fs_read(AT_FDCWD, path, &text, &why))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS, "%s", why.detail);
    if (hub_json_parse(hub_buf_view(&text), FILE_BYTES, &document, NULL))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS,
                           "'%.200s' is not a service account's JSON file", path);
    const char *type = json_string_value(json_object_get(document, "type"));
    if (!type || strcmp(type, "service_account") != 0)
        return hub_fail_as(
            err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS,
            "'%.200s' holds credentials of type '%.40s': only a service account's JSON file works here", path,
            type ? type : "");
    HUB_TRY(dup_member(&a->email, document, "client_email", path, err));
    HUB_TRY(dup_member(&a->token_uri, document, "token_uri", path, err));
    const char *key_id = json_string_value(json_object_get(document, "private_key_id"));
    HUB_TRY(hub_dup(&a->key_id, key_id ? key_id : "", err));
    const enum hub_status st =
        read_key(a, json_string_value(json_object_get(document, "private_key")), path, err);
    explicit_bzero(text.data, text.size);
    return st;
}

enum hub_status hub_google_account_open(const char *path, const struct hub_transport_options *options,
                                        struct hub_google_account **out, struct hub_error *err)
{
    struct hub_transport_options own = *options;
    struct hub_google_account *a;
    own.token = NULL;
    own.bytes_per_s = 0;
    own.other_hosts = HUB_OTHER_HOSTS_NONE;
    HUB_TRY(hub_new(&a, 1, sizeof *a, err));
    enum hub_status st = read_account(a, path, err);
    if (!st)
        st = hub_transport_new(&own, &a->transport, err);
    if (st)
        hub_google_account_free(a);
    else
        *out = a;
    return st;
}

void hub_google_account_free(struct hub_google_account *a)
{
    if (!a)
        return;
    hub_transport_free(a->transport);
    EVP_PKEY_free(a->key);
    free(a->email);
    free(a->key_id);
    free(a->token_uri);
    free(a->token);
    free(a);
}

/* ---- the assertion ---- */

/* RFC 4648 section 5, without padding */
static enum hub_status add_base64url(struct hub_buf *out, struct hub_view bytes, struct hub_error *err)
{
    const size_t from = out->size;
    HUB_TRY(hub_base64_encode(bytes, out, err));
    while (out->size > from && out->data[out->size - 1] == '=')
        out->data[--out->size] = '\0';
    for (size_t i = from; i < out->size; i++)
        out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
    return HUB_OK;
}

static enum hub_status add_claims(const struct hub_google_account *a, struct hub_buf *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(8 * KIB), claims = HUB_BUF_INIT(8 * KIB);
    const int64_t now = hub_time_now_s();
    struct hub_json json = hub_json_to(&head, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "alg", "RS256");
    hub_json_put_text(&json, "typ", "JWT");
    hub_json_put_text(&json, "kid", *a->key_id ? a->key_id : NULL);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    json = hub_json_to(&claims, err);
    hub_json_object(&json);
    hub_json_put_text(&json, "iss", a->email);
    hub_json_put_text(&json, "scope", scope);
    hub_json_put_text(&json, "aud", a->token_uri);
    hub_json_put_int(&json, "iat", now);
    hub_json_put_int(&json, "exp", now + HOUR_S);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(add_base64url(out, hub_buf_view(&head), err));
    HUB_TRY(hub_buf_add_text(out, ".", err));
    return add_base64url(out, hub_buf_view(&claims), err);
}

static enum hub_status sign(const struct hub_google_account *a, struct hub_view text, struct hub_buf *out,
                            struct hub_error *err)
{
    HUB_CLEANUP(free_context) EVP_MD_CTX *context = EVP_MD_CTX_new();
    uint8_t signature[1024];
    size_t size = sizeof signature;
    if (!context || EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, a->key) != 1 ||
        EVP_DigestSign(context, signature, &size, (const unsigned char *)text.data, text.size) != 1)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_CREDENTIALS, "the key of '%.200s' cannot sign",
                           a->email);
    return add_base64url(out, (struct hub_view){(const char *)signature, size}, err);
}

static enum hub_status write_form(const struct hub_google_account *a, struct hub_buf *form,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(add_claims(a, &text, err));
    HUB_TRY(hub_buf_addf(form, err,
                         "grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Ajwt-bearer"
                         "&assertion=%s.",
                         text.data));
    return sign(a, hub_buf_view(&text), form, err);
}

/* ---- the token ---- */

static enum hub_status take_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    struct hub_buf *out = fetch->user;
    if (!fetch->done)
        out->size = 0;
    return hub_buf_add(out, bytes.data, bytes.size, err);
}

static enum hub_status request_token(struct hub_google_account *a, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf form = HUB_BUF_INIT(32 * KIB), text = HUB_BUF_INIT(ANSWER_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    struct hub_error why = {0};
    HUB_TRY(write_form(a, &form, err));
    struct hub_fetch fetch = {.url = a->token_uri,
                              .accept = "application/json",
                              .post = true,
                              .form = form.data,
                              .restartable = true,
                              .limit = ANSWER_BYTES,
                              .body = take_body,
                              .user = &text};
    const enum hub_status st = hub_transport_get(a->transport, &fetch, &why);
    if (st)
        return hub_fail_as(err, st == HUB_IO || st == HUB_BUSY || st == HUB_CANCELLED ? st : HUB_DENIED,
                           st == HUB_CANCELLED ? HUB_PROBLEM_NONE : HUB_PROBLEM_BAD_CREDENTIALS,
                           "%.200s refuses a token for '%.200s': %s", a->token_uri, a->email, why.detail);
    if (hub_json_parse(hub_buf_view(&text), ANSWER_BYTES, &document, NULL))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s is not JSON",
                           a->token_uri);
    const char *token = json_string_value(json_object_get(document, "access_token"));
    const json_int_t seconds = json_integer_value(json_object_get(document, "expires_in"));
    if (!token || !*token)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s has no token",
                           a->token_uri);
    free(a->token);
    a->token = NULL;
    a->lifetime_s = HUB_MIN(HUB_MAX((int64_t)seconds, 1), (int64_t)HOUR_S);
    a->expires_s = hub_time_mono_ms() / 1000 + a->lifetime_s;
    return hub_dup(&a->token, token, err);
}

enum hub_status hub_google_account_token(struct hub_google_account *a, const char **out,
                                         struct hub_error *err)
{
    const int64_t early = HUB_MIN((int64_t)EARLY_S, a->lifetime_s / 2);
    *out = NULL;
    if (a->token && hub_time_mono_ms() / 1000 < a->expires_s - early)
        return HUB_OK;
    HUB_TRY(request_token(a, err));
    *out = a->token;
    return HUB_OK;
}
