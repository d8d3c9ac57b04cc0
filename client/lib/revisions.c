/* Revisions of a hub's dataset: listed, deleted, had back. See minari/revisions.h. */
#include "client/lib/revisions.h"

#include "client/lib/drafts.h"

#include <stdio.h>
#include <stdlib.h>

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

/* ---- deletion ---- */

static enum hub_status remove_dataset(struct minari_client *client, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_url(&client->remote, id, NULL, &url, err));
    return hub_draft_delete(client, url.data, err);
}

enum minari_status minari_dataset_remove(struct minari_client *client, const char *id,
                                         struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st = client && id && *id
                                   ? remove_dataset(client, id, &error)
                                   : hub_fail(&error, HUB_INVALID, "a client and an id are needed");
    return hub_client_report(st, &error, err);
}

/* ---- a revision is had back ---- */

struct revert {
    struct minari_client *client;
    const char *id, *commit, *message;
    void (*done)(const struct minari_upload *upload, void *user);
    void *user;
    json_t *all;                     /* of the list */
    struct minari_revision revision; /* it borrows from the list */
    char *current;                   /* what is there; NULL: nothing */
    struct hub_open_draft draft;
};

static void revert_dispose(struct revert *r)
{
    json_decref(r->all);
    free(r->current);
    hub_open_draft_dispose(&r->draft);
}

static enum hub_status find_named(struct revert *r, struct hub_error *err)
{
    const json_t *item;
    size_t i, found = 0;
    json_array_foreach(json_object_get(r->all, "items"), i, item)
    {
        struct minari_revision revision;
        HUB_TRY(read_revision(item, &revision, err));
        if (!hub_view_starts(hub_view_of(revision.commit), r->commit))
            continue;
        r->revision = revision;
        found++;
    }
    if (found > 1)
        return hub_fail(err, HUB_INVALID, "'%.40s' is the beginning of %zu commits: give more of its digits",
                        r->commit, found);
    return found ? HUB_OK
                 : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_NOT_FOUND,
                               "'%.200s' has no revision '%.40s'", r->id, r->commit);
}

static enum hub_status check_kept(const struct revert *r, struct hub_error *err)
{
    const struct minari_revision *revision = &r->revision;
    if (strcmp(revision->kind, "delete") == 0)
        return hub_fail(err, HUB_INVALID, "%s is a deletion: name %.40s, the commit before it",
                        revision->commit, revision->parent ? revision->parent : "");
    if (is_current(revision))
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS, "'%.200s' is at %s already", r->id,
                           revision->commit);
    return strcmp(revision->state, "kept") == 0
               ? HUB_OK
               : hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_GONE,
                             "the hub does not keep the files of %s any more", revision->commit);
}

static enum hub_status never_stop(void *user, struct hub_error *err)
{
    (void)user, (void)err; /* the transport asks the client's own `interrupted` */
    return HUB_OK;
}

/* A revision that was published with an `allow` needs it again: the refusal names which. */
static enum hub_status commit_draft(const struct revert *r, const char *message, json_t **answer,
                                    struct hub_error *err)
{
    const struct hub_drive drive = {.tick = never_stop};
    struct hub_error why = {0};
    const enum hub_status st =
        hub_draft_commit_it(r->client, r->draft.name, NULL, message, &drive, answer, &why);
    const char *verdict = hub_member_text(*answer, "verdict");
    if (!st || why.problem != HUB_PROBLEM_DRAFT_REFUSED || !verdict)
        return hub_pass(st, &why, err);
    HUB_CLEANUP(hub_freep) char *allow = NULL;
    HUB_TRY(hub_dup(&allow, verdict, err));
    return hub_draft_commit_it(r->client, r->draft.name, allow, message, &drive, answer, err);
}

static enum hub_status publish(const struct revert *r, json_t **answer, struct hub_error *err)
{
    char usual[64];
    snprintf(usual, sizeof usual, "back to %.7s", r->revision.commit);
    if (r->draft.files != r->revision.files)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_GONE,
                           "of the %llu files of %s the hub has %llu as they were: the others were changed "
                           "or removed on its disk",
                           (unsigned long long)r->revision.files, r->revision.commit,
                           (unsigned long long)r->draft.files);
    return commit_draft(r, r->message ? r->message : usual, answer, err);
}

static void report(const struct revert *r, const json_t *answer)
{
    const struct minari_upload done = {.id = r->id,
                                       .draft = r->draft.name,
                                       .commit = hub_member_text(answer, "commit"),
                                       .content = hub_member_text(answer, "content"),
                                       .format = hub_member_text(answer, "format"),
                                       .files = r->revision.files,
                                       .bytes = r->revision.bytes,
                                       .files_kept = r->revision.files,
                                       .bytes_kept = r->revision.bytes,
                                       .base = r->current};
    if (r->done)
        r->done(&done, r->user);
}

static enum hub_status revert(struct revert *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf from = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    HUB_TRY(list(r->client, r->id, &r->all, err));
    HUB_TRY(find_named(r, err));
    HUB_TRY(check_kept(r, err));
    HUB_TRY(find_current(r->all, &r->current, err));
    HUB_TRY(hub_buf_addf(&from, err, "%s@%s", r->id, r->revision.commit));
    HUB_TRY(hub_draft_make(r->client, r->id, r->current, from.data, 0, NULL, &r->draft, err));
    const enum hub_status st = publish(r, &answer, err);
    if (st)
        (void)!hub_draft_give_up(r->client, r->draft.name, NULL);
    else
        report(r, answer);
    return st;
}

enum minari_status minari_dataset_revert(struct minari_client *client, const char *id, const char *commit,
                                         const char *message,
                                         void (*done)(const struct minari_upload *upload, void *user),
                                         void *user, struct minari_error *err)
{
    HUB_CLEANUP(revert_dispose)
    struct revert r = {
        .client = client, .id = id, .commit = commit, .message = message, .done = done, .user = user};
    struct hub_error error = {0};
    enum hub_status st = HUB_OK;
    if (!client || !id || !*id || !commit)
        st = hub_fail(&error, HUB_INVALID, "a client, an id and a commit are needed");
    else if (!hub_is_commit(commit))
        st = hub_fail(&error, HUB_INVALID, "'%.64s' is not a commit: give 7 or more of its 40 hex digits",
                      commit);
    else
        st = revert(&r, &error);
    return hub_client_report(st, &error, err);
}
