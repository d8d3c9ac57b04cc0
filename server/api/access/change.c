/* One change: see change.h. */
#include "server/api/access/change.h"

#include "server/api/app.h"
#include "server/log/log.h"
#include "storage/truth/live_access.h"

#include <stdio.h>

enum { ANSWER_BYTES = 256 * 1024 };

enum hub_status hub_order_words_of(const struct hub_request *request, const char *name,
                                   struct hub_order_words *out, struct hub_error *err)
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, name))
            HUB_TRY(hub_order_add(out, request->query[i].value.data, err));
    return HUB_OK;
}

void hub_access_name_actor(const struct hub_principal *principal, char out[HUB_ACTOR_CHARS])
{
    if (principal->token)
        snprintf(out, HUB_ACTOR_CHARS, "token:%s", principal->token);
    else if (principal->user)
        snprintf(out, HUB_ACTOR_CHARS, "user:%s", principal->user);
    else
        snprintf(out, HUB_ACTOR_CHARS, "local");
}

enum hub_status hub_access_change(struct hub_request *request, const struct hub_access_order *order,
                                  unsigned status, struct hub_response *response, struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "audit", NULL};
    struct hub_app *app = request->app;
    char who[HUB_ACTOR_CHARS], note[HUB_ORDER_NOTE];
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    const struct hub_access_actor actor = {who, &declared};
    if (!request->may_block)
        return HUB_AGAIN; /* hub.db is written */
    HUB_TRY(hub_live_access_declared(app->access, &declared, err));
    hub_access_name_actor(&request->principal, who);
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, status, "application/json", ANSWER_BYTES), err);
    const enum hub_status st = hub_access_obey(app->truth, order, &actor, &json, note, err);
    if (*note) {
        hub_log_event(app->log, &event, "%s: %s", actor.who, note);
        (void)!hub_live_access_refresh(app->access, NULL); /* what fails is tried again within a second */
    }
    HUB_TRY(st);
    return hub_response_header(response, err, "Cache-Control", "no-store");
}
