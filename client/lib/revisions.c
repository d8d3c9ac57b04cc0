/* Revisions of a hub's dataset. See minari/revisions.h. */
#include "client/lib/internal.h"

enum { LIST_BYTES = 16 * 1024 * 1024 };

/* ---- the list ---- */

static enum hub_status list(struct minari_client *client, const char *id, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_url(&client->remote, id, "~revisions", &url, err));
    return hub_remote_document(&client->remote, url.data, LIST_BYTES, NULL, out, err);
}

static enum hub_status read_revision(const json_t *item, struct minari_revision *out, struct hub_error *err)
{
    *out = (struct minari_revision){.commit = hub_member_text(item, "commit"),
                                    .parent = hub_member_text(item, "parent"),
                                    .kind = hub_member_text(item, "kind"),
                                    .content = hub_member_text(item, "content"),
                                    .at = hub_member_text(item, "at"),
                                    .who = hub_member_text(item, "who"),
                                    .message = hub_member_text(item, "message"),
                                    .state = hub_member_text(item, "state"),
                                    .files = hub_member_uint(item, "files"),
                                    .bytes = hub_member_uint(item, "bytes")};
    return out->commit && out->kind && out->state && out->at && out->who
               ? HUB_OK
               : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                             "a revision lacks its commit, kind, state, time or writer: is it a hub?");
}

static enum hub_status each(struct minari_client *client, const char *id, minari_revision_fn fn, void *user,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *all = NULL;
    struct minari_revision revision;
    const json_t *item;
    size_t i;
    HUB_TRY(list(client, id, &all, err));
    json_array_foreach(json_object_get(all, "items"), i, item)
    {
        HUB_TRY(read_revision(item, &revision, err));
        if (fn(&revision, user))
            return hub_fail(err, HUB_CANCELLED, "stopped");
    }
    return HUB_OK;
}

enum minari_status minari_revision_each(struct minari_client *client, const char *id, minari_revision_fn fn,
                                        void *user, struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st =
        client && id && *id && fn
            ? each(client, id, fn, user, &error)
            : hub_fail(&error, HUB_INVALID, "a client, an id and a function are needed");
    return hub_client_report(st, &error, err);
}
