/* Revisions of a hub's dataset. See minari/revisions.h. */
#include "client/lib/revisions.h"

enum { LIST_BYTES = 16 * 1024 * 1024, COMMIT_CHARS = 40, FEWEST_DIGITS = 7 };

bool hub_is_commit(const char *text)
{
    const size_t size = strlen(text);
    return size >= FEWEST_DIGITS && size <= COMMIT_CHARS && strspn(text, "0123456789abcdef") == size;
}

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

static bool is_current(const struct minari_revision *revision)
{
    return strcmp(revision->state, "current") == 0;
}

static enum hub_status find_current(const json_t *all, char **out, struct hub_error *err)
{
    struct minari_revision revision;
    const json_t *first = json_array_get(json_object_get(all, "items"), 0);
    if (!first)
        return HUB_OK;
    HUB_TRY(read_revision(first, &revision, err));
    return is_current(&revision) ? hub_dup(out, revision.commit, err) : HUB_OK;
}

enum hub_status hub_revision_find_current(struct minari_client *client, const char *id, char **out,
                                          struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *all = NULL;
    struct hub_error why = {0};
    *out = NULL;
    const enum hub_status st = list(client, id, &all, &why);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : hub_pass(st, &why, err);
    return find_current(all, out, err);
}
