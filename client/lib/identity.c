/* The name and the role of a client, as its hub says. */
#include "client/lib/internal.h"

#include <stdio.h>

enum { ANSWER_BYTES = 64 * 1024 };

/* As for clients of Hugging Face: {"name", "auth": {"accessToken": {"displayName", "role"}}}. */
static enum hub_status read_identity(const json_t *document, const char *url, struct minari_identity *out,
                                     struct hub_error *err)
{
    const json_t *token = json_object_get(json_object_get(document, "auth"), "accessToken");
    const char *name = hub_member_text(document, "name"), *shown = hub_member_text(token, "displayName"),
               *role = hub_member_text(token, "role");
    if (!name || !*name)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the answer of %.200s has no name: check that it is a hub", url);
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->role, sizeof out->role, "%s", role ? role : "");
    out->signed_in = strcmp(name, "anonymous") != 0 || (shown && strcmp(shown, "none") != 0);
    return HUB_OK;
}

static enum hub_status get_identity(struct minari_client *client, struct minari_identity *out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(KIB);
    struct hub_remote *remote = &client->remote;
    if (remote->kind != &hub_remote_hub)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_HUB_NEEDED,
                           "'%.200s' is not a hub: only a hub says who its token belongs to", remote->base);
    HUB_TRY(hub_buf_addf(&url, err, "%s/api/whoami-v2", remote->base));
    const enum hub_status st = hub_remote_document(remote, url.data, ANSWER_BYTES, NULL, &document, err);
    if (st == HUB_DENIED && !err->problem) /* said as Hugging Face does, without a problem's name */
        err->problem = HUB_PROBLEM_BAD_TOKEN;
    HUB_TRY(st);
    return read_identity(document, url.data, out, err);
}

enum minari_status minari_identity_get(struct minari_client *client, struct minari_identity *out,
                                       struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st = client && out ? get_identity(client, out, &error) : hub_client_missing(&error);
    return hub_client_report(st, &error, err);
}
