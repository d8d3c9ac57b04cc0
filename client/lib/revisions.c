/* Revisions of a hub's dataset: listed, deleted, had back. See minari/revisions.h. */
#include "client/lib/revisions.h"

#include "client/lib/drafts.h"

#include <stdio.h>
#include <stdlib.h>

enum { COMMIT_CHARS = 40, FEWEST_DIGITS = 7, PAGE_ITEMS = 1000 };

bool hub_is_commit(const char *text)
{
    const size_t size = strlen(text);
    return size >= FEWEST_DIGITS && size <= COMMIT_CHARS && strspn(text, "0123456789abcdef") == size;
}

/* ---- the list ---- */

/* Each of them, page by page; what `fn` returns ends the list. */
static enum hub_status each_item(struct minari_client *client, const char *id, unsigned limit,
                                 hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_url(&client->remote, id, "~revisions", &url, err));
    HUB_TRY(hub_buf_addf(&url, err, "?limit=%u", limit));
    return hub_api_each(&client->remote, id, "~revisions", &url, fn, user, err);
}

/* -1: it is not stated. */
static int64_t count_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value) : -1;
}

static enum hub_status read_revision(const json_t *item, struct minari_revision *out, struct hub_error *err)
{
    const json_t *changes = json_object_get(item, "changes");
    *out = (struct minari_revision){.commit = hub_member_text(item, "commit"),
                                    .parent = hub_member_text(item, "parent"),
                                    .kind = hub_member_text(item, "kind"),
                                    .content = hub_member_text(item, "content"),
                                    .at = hub_member_text(item, "at"),
                                    .who = hub_member_text(item, "who"),
                                    .message = hub_member_text(item, "message"),
                                    .state = hub_member_text(item, "state"),
                                    .files = hub_member_uint(item, "files"),
                                    .bytes = hub_member_uint(item, "bytes"),
                                    .files_added = count_of(changes, "added"),
                                    .files_changed = count_of(changes, "changed"),
                                    .files_removed = count_of(changes, "removed"),
                                    .episodes = count_of(item, "episodes"),
                                    .episodes_before = count_of(item, "episodes_before")};
    return out->commit && out->kind && out->state && out->at && out->who
               ? HUB_OK
               : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                             "a revision lacks its commit, kind, state, time or writer: is it a hub?");
}

struct handing_out {
    minari_revision_fn fn;
    void *user;
};

static enum hub_status hand_out(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    const struct handing_out *h = user;
    struct minari_revision revision;
    (void)text;
    HUB_TRY(read_revision(item, &revision, err));
    return h->fn(&revision, h->user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

enum minari_status minari_revision_each(struct minari_client *client, const char *id, minari_revision_fn fn,
                                        void *user, struct minari_error *err)
{
    struct hub_error error = {0};
    struct handing_out h = {fn, user};
    const enum hub_status st =
        client && id && *id && fn
            ? each_item(client, id, PAGE_ITEMS, hand_out, &h, &error)
            : hub_fail(&error, HUB_INVALID, "a client, an id and a function are needed");
    return hub_client_report(st, &error, err);
}

static bool is_current(const struct minari_revision *revision)
{
    return strcmp(revision->state, "current") == 0;
}

struct newest {
    char *current; /* NULL: its files are not there */
    bool read;
};

static enum hub_status read_newest(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    struct newest *n = user;
    struct minari_revision revision;
    (void)text;
    HUB_TRY(read_revision(item, &revision, err));
    if (is_current(&revision))
        HUB_TRY(hub_dup(&n->current, revision.commit, err));
    n->read = true;
    return HUB_CANCELLED; /* the others are not asked for */
}

enum hub_status hub_revision_find_current(struct minari_client *client, const char *id, char **out,
                                          struct hub_error *err)
{
    struct hub_error why = {0};
    struct newest newest = {0};
    const enum hub_status st = each_item(client, id, 1, read_newest, &newest, &why);
    *out = newest.current;
    return newest.read || st == HUB_NOT_FOUND ? HUB_OK : hub_pass(st, &why, err);
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
    json_t *item;                    /* of the list */
    struct minari_revision revision; /* it borrows from the item */
    size_t found;                    /* commits of that name */
    char *current;                   /* what is there; NULL: nothing */
    struct hub_open_draft draft;
};

static void revert_dispose(struct revert *r)
{
    json_decref(r->item);
    free(r->current);
    hub_open_draft_dispose(&r->draft);
}

static enum hub_status look_at(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    struct revert *r = user;
    struct minari_revision revision;
    (void)text;
    HUB_TRY(read_revision(item, &revision, err));
    if (!r->current && is_current(&revision))
        HUB_TRY(hub_dup(&r->current, revision.commit, err));
    if (!hub_view_starts(hub_view_of(revision.commit), r->commit) || r->found++)
        return HUB_OK;
    r->item = json_incref(item);
    r->revision = revision;
    return HUB_OK;
}

static enum hub_status find_named(struct revert *r, struct hub_error *err)
{
    HUB_TRY(each_item(r->client, r->id, PAGE_ITEMS, look_at, r, err));
    if (r->found > 1)
        return hub_fail(err, HUB_INVALID, "'%.40s' is the beginning of %zu commits: give more of its digits",
                        r->commit, r->found);
    return r->found ? HUB_OK
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
    HUB_TRY(find_named(r, err));
    HUB_TRY(check_kept(r, err));
    HUB_TRY(hub_buf_addf(&from, err, "%s@%s", r->id, r->revision.commit));
    const struct hub_draft_wish wish = {.id = r->id, .base = r->current, .from = from.data};
    HUB_TRY(hub_draft_make(r->client, &wish, &r->draft, err));
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
