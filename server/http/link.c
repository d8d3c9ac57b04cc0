/* Links that carry their own right: see link.h. URL?exp=SECONDS&as=MAKER&sig=SIGNATURE, where a signature
 * of all below a path has how many segments that has behind it: "-4". */
#include "server/http/link.h"

#include "server/http/user.h"
#include "storage/access/link.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <stdlib.h>

/* The parameters of a link, in the order in which they are written. */
enum { EXPIRES, MAKER, SIGNATURE, PARAMETERS = HUB_LINK_PARAMETERS };
static const char *const names[PARAMETERS] = {"exp", "as", "sig"};

/* A maker that is a user: "user:NAME", then groups behind a line feed, which no name has. */
#define USER "user:"

/* ---- out of the query ---- */

static int parameter_of(struct hub_view name)
{
    for (int i = 0; i < PARAMETERS; i++)
        if (hub_view_is(name, names[i]))
            return i;
    return -1;
}

/* The values of all three; false: one is missing, or comes twice. */
static bool find_parameters(const struct hub_request *request, struct hub_view values[PARAMETERS])
{
    unsigned found = 0;
    for (unsigned i = 0; i < request->query_count; i++) {
        const int which = parameter_of(request->query[i].name);
        if (which < 0)
            continue;
        values[which] = request->query[i].value;
        found++;
    }
    return found == PARAMETERS && values[EXPIRES].data && values[MAKER].data && values[SIGNATURE].data;
}

/* The same in the raw text of the query, so that no log and no cache has them. */
static void drop_raw(char *query)
{
    char *to = query;
    for (char *at = query; *at;) {
        const size_t size = strcspn(at, "&"), name = strcspn(at, "=&");
        const bool more = at[size] == '&';
        if (parameter_of((struct hub_view){at, name}) < 0) {
            if (to > query)
                *to++ = '&';
            memmove(to, at, size);
            to += size;
        }
        at += size + more;
    }
    *to = '\0';
}

static void drop_parameters(struct hub_request *request)
{
    unsigned left = 0;
    for (unsigned i = 0; i < request->query_count; i++)
        if (parameter_of(request->query[i].name) < 0)
            request->query[left++] = request->query[i];
    request->query_count = left;
    if (request->query_text[0])
        drop_raw(request->text + (request->query_text - request->text));
}

/* ---- paths ---- */

/* The decoded path, whose segments no slash at its end follows: all of it, or its first segments and a
 * slash. */
static enum hub_status write_path(const struct hub_request *request, unsigned segments, bool below,
                                  struct hub_buf *out, struct hub_error *err)
{
    for (unsigned i = 0; i < segments; i++) {
        HUB_TRY(hub_buf_add(out, "/", 1, err));
        HUB_TRY(hub_buf_add_view(out, request->segments[i], err));
    }
    return hub_buf_add(out, "/", below, err);
}

/* ---- checking ---- */

static enum hub_status refuse(const char *why, struct hub_error *err)
{
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_TOKEN, "the link %s: have another one made", why);
}

/* "SIGNATURE" or "SIGNATURE-SEGMENTS". False: neither. */
static bool split_signature(const struct hub_request *request, struct hub_view *signature, unsigned *segments,
                            bool *below)
{
    uint64_t count = 0;
    *segments = request->segment_count;
    *below = signature->size > HUB_LINK_SIGNATURE && signature->data[HUB_LINK_SIGNATURE] == '-';
    if (!*below)
        return signature->size == HUB_LINK_SIGNATURE;
    const struct hub_view digits = {signature->data + HUB_LINK_SIGNATURE + 1,
                                    signature->size - HUB_LINK_SIGNATURE - 1};
    signature->size = HUB_LINK_SIGNATURE;
    if (!hub_number_read(digits, HUB_MAX_SEGMENTS, &count) || count == 0 ||
        count >= (uint64_t)request->segment_count + request->trailing_slash)
        return false;
    *segments = (unsigned)count;
    return true;
}

static bool is_signed(const struct hub_request *request, const struct hub_view values[PARAMETERS],
                      uint64_t expires_s)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_LINK_PATH);
    struct hub_view signature = values[SIGNATURE];
    unsigned segments;
    bool below;
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!key || !split_signature(request, &signature, &segments, &below) ||
        write_path(request, segments, below, &path, NULL))
        return false;
    const struct hub_link link = {hub_buf_view(&path), values[MAKER], (int64_t)expires_s,
                                  below ? segments : 0};
    return hub_link_is_signed(key, &link, signature);
}

/* The request becomes the maker's, as far as the maker is still known here. */
static enum hub_status become(struct hub_request *request, struct hub_view maker, struct hub_error *err)
{
    const struct hub_token *token = NULL;
    if (hub_view_starts(maker, USER)) {
        char *name = request->text + (maker.data - request->text) + strlen(USER),
             *groups = strchr(name, '\n');
        if (groups)
            *groups++ = '\0';
        HUB_TRY(hub_request_name_user(request, name, groups, err));
    } else if (hub_access_find_id(request->access, maker, &request->principal.address,
                                  hub_time_now_ns() / 1000000, &token) == HUB_TOKEN_OK) {
        request->principal.token = token->name;
    } else {
        return refuse("was made with a token that is not valid here, or not any more", err);
    }
    request->principal.reads_only = true;
    request->carrier = HUB_BY_LINK;
    return HUB_OK;
}

void hub_request_cut_link(struct hub_request *request, struct hub_cut_link *out)
{
    *out = (struct hub_cut_link){0};
    out->found = request->query_count && find_parameters(request, out->values);
    if (out->found)
        drop_parameters(request);
}

enum hub_status hub_request_take_link(struct hub_request *request, const struct hub_cut_link *link,
                                      struct hub_error *err)
{
    uint64_t expires_s = 0;
    if (!link->found || request->carrier != HUB_BY_NOTHING)
        return HUB_OK;
    if (!hub_number_read(link->values[EXPIRES], INT64_MAX, &expires_s) ||
        !is_signed(request, link->values, expires_s))
        return refuse("is damaged, or of another path", err);
    if (expires_s <= (uint64_t)hub_time_now_s())
        return refuse("has expired", err);
    if (request->method != HUB_GET && request->method != HUB_HEAD)
        return refuse("only reads", err);
    return become(request, link->values[MAKER], err);
}

/* ---- making ---- */

static enum hub_status write_maker(const struct hub_request *request, struct hub_buf *out,
                                   struct hub_error *err)
{
    const struct hub_principal *principal = &request->principal;
    if (request->token)
        return hub_buf_add_text(
            out, request->token->session_of[0] ? request->token->session_of : request->token->id, err);
    if (!principal->user || principal->reads_only)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN,
                           "a link reads as its maker may: send a token, or sign in");
    HUB_TRY(hub_buf_addf(out, err, USER "%s", principal->user));
    for (uint32_t i = 0; i < principal->group_count; i++)
        HUB_TRY(hub_buf_addf(out, err, "%c%s", i ? ',' : '\n', principal->groups[i]));
    return HUB_OK;
}

/* The path is split as one that is requested. */
static enum hub_status split(const char *path, struct hub_request *out, struct hub_error *err)
{
    HUB_TRY(hub_request_init(out, HUB_GET, path, err));
    if (!out->segment_count)
        return hub_fail(err, HUB_INVALID, "a link is of one path, or of all below a folder such as /d/lab/");
    for (unsigned i = 0; i < out->query_count; i++)
        if (parameter_of(out->query[i].name) >= 0)
            return hub_fail(err, HUB_INVALID, "the path of a link has no parameter \"%s\"",
                            out->query[i].name.data);
    return HUB_OK;
}

enum hub_status hub_request_write_link(const struct hub_request *request, const char *path, int64_t expires_s,
                                       struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_request_dispose) struct hub_request target = {0};
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(HUB_LINK_PATH), maker = HUB_BUF_INIT(HUB_LINK_PATH);
    char signature[HUB_LINK_SIGNATURE + 1];
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    HUB_TRY(write_maker(request, &maker, err));
    HUB_TRY(split(path, &target, err));
    HUB_TRY(write_path(&target, target.segment_count, target.trailing_slash, &text, err));
    if (!key)
        return hub_fail(err, HUB_UNSUPPORTED, "this hub has no key that signs links");
    const struct hub_link link = {hub_buf_view(&text), hub_buf_view(&maker), expires_s,
                                  target.trailing_slash ? target.segment_count : 0};
    HUB_TRY(hub_link_sign(key, &link, signature, err));
    HUB_TRY(hub_buf_addf(out, err, "%s%s%cexp=%lld&as=", hub_base_url(request), path,
                         strchr(path, '?') ? '&' : '?', (long long)expires_s));
    HUB_TRY(hub_uri_encode_segment(link.maker, out, err));
    HUB_TRY(hub_buf_addf(out, err, "&sig=%s", signature));
    return target.trailing_slash ? hub_buf_addf(out, err, "-%u", target.segment_count) : HUB_OK;
}
