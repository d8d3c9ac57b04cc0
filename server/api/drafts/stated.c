/* See stated.h. */
#include "server/api/drafts/stated.h"

#include "server/http/body_sink.h"
#include "storage/drafts/kept.h"
#include "storage/ids/id.h"
#include "storage/text/base64.h"
#include "storage/text/number.h"
#include "storage/truth/drafts.h"

enum { MESSAGE_BYTES = 4096 };

/* ---- headers ---- */

static bool read_number(const char **at, char end, uint64_t *out)
{
    const size_t size = strspn(*at, "0123456789");
    const bool good = hub_number_read((struct hub_view){*at, size}, INT64_MAX, out) && (*at)[size] == end;
    *at += good ? size + (end != '\0') : 0;
    return good;
}

enum hub_status hub_draft_span_read(const char *range, uint64_t body, struct hub_draft_span *out,
                                    struct hub_error *err)
{
    static const char unit[] = "bytes ";
    uint64_t last = 0;
    *out = (struct hub_draft_span){0, body, body};
    if (body == HUB_BODY_SIZE_UNKNOWN && !range)
        return hub_fail(
            err, HUB_INVALID,
            "the size of the file is not known: send Content-Length, or Content-Range: bytes A-B/SIZE");
    if (!range)
        return HUB_OK;
    const char *at = hub_view_starts(hub_view_of(range), unit) ? range + sizeof unit - 1 : "";
    if (!read_number(&at, '-', &out->first) || !read_number(&at, '/', &last) ||
        !read_number(&at, '\0', &out->size) || last < out->first || last >= out->size)
        return hub_fail(err, HUB_INVALID,
                        "Content-Range is bytes FIRST-LAST/SIZE, all three of them numbers");
    out->count = last - out->first + 1;
    return body == out->count || body == HUB_BODY_SIZE_UNKNOWN
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "Content-Range and Content-Length disagree");
}

/* Exactly so many bytes. */
static bool read_base64(struct hub_view text, uint8_t *out, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(2 * HUB_DIGEST_MAX);
    if (hub_base64_decode(text, &bytes, NULL) || bytes.size != size)
        return false;
    memcpy(out, bytes.data, size);
    return true;
}

/* NAME=:BASE64: of a list of such members. False: it is there, and is none. */
static bool read_digest(const char *digest, const char *name, uint8_t *out, size_t size, bool *has)
{
    const char *at = strstr(digest, name);
    while (at && at > digest && !strchr(" ,\t", at[-1])) /* of another name */
        at = strstr(at + 1, name);
    if (!at)
        return true;
    at += strlen(name);
    const size_t chars = strcspn(at, ":");
    *has = at[chars] == ':' && read_base64((struct hub_view){at, chars}, out, size);
    return *has;
}

enum hub_status hub_draft_digest_read(const char *digest, struct hub_stated_digests *out,
                                      struct hub_error *err)
{
    *out = (struct hub_stated_digests){0};
    if (!digest)
        return HUB_OK;
    if (read_digest(digest, "sha-256=:", out->sha256, sizeof out->sha256, &out->has_sha256) &&
        read_digest(digest, "md5=:", out->md5, sizeof out->md5, &out->has_md5) &&
        read_digest(digest, "crc32c=:", out->crc32c, sizeof out->crc32c, &out->has_crc32c) &&
        (out->has_sha256 || out->has_md5 || out->has_crc32c))
        return HUB_OK;
    return hub_fail(
        err, HUB_INVALID,
        "Repr-Digest is sha-256=:BASE64:, md5=:BASE64: or crc32c=:BASE64:, or several of them with "
        "commas between: of all bytes of the file");
}

enum hub_status hub_draft_md5_read(const char *md5, struct hub_stated_digests *out, struct hub_error *err)
{
    uint8_t bytes[HUB_MD5_BYTES];
    if (!md5)
        return HUB_OK;
    if (!read_base64(hub_view_of(md5), bytes, sizeof bytes))
        return hub_fail(err, HUB_INVALID, "Content-MD5 is the MD5 of the body in Base64");
    if (out->has_md5 && memcmp(out->md5, bytes, sizeof bytes) != 0)
        return hub_fail(err, HUB_INVALID, "Content-MD5 and Repr-Digest state two MD5s");
    memcpy(out->md5, bytes, sizeof bytes);
    out->has_md5 = true;
    return HUB_OK;
}

enum hub_status hub_draft_key_read(const char *header, const char **out, struct hub_error *err)
{
    *out = header ? header : "";
    const size_t size = strlen(*out);
    for (size_t i = 0; i < size; i++)
        if ((*out)[i] < '!' || (*out)[i] > '~')
            return hub_fail(err, HUB_INVALID, "Idempotency-Key is of visible ASCII characters");
    return size <= HUB_DRAFT_KEY && (size || !header)
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "Idempotency-Key has 1 to %d characters", HUB_DRAFT_KEY);
}

/* ---- bodies ---- */

/* Where a member of the body goes; NULL: it has no such member. */
static const char **member_of(struct hub_draft_order *order, const char *key)
{
    return strcmp(key, "id") == 0     ? &order->id
           : strcmp(key, "base") == 0 ? &order->base
           : strcmp(key, "from") == 0 ? &order->from
                                      : NULL;
}

static enum hub_status read_member(struct hub_draft_order *out, const char *key, const json_t *value,
                                   struct hub_error *err)
{
    const char **member = member_of(out, key);
    if (strcmp(key, "bytes") == 0) {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return hub_fail(err, HUB_INVALID, "'bytes' is a number: the bytes of all files together");
        out->bytes = (uint64_t)json_integer_value(value);
        return HUB_OK;
    }
    if (!member || (!json_is_string(value) && !json_is_null(value)))
        return hub_fail(err, HUB_INVALID, "'%.40s' is not a text of a draft: id, base, from; or bytes", key);
    *member = json_string_value(value);
    return HUB_OK;
}

enum hub_status hub_draft_body_read(struct hub_view body, json_t **document, struct hub_draft_order *out,
                                    struct hub_error *err)
{
    struct hub_error why = {0};
    const char *key;
    json_t *value;
    *document = NULL;
    *out = (struct hub_draft_order){0};
    if (hub_json_parse(body, body.size, document, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    json_object_foreach(*document, key, value) HUB_TRY(read_member(out, key, value, err));
    if (!out->id)
        return hub_fail(
            err, HUB_INVALID,
            "the body is {\"id\": \"lab/arm-v1\"}, with \"base\": its commit to take its place, \"from\": "
            "\"ID@COMMIT\" to begin with the files of a commit, and \"bytes\": of all files, where they are "
            "known");
    HUB_TRY(hub_id_check(hub_view_of(out->id), err));
    return hub_draft_name_check(out->id, err);
}

enum hub_status hub_draft_message_read(struct hub_view body, json_t **document, const char **message,
                                       struct hub_error *err)
{
    struct hub_error why = {0};
    *document = NULL;
    *message = "";
    if (!body.size)
        return HUB_OK;
    if (hub_json_parse(body, body.size, document, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    const json_t *stated = json_object_get(*document, "message");
    if (stated && !json_is_string(stated))
        return hub_fail(err, HUB_INVALID, "the body is {\"message\": \"...\"}, or empty");
    *message = stated ? json_string_value(stated) : "";
    return strlen(*message) <= MESSAGE_BYTES
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "a message has at most %d bytes", MESSAGE_BYTES);
}
