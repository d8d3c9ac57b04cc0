/* From the headers of a request to its principal: see carrier.h. RFC 7617, RFC 6750. */
#include "server/http/carrier.h"

#include "storage/text/base64.h"
#include "storage/text/time.h"

enum { MAX_CREDENTIALS = 4096 };

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
                                      struct hub_error *err)
{
    static const char *const why[] = {
        [HUB_TOKEN_MALFORMED] = "the token is damaged: copy all of it",
        [HUB_TOKEN_UNKNOWN] = "this hub does not know the token, or it was revoked",
        [HUB_TOKEN_EXPIRED] = "the token has expired",
        [HUB_TOKEN_WRONG_NETWORK] = "the token may not be used from this network"};
    const struct hub_token *token = NULL;
    const int64_t now = hub_time_now_ns() / 1000000;
    if (!hub_token_claims(text))
        return HUB_OK;
    const enum hub_token_verdict verdict =
        request->access
            ? hub_access_find_token(request->access, text, &request->principal.address, now, &token)
            : HUB_TOKEN_UNKNOWN;
    if (verdict != HUB_TOKEN_OK)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_TOKEN, "%s", why[verdict]);
    hub_access_note_use(request->access, token, now);
    request->principal.token = token->name;
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
    return identify_token(request, (struct hub_view){colon + 1, plain.size - before}, err);
}

enum hub_status hub_request_identify(struct hub_request *request, struct hub_error *err)
{
    const char *credentials;
    HUB_TRY(find_credentials(request, &credentials, err));
    if (!credentials)
        return HUB_OK;
    const struct hub_view bearer = behind_scheme(credentials, "Bearer"),
                          basic = behind_scheme(credentials, "Basic");
    if (bearer.data)
        return identify_token(request, bearer, err);
    return basic.data ? identify_basic(request, basic, err) : HUB_OK;
}
