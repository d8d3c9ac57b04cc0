/* Passes of clients of Xet: see pass.h. */
#include "server/api/xet/pass.h"

#include "storage/access/link.h"
#include "storage/text/number.h"
#include "storage/text/time.h"

#include <stdio.h>

/* What is signed begins with no slash, as the path of each link does: neither can stand for the other. */
static enum hub_status write_signed(struct hub_view epoch, struct hub_view repo, struct hub_buf *out,
                                    struct hub_error *err)
{
    return hub_buf_addf(out, err, "xet:%.*s:%.*s", (int)epoch.size, epoch.data, (int)repo.size, repo.data);
}

enum hub_status hub_xet_pass_write(const struct hub_request *request, const char *epoch, const char *repo,
                                   int64_t expires_s, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_XET_PASS_BYTES);
    char signature[HUB_LINK_SIGNATURE + 1];
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!request->token || request->token->session_of[0] || !key)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN, "an upload wants a token of this hub");
    HUB_TRY(write_signed(hub_view_of(epoch), hub_view_of(repo), &text, err));
    const struct hub_link link = {hub_buf_view(&text), hub_view_of(request->token->id), expires_s, 0};
    HUB_TRY(hub_link_sign(key, &link, signature, err));
    return hub_buf_addf(out, err, "xet.%lld.%s.%s.%s", (long long)expires_s, request->token->id, signature,
                        repo);
}

/* ---- taking ---- */

struct split_pass {
    struct hub_view expires, token, signature, repo;
};

/* Up to the next dot, which is passed. */
static struct hub_view next_part(struct hub_view *rest)
{
    const char *dot = rest->size ? memchr(rest->data, '.', rest->size) : NULL;
    const struct hub_view part = {rest->data, dot ? (size_t)(dot - rest->data) : rest->size};
    *rest = dot ? (struct hub_view){dot + 1, rest->size - part.size - 1} : (struct hub_view){NULL, 0};
    return part;
}

static bool split(struct hub_view text, struct split_pass *out)
{
    if (!hub_view_is(next_part(&text), "xet"))
        return false;
    out->expires = next_part(&text);
    out->token = next_part(&text);
    out->signature = next_part(&text);
    out->repo = text; /* may have dots */
    return out->repo.size && out->repo.size < HUB_XET_REPO_BYTES;
}

static bool find_pass(const struct hub_request *request, struct split_pass *out)
{
    static const char scheme[] = "Bearer ";
    const char *text = hub_request_header(request, "Authorization");
    return text && strncasecmp(text, scheme, sizeof scheme - 1) == 0 &&
           split(hub_trimmed(hub_view_of(text + sizeof scheme - 1)), out);
}

static bool is_signed(const struct hub_request *request, const struct split_pass *pass, struct hub_view epoch,
                      uint64_t expires_s)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_XET_PASS_BYTES);
    const uint8_t *key = request->access ? hub_access_link_key(request->access) : NULL;
    if (!key || pass->signature.size != HUB_LINK_SIGNATURE || write_signed(epoch, pass->repo, &text, NULL))
        return false;
    const struct hub_link link = {hub_buf_view(&text), pass->token, (int64_t)expires_s, 0};
    return hub_link_is_signed(key, &link, pass->signature);
}

static enum hub_status refuse(const char *why, struct hub_error *err)
{
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_TOKEN, "%s: run the push again", why);
}

enum hub_status hub_xet_pass_take(struct hub_request *request, struct hub_view epoch,
                                  char repo[HUB_XET_REPO_BYTES], struct hub_error *err)
{
    struct split_pass pass;
    uint64_t expires_s;
    const struct hub_token *token = NULL;
    if (!find_pass(request, &pass) || !hub_number_read(pass.expires, INT64_MAX, &expires_s) ||
        !is_signed(request, &pass, epoch, expires_s))
        return refuse("the request carries no pass for this upload", err);
    if (expires_s <= (uint64_t)hub_time_now_s())
        return refuse("the pass for this upload has expired", err);
    if (hub_access_find_id(request->access, pass.token, &request->principal.address,
                           hub_time_now_ns() / 1000000, &token) != HUB_TOKEN_OK)
        return refuse("the token of this upload is not valid any more", err);
    (void)snprintf(repo, HUB_XET_REPO_BYTES, "%.*s", (int)pass.repo.size, pass.repo.data);
    request->token = token;
    request->principal.token = token->name;
    request->carrier = HUB_BY_BEARER;
    return HUB_OK;
}
