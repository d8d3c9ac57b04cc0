/* Sessions: see session.h. RFC 6265. */
#include "server/api/access/session.h"

#include "server/api/access/change.h"
#include "server/api/app.h"
#include "server/http/carrier.h"
#include "storage/truth/live_access.h"
#include "storage/truth/sessions.h"

/* Browsers send a __Host- cookie over TLS alone, and no other host can have set it. */
static enum hub_status put_cookie(const struct hub_request *request, struct hub_response *response,
                                  const char *value, int seconds, struct hub_error *err)
{
    const bool secure = hub_view_starts(hub_view_of(request->base_url), "https://");
    return hub_response_header(
        response, err, "Set-Cookie", "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s",
        secure ? HUB_SESSION_COOKIE_TLS : HUB_SESSION_COOKIE, value, seconds, secure ? "; Secure" : "");
}

enum hub_status hub_session_open(struct hub_request *request, struct hub_view text,
                                 struct hub_response *response, struct hub_error *err)
{
    const struct hub_token *token = NULL;
    char secret[HUB_TOKEN_TEXT + 1], who[HUB_ACTOR_CHARS];
    struct hub_app *app = request->app;
    HUB_TRY(hub_request_find_token(request, text, &token, err));
    if (!token)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_BAD_TOKEN,
                           "this is not an access token of a hub: one begins with mh_");
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    const struct hub_access_actor actor = {who, &declared};
    HUB_TRY(hub_live_access_declared(app->access, &declared, err));
    hub_access_name_actor(&(struct hub_principal){.token = token->name}, who);
    enum hub_status st = hub_session_begin(app->truth, token, &actor, secret, err);
    if (!st)
        st = hub_live_access_refresh(app->access, err);
    if (!st)
        st = put_cookie(request, response, secret, HUB_SESSION_MS / 1000, err);
    explicit_bzero(secret, sizeof secret);
    return st;
}

enum hub_status hub_session_close(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    struct hub_app *app = request->app;
    if (request->carrier == HUB_BY_COOKIE) {
        HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
        char who[HUB_ACTOR_CHARS];
        const struct hub_access_actor actor = {who, &declared};
        HUB_TRY(hub_live_access_declared(app->access, &declared, err));
        hub_access_name_actor(&request->principal, who);
        HUB_TRY(hub_session_end(app->truth, request->token, &actor, err));
        HUB_TRY(hub_live_access_refresh(app->access, err));
    }
    return put_cookie(request, response, "", 0, err);
}
