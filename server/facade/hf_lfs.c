/* Git LFS, as far as a push wants it: which objects are to be sent and where to, the objects, and whether
 * they came. The address of an object carries the right to send it, for clients send no token there. */
#include "server/facade/handlers.h"
#include "server/facade/hf_lfs_body.h"
#include "server/facade/hf_push.h"

#include "storage/access/link.h"
#include "storage/deposits/deposit.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/truth/quotas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_BYTES = 8 * 1024 * 1024, HOURS_S = 24 * 3600 };
#define ANYBODY "anybody"
#define LFS_TYPE "application/vnd.git-lfs+json"

/* ---- addresses ---- */

/* What is signed is no path that a link for readers could be of. */
static enum hub_status write_signed(const char *repo, const char *oid, uint64_t size, struct hub_buf *out,
                                    struct hub_error *err)
{
    return hub_buf_addf(out, err, "PUT object %s %" PRIu64 " of %s", oid, size, repo);
}

static enum hub_status sign(const struct hub_request *request, const char *repo,
                            const struct hub_lfs_object *object, int64_t until_s, const char *by,
                            char out[HUB_LINK_SIGNATURE + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!key)
        return hub_fail(err, HUB_UNSUPPORTED, "this hub has no key that signs addresses of objects");
    HUB_TRY(write_signed(repo, object->oid, object->size, &text, err));
    const struct hub_link link = {hub_buf_view(&text), hub_view_of(by), until_s, 0};
    return hub_link_sign(key, &link, out, err);
}

/* .../info/lfs/objects/OID/SIZE?key=UNTIL-BY-SIGNATURE */
static enum hub_status write_address(const struct hub_request *request, const char *repo,
                                     const struct hub_lfs_object *object, struct hub_buf *out,
                                     struct hub_error *err)
{
    char signature[HUB_LINK_SIGNATURE + 1];
    const int64_t until_s = hub_time_now_s() + HOURS_S;
    const char *by = request->token ? request->token->id : ANYBODY;
    HUB_TRY(sign(request, repo, object, until_s, by, signature, err));
    return hub_buf_addf(out, err, "%s/datasets/%s/%s/info/lfs/objects/%s/%" PRIu64 "?key=%" PRId64 "-%s-%s",
                        hub_base_url(request), hub_request_capture(request, "org").data,
                        hub_request_capture(request, "name").data, object->oid, object->size, until_s, by,
                        signature);
}

/* ---- which are to be sent ---- */

struct batch {
    struct hub_request *request;
    struct hub_hf_written written;
    struct hub_json json;
    uint64_t left;      /* bytes that fit below all prefixes with a quota */
    const char *prefix; /* of the one with the least room; NULL: there is none */
};

static void batch_dispose(struct batch *b)
{
    hub_hf_written_dispose(&b->written);
}

/* Whoever names a digest learns nothing of what others have: it is here if the asker sent it, or the repo
 * has it. */
static enum hub_status is_here(const struct batch *b, const struct hub_lfs_object *object, bool *out,
                               struct hub_error *err)
{
    const struct hub_app *app = b->request->app;
    struct hub_push_file file = {0};
    struct hub_deposit_row row = {.root = b->written.row.root, .who = b->written.who};
    memcpy(file.sha256, object->sha256, sizeof file.sha256);
    memcpy(row.sha256, object->sha256, sizeof row.sha256);
    enum hub_status st = hub_push_object_find(app->truth, b->written.row.id, &file, err);
    *out = !st && file.size == object->size;
    if (st != HUB_NOT_FOUND)
        return st;
    st = hub_deposit_has(app->deposits, &row, NULL);
    *out = !st && row.size == object->size;
    return !st || st == HUB_NOT_FOUND ? HUB_OK : hub_fail(err, st, "the objects cannot be read");
}

static enum hub_status put_actions(struct batch *b, const struct hub_lfs_object *object,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB), verify = HUB_BUF_INIT(16 * KIB);
    const struct hub_request *request = b->request;
    HUB_TRY(write_address(request, b->written.row.id, object, &url, err));
    HUB_TRY(hub_buf_addf(&verify, err, "%s/datasets/%s/%s/info/lfs/verify", hub_base_url(request),
                         hub_request_capture(request, "org").data,
                         hub_request_capture(request, "name").data));
    hub_json_put_object(&b->json, "actions");
    hub_json_put_object(&b->json, "upload");
    hub_json_put_text(&b->json, "href", url.data);
    hub_json_put_object(&b->json, "header");
    hub_json_end_object(&b->json);
    hub_json_end_object(&b->json);
    hub_json_put_object(&b->json, "verify");
    hub_json_put_text(&b->json, "href", verify.data);
    hub_json_end_object(&b->json);
    hub_json_end_object(&b->json);
    return hub_json_status(&b->json);
}

static enum hub_status note_quota(void *user, const struct hub_quota *quota, uint64_t used,
                                  struct hub_error *err)
{
    struct batch *b = user;
    const uint64_t left = quota->bytes > used ? quota->bytes - used : 0;
    (void)err;
    if (hub_view_starts(hub_view_of(b->written.row.id), quota->prefix) && left < b->left) {
        b->left = left;
        b->prefix = quota->prefix;
    }
    return HUB_OK;
}

/* Before a byte is sent. */
static enum hub_status check_room(struct batch *b, const struct hub_lfs_object *object, struct hub_error *err)
{
    const struct hub_deposits *deposits = b->request->app->deposits;
    if (object->size > b->left)
        return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_QUOTA_EXCEEDED,
                           "the quota of '%.200s' has room for %" PRIu64
                           " bytes more, and the object has %" PRIu64,
                           b->prefix, b->left, object->size);
    b->left -= b->prefix ? object->size : 0;
    return hub_deposits_room(deposits->truth, object->size, deposits->budget_bytes, err);
}

static void put_error(struct batch *b, unsigned code, const char *message)
{
    hub_json_put_object(&b->json, "error");
    hub_json_put_uint(&b->json, "code", code);
    hub_json_put_text(&b->json, "message", message);
    hub_json_end_object(&b->json);
}

static enum hub_status answer_object(void *user, const struct hub_lfs_object *object, struct hub_error *err)
{
    struct batch *b = user;
    struct hub_error why = {0};
    bool here = false;
    HUB_TRY(is_here(b, object, &here, err));
    hub_json_object(&b->json);
    hub_json_put_text(&b->json, "oid", object->oid);
    hub_json_put_uint(&b->json, "size", object->size);
    if (!here && check_room(b, object, &why))
        put_error(b, 507, why.detail);
    else if (!here)
        HUB_TRY(put_actions(b, object, err));
    hub_json_end_object(&b->json);
    return hub_json_status(&b->json);
}

enum hub_status hub_hf_lfs_batch(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(batch_dispose) struct batch b = {.request = request, .left = UINT64_MAX};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &b.written, err));
    HUB_TRY(hub_quotas_each(request->app->truth, note_quota, &b, err));
    b.json = hub_json_to(hub_response_buffer(response, 200, LFS_TYPE, ANSWER_BYTES), err);
    hub_json_object(&b.json);
    hub_json_put_text(&b.json, "transfer", "basic");
    hub_json_put_array(&b.json, "objects");
    HUB_TRY(hub_lfs_batch_read(request->body, answer_object, &b, err));
    hub_json_end_array(&b.json);
    hub_json_end_object(&b.json);
    return hub_json_status(&b.json);
}

static enum hub_status note(void *user, const struct hub_lfs_object *object, struct hub_error *err)
{
    (void)err;
    *(struct hub_lfs_object *)user = *object;
    return HUB_OK;
}

enum hub_status hub_hf_lfs_verify(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(batch_dispose) struct batch b = {.request = request};
    struct hub_lfs_object object = {0};
    bool here = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &b.written, err));
    HUB_TRY(hub_lfs_object_read(request->body, note, &object, err));
    HUB_TRY(is_here(&b, &object, &here, err));
    if (!here)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "the object %s was not sent",
                           object.oid);
    return hub_buf_add_text(hub_response_buffer(response, 200, LFS_TYPE, KIB), "{}\n", err);
}

/* ---- an object that comes ---- */

struct incoming_object {
    struct hub_body_sink sink; /* first */
    struct hub_deposit deposit;
    struct hub_lfs_object object;
};

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    return hub_deposit_write(&((struct incoming_object *)sink)->deposit, bytes, err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct incoming_object *in = (struct incoming_object *)sink;
    hub_deposit_abandon(&in->deposit);
    free(in);
}

static enum hub_status refuse(const char *why, struct hub_error *err)
{
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                       "the address of the object %s: ask for another", why);
}

/* The signer, as far as that token is still one that may write there. */
static enum hub_status find_signer(struct hub_request *request, const char *repo, struct hub_view by,
                                   char who[HUB_WRITER_CHARS], struct hub_error *err)
{
    const struct hub_token *token = NULL;
    if (!hub_view_is(by, ANYBODY) &&
        (!request->access || hub_access_find_id(request->access, by, &request->principal.address,
                                                hub_time_now_ns() / 1000000, &token) != HUB_TOKEN_OK))
        return refuse("was made with a token that is not valid any more", err);
    request->principal.token = token ? token->name : NULL;
    HUB_TRY(hub_hf_may_write(request, hub_view_of(repo), err));
    hub_request_writer(request, who);
    return HUB_OK;
}

/* UNTIL-BY-SIGNATURE of the query, which no log shows. False: it is not there. */
static bool read_key(struct hub_request *request, uint64_t *until_s, struct hub_view *by,
                     struct hub_view *signature)
{
    struct hub_view key = {NULL, 0};
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "key"))
            key = request->query[i].value;
    if (request->query_text[0])
        request->text[request->query_text - request->text] = '\0';
    const char *first = key.size ? memchr(key.data, '-', key.size) : NULL;
    if (!first || key.size < HUB_LINK_SIGNATURE + 1 ||
        !hub_number_read((struct hub_view){key.data, (size_t)(first - key.data)}, INT64_MAX, until_s))
        return false;
    *signature = (struct hub_view){key.data + key.size - HUB_LINK_SIGNATURE, HUB_LINK_SIGNATURE};
    if (signature->data <= first + 1)
        return false;
    *by = (struct hub_view){first + 1, (size_t)(signature->data - first - 2)};
    return true;
}

static enum hub_status check_address(struct hub_request *request, const char *repo,
                                     struct hub_lfs_object *object, char who[HUB_WRITER_CHARS],
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    uint64_t until_s = 0;
    struct hub_view by = {NULL, 0}, signature = {NULL, 0};
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!read_key(request, &until_s, &by, &signature) || !key ||
        !hub_lfs_name_read(hub_request_capture(request, "oid"), object) ||
        !hub_number_read(hub_request_capture(request, "size"), INT64_MAX, &object->size))
        return refuse("is damaged", err);
    HUB_TRY(write_signed(repo, object->oid, object->size, &text, err));
    const struct hub_link link = {hub_buf_view(&text), by, (int64_t)until_s, 0};
    if (!hub_link_is_signed(key, &link, signature))
        return refuse("is damaged, or of another object", err);
    if (until_s <= (uint64_t)hub_time_now_s())
        return refuse("has expired", err);
    return find_signer(request, repo, by, who, err);
}

static enum hub_status open_object(struct hub_request *request, uint64_t size, struct incoming_object *in,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    char who[HUB_WRITER_CHARS];
    HUB_TRY(hub_hf_written_id(request, &id, err));
    HUB_TRY(check_address(request, id.data, &in->object, who, err));
    if (size != HUB_BODY_SIZE_UNKNOWN && size != in->object.size)
        return hub_fail(err, HUB_INVALID, "the object has %" PRIu64 " bytes, and %" PRIu64 " are announced",
                        in->object.size, size);
    HUB_TRY(hub_repo_find(request->app->truth, id.data, &row, err));
    return hub_deposit_begin(request->app->deposits, row.root, who, in->object.size, &in->deposit, err);
}

enum hub_status hub_hf_lfs_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                struct hub_error *err)
{
    struct incoming_object *in;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct incoming_object){.sink = {take, free_incoming}, .deposit = HUB_DEPOSIT_INIT};
    const enum hub_status st = open_object(request, size, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

enum hub_status hub_hf_lfs_done(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct incoming_object *in = (struct incoming_object *)request->sink;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_deposit_finish(&in->deposit, in->object.sha256, NULL, err));
    (void)hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB);
    return hub_response_header(response, err, "ETag", "\"%s\"", in->object.oid);
}
