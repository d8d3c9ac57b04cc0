/* From the headers of a request to its principal: see carrier.h. RFC 7617, RFC 6750, RFC 6265. */
#include "server/http/carrier.h"

#include "server/http/link.h"
#include "server/http/tries.h"
#include "storage/text/base64.h"
#include "storage/text/time.h"

enum { MAX_CREDENTIALS = 4096 };

/* ---- tokens ---- */

static enum hub_status refuse_token(const struct hub_request *request, enum hub_token_verdict verdict,
                                    struct hub_error *err)
{
    static const char *const why[] = {
        [HUB_TOKEN_MALFORMED] = "the token is damaged: copy all of it",
        [HUB_TOKEN_UNKNOWN] = "this hub does not know the token, or it was revoked",
        [HUB_TOKEN_EXPIRED] = "the token has expired",
        [HUB_TOKEN_WRONG_NETWORK] = "the token may not be used from this network"};
    const unsigned wait_s = hub_tries_fail(request->tries, &request->principal.address, hub_time_mono_ms());
    if (!wait_s)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_TOKEN, "%s", why[verdict]);
    err->retry_after_s = wait_s;
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_TOO_MANY_TRIES,
                       "too many tokens that are not valid came from this address: try again in %u s",
                       wait_s);
}

static enum hub_token_verdict find(const struct hub_request *request, struct hub_view text,
                                   const struct hub_token **out)
{
    const int64_t now = hub_time_now_ns() / 1000000;
    if (!request->access)
        return HUB_TOKEN_UNKNOWN;
    const enum hub_token_verdict verdict =
        hub_access_find_token(request->access, text, &request->principal.address, now, out);
    if (verdict == HUB_TOKEN_OK)
        hub_access_note_use(request->access, *out, now);
    return verdict;
}

enum hub_status hub_request_find_token(const struct hub_request *request, struct hub_view text,
                                       const struct hub_token **out, struct hub_error *err)
{
    *out = NULL;
    if (!hub_token_claims(text))
        return HUB_OK;
    enum hub_token_verdict verdict = find(request, text, out);
    if (verdict == HUB_TOKEN_OK && (*out)->session_of[0])
        verdict = HUB_TOKEN_UNKNOWN; /* good as a cookie alone */
    return verdict == HUB_TOKEN_OK ? HUB_OK : refuse_token(request, verdict, err);
}

static void set_token(struct hub_request *request, const struct hub_token *token, enum hub_carrier carrier)
{
    request->token = token;
    request->principal.token = token->name;
    request->carrier = carrier;
}

/* ---- the header Authorization ---- */

/* The only one, or NULL. */
static enum hub_status find_credentials(const struct hub_request *request, const char **out,
                                        struct hub_error *err)
{
    *out = NULL;
    for (unsigned i = 0; i < request->header_count; i++) {
        if (!hub_param_named(&request->headers[i], "Authorization"))
            continue;
        if (*out)
            return hub_fail(err, HUB_INVALID, "the request has two Authorization headers: send one");
        *out = request->headers[i].value.data;
    }
    return HUB_OK;
}

/* What follows the name of a scheme, or a NULL view. */
static struct hub_view behind_scheme(const char *credentials, const char *scheme)
{
    const size_t size = strlen(scheme);
    if (strncasecmp(credentials, scheme, size) != 0 || credentials[size] != ' ')
        return (struct hub_view){NULL, 0};
    return hub_trimmed(hub_view_of(credentials + size));
}

static enum hub_status identify_token(struct hub_request *request, struct hub_view text,
                                      enum hub_carrier carrier, struct hub_error *err)
{
    const struct hub_token *token;
    HUB_TRY(hub_request_find_token(request, text, &token, err));
    if (token)
        set_token(request, token, carrier);
    return HUB_OK;
}

/* "name:password" in base64; the password is the token, whatever the name. */
static enum hub_status identify_basic(struct hub_request *request, struct hub_view coded,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf plain = HUB_BUF_INIT(MAX_CREDENTIALS);
    if (coded.size > MAX_CREDENTIALS || hub_base64_decode(coded, &plain, NULL))
        return HUB_OK;
    const char *colon = plain.size ? memchr(plain.data, ':', plain.size) : NULL;
    if (!colon)
        return HUB_OK;
    const size_t before = (size_t)(colon + 1 - (const char *)plain.data);
    return identify_token(request, (struct hub_view){colon + 1, plain.size - before}, HUB_BY_BASIC, err);
}

static enum hub_status identify_by_header(struct hub_request *request, struct hub_error *err)
{
    const char *credentials;
    HUB_TRY(find_credentials(request, &credentials, err));
    if (!credentials)
        return HUB_OK;
    const struct hub_view bearer = behind_scheme(credentials, "Bearer"),
                          basic = behind_scheme(credentials, "Basic");
    if (bearer.data)
        return identify_token(request, bearer, HUB_BY_BEARER, err);
    return basic.data ? identify_basic(request, basic, err) : HUB_OK;
}

/* ---- the cookie ---- */

static struct hub_view next_cookie(struct hub_view *rest)
{
    const char *end = rest->size ? memchr(rest->data, ';', rest->size) : NULL;
    const size_t size = end ? (size_t)(end - rest->data) : rest->size;
    const struct hub_view cookie = {rest->data, size};
    *rest = end ? (struct hub_view){end + 1, rest->size - size - 1} : (struct hub_view){NULL, 0};
    return hub_trimmed(cookie);
}

/* The value of the only cookie with a name; a NULL view where there is none, or two differ: one of them
 * may have been planted by a host beside this one. */
static struct hub_view find_cookie(const struct hub_request *request, const char *name)
{
    const size_t size = strlen(name);
    struct hub_view found = {NULL, 0};
    for (unsigned i = 0; i < request->header_count; i++) {
        struct hub_view rest = request->headers[i].value;
        while (hub_param_named(&request->headers[i], "Cookie") && rest.size) {
            const struct hub_view cookie = next_cookie(&rest);
            if (!hub_view_starts(cookie, name) || cookie.size == size || cookie.data[size] != '=')
                continue;
            const struct hub_view value = {cookie.data + size + 1, cookie.size - size - 1};
            if (found.data && !hub_view_equal(found, value))
                return (struct hub_view){NULL, 0};
            found = value;
        }
    }
    return found;
}

static void identify_by_cookie(struct hub_request *request)
{
    const struct hub_token *session = NULL;
    struct hub_view text = find_cookie(request, HUB_SESSION_COOKIE_TLS);
    if (!text.data)
        text = find_cookie(request, HUB_SESSION_COOKIE);
    if (text.data && find(request, text, &session) == HUB_TOKEN_OK && session->session_of[0])
        set_token(request, session, HUB_BY_COOKIE);
}

enum hub_status hub_request_identify(struct hub_request *request, struct hub_error *err)
{
    struct hub_cut_link link;
    hub_request_cut_link(request, &link); /* first: no log has it, whatever else is wrong */
    HUB_TRY(identify_by_header(request, err));
    HUB_TRY(hub_request_take_link(request, &link, err));
    if (request->carrier == HUB_BY_NOTHING)
        identify_by_cookie(request);
    return HUB_OK;
}
