/* See hf_lfs_address.h. */
#include "server/facade/hf_lfs_address.h"

#include "storage/access/link.h"
#include "storage/text/number.h"
#include "storage/text/time.h"

#include <inttypes.h>

enum { HOURS_S = 24 * 3600 };
#define ANYBODY "anybody"

/* ---- written ---- */

/* What is signed is no path that a link for readers could be of. */
static enum hub_status write_signed(const char *repo, const struct hub_lfs_target *target,
                                    struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "PUT ", err));
    if (target->part_bytes)
        HUB_TRY(
            hub_buf_addf(out, err, "part %" PRIu32 " by %" PRIu64 " of ", target->part, target->part_bytes));
    return hub_buf_addf(out, err, "object %s %" PRIu64 " of %s", target->object.oid, target->object.size,
                        repo);
}

static enum hub_status sign(const struct hub_request *request, const char *repo,
                            const struct hub_lfs_target *target, int64_t until_s, const char *by,
                            char out[HUB_LINK_SIGNATURE + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!key)
        return hub_fail(err, HUB_UNSUPPORTED, "this hub has no key that signs addresses of objects");
    HUB_TRY(write_signed(repo, target, &text, err));
    const struct hub_link link = {hub_buf_view(&text), hub_view_of(by), until_s, 0};
    return hub_link_sign(key, &link, out, err);
}

/* .../info/lfs/objects/OID/SIZE[/PART_BYTES[/PART]]?key=UNTIL-BY-SIGNATURE */
enum hub_status hub_lfs_address_write(const struct hub_request *request, const char *repo,
                                      const struct hub_lfs_target *target, struct hub_buf *out,
                                      struct hub_error *err)
{
    char signature[HUB_LINK_SIGNATURE + 1];
    const int64_t until_s = hub_time_now_s() + HOURS_S;
    const char *by = request->token ? request->token->id : ANYBODY;
    HUB_TRY(sign(request, repo, target, until_s, by, signature, err));
    HUB_TRY(hub_buf_addf(out, err, "%s/datasets/%s/%s/info/lfs/objects/%s/%" PRIu64, hub_base_url(request),
                         hub_request_capture(request, "org").data, hub_request_capture(request, "name").data,
                         target->object.oid, target->object.size));
    if (target->part_bytes)
        HUB_TRY(hub_buf_addf(out, err, "/%" PRIu64, target->part_bytes));
    if (target->part)
        HUB_TRY(hub_buf_addf(out, err, "/%" PRIu32, target->part));
    return hub_buf_addf(out, err, "?key=%" PRId64 "-%s-%s", until_s, by, signature);
}

/* ---- read ---- */

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

/* What the path names; a route without the numbers has none. */
static bool read_target(const struct hub_request *request, struct hub_lfs_target *out)
{
    const struct hub_view bytes = hub_request_capture(request, "bytes"),
                          part = hub_request_capture(request, "part");
    uint64_t number = 0;
    if (!hub_lfs_name_read(hub_request_capture(request, "oid"), &out->object) ||
        !hub_number_read(hub_request_capture(request, "size"), INT64_MAX, &out->object.size) ||
        (bytes.data && (!hub_number_read(bytes, INT64_MAX, &out->part_bytes) || !out->part_bytes)) ||
        (part.data && (!hub_number_read(part, UINT32_MAX, &number) || !number)))
        return false;
    out->part = (uint32_t)number;
    return true;
}

enum hub_status hub_lfs_address_read(struct hub_request *request, const char *repo,
                                     struct hub_lfs_target *out, char who[HUB_WRITER_CHARS],
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    uint64_t until_s = 0;
    struct hub_view by = {NULL, 0}, signature = {NULL, 0};
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    *out = (struct hub_lfs_target){0};
    if (!read_key(request, &until_s, &by, &signature) || !key || !read_target(request, out))
        return refuse("is damaged", err);
    HUB_TRY(write_signed(repo, out, &text, err));
    const struct hub_link link = {hub_buf_view(&text), by, (int64_t)until_s, 0};
    if (!hub_link_is_signed(key, &link, signature))
        return refuse("is damaged, or of another object", err);
    if (until_s <= (uint64_t)hub_time_now_s())
        return refuse("has expired", err);
    return find_signer(request, repo, by, who, err);
}
