/* Repos that clients make, delete and rename; cards that they check before. */
#include "server/facade/handlers.h"
#include "server/facade/hf_push.h"

#include "server/api/drafts/keep.h"
#include "server/api/drafts/listed.h"
#include "server/api/drafts/rename.h"
#include "server/api/pushes/adopt.h"
#include "server/api/pushes/sets.h"
#include "server/mirror/occupied.h"

#include <stdlib.h>

#define JSON_TYPE "application/json; charset=utf-8"

/* A repo that a body names; texts borrow from the document. */
struct named_repo {
    json_t *document;
    const char *org, *name;
    struct hub_buf id;
};

static void named_dispose(struct named_repo *named)
{
    json_decref(named->document);
    hub_buf_dispose(&named->id);
}

static enum hub_status check_type(const json_t *document, struct hub_error *err)
{
    const char *type = json_string_value(json_object_get(document, "type"));
    return type && strcmp(type, "dataset") == 0
               ? HUB_OK
               : hub_fail_as(
                     err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                     "This hub has datasets alone: send \"type\": \"dataset\" (repo_type=\"dataset\")");
}

/* Without an organisation it is one of who asks. */
static enum hub_status read_named(const struct hub_request *request, struct named_repo *out,
                                  struct hub_error *err)
{
    out->id = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_hf_body(request, &out->document, err));
    HUB_TRY(check_type(out->document, err));
    out->name = json_string_value(json_object_get(out->document, "name"));
    out->org = json_string_value(json_object_get(out->document, "organization"));
    if (!out->org)
        out->org = request->principal.token ? request->principal.token : "anonymous";
    return hub_hf_repo_id(request->app, hub_view_of(out->org), hub_view_of(out->name ? out->name : ""),
                          &out->id, err);
}

static enum hub_status answer(const struct hub_request *request, const struct named_repo *named,
                              unsigned status, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(KIB), url = HUB_BUF_INIT(8 * KIB);
    HUB_TRY(hub_buf_addf(&name, err, "%s/%s", named->org, named->name));
    HUB_TRY(hub_buf_addf(&url, err, "%s/datasets/%s", hub_base_url(request), name.data));
    struct hub_json json = hub_json_to(hub_response_buffer(response, status, JSON_TYPE, 16 * KIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "url", url.data);
    hub_json_put_text(&json, "name", name.data);
    hub_json_put_text(&json, "id", name.data);
    if (status == 409)
        hub_json_put_text(&json, "error", "You already created this dataset repo");
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* ---- making ---- */

/* A private repo is refused where everybody could read it. */
static enum hub_status check_private(const struct hub_request *request, const struct named_repo *named,
                                     struct hub_error *err)
{
    const char *visibility = json_string_value(json_object_get(named->document, "visibility"));
    const bool private = json_is_true(json_object_get(named->document, "private")) ||
                         (visibility && strcmp(visibility, "private") == 0);
    const struct hub_principal nobody = {.address = request->principal.address};
    if (!private || !request->access ||
        hub_access_level(request->access, &nobody, hub_buf_view(&named->id)) < HUB_LEVEL_READ)
        return HUB_OK;
    return hub_fail_as(
        err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
        "A rule of this hub decides who reads a repo, and everybody may read '%.200s': ask for "
        "`minari-hub access set '*' none %.200s`, or push without private",
        named->id.data, named->id.data);
}

/* A dataset that was put there by other means is a repo for its readers already. */
static enum hub_status is_there(struct hub_request *request, const struct named_repo *named, bool *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    const enum hub_status st =
        hub_hf_repo_named(request, hub_view_of(named->org), hub_view_of(named->name), &repo, err);
    *out = !st;
    return st == HUB_NOT_FOUND ? HUB_OK : st;
}

/* One whose dataset was deleted by other means. */
static enum hub_status forget_ended(const struct hub_app *app, const char *id, const char *who,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    bool current = true;
    const enum hub_status st = hub_repo_find(app->truth, id, &row, NULL);
    if (!st)
        HUB_TRY(hub_repo_is_current(app, &row, &current, err));
    return current ? HUB_OK : hub_repo_forget(app->truth, id, who, err);
}

static enum hub_status add(struct hub_request *request, const struct named_repo *named, struct hub_error *err)
{
    struct hub_repo_row row = {.id = named->id.data};
    char who[HUB_WRITER_CHARS];
    const char *path;
    hub_request_writer(request, who);
    row.who = who;
    HUB_TRY(hub_draft_choose_root(request->app->roots, named->id.data, &row.root, &path, err));
    row.path = (char *)path;
    HUB_TRY(hub_mirror_check_id(request->app->truth, request->app->roots, named->id.data, err));
    HUB_TRY(forget_ended(request->app, named->id.data, who, err));
    return hub_repo_add(request->app->truth, &row, err);
}

enum hub_status hub_hf_create(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(named_dispose) struct named_repo named = {0};
    bool there = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(read_named(request, &named, err));
    HUB_TRY(hub_hf_may_write(request, hub_buf_view(&named.id), err));
    HUB_TRY(check_private(request, &named, err));
    HUB_TRY(is_there(request, &named, &there, err));
    const enum hub_status st = there ? HUB_EXISTS : add(request, &named, err);
    if (st && st != HUB_EXISTS)
        return st;
    return answer(request, &named, st ? 409 : 200, response, err);
}

/* ---- deleting ---- */

static enum hub_status delete_dataset(struct hub_request *request, const char *id, const char *who,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    const enum hub_status st = hub_owned_head(request, hub_view_of(id), &head, err);
    if (st == HUB_NOT_FOUND)
        return HUB_OK;
    HUB_TRY(st);
    HUB_TRY(hub_request_may_write(request, hub_view_of(id), err));
    HUB_TRY(hub_delete_commit(request->app, &head, who, err));
    hub_await_listing(request->app, id, false);
    return HUB_OK;
}

static enum hub_status delete_sets(struct hub_request *request, const struct hub_repo_row *repo,
                                   const char *who, struct hub_error *err)
{
    HUB_CLEANUP(hub_push_sets_dispose) struct hub_push_sets sets = {0};
    HUB_CLEANUP(hub_push_dispose) struct hub_push head = {0};
    HUB_TRY(hub_push_named(request->app->truth, repo->id, HUB_VIEW("main"), &head, err));
    HUB_TRY(hub_push_sets_find(request->app->truth, &head, &sets, err));
    for (uint32_t i = 0; i < sets.count; i++) {
        HUB_CLEANUP(hub_freep) char *id = hub_push_set_id(repo->id, &sets.items[i]);
        HUB_TRY(hub_allocated(id, err));
        HUB_TRY(delete_dataset(request, id, who, err));
    }
    return HUB_OK;
}

/* Its datasets go to where deleted ones are kept for a while. */
enum hub_status hub_hf_delete(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(named_dispose) struct named_repo named = {0};
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    char who[HUB_WRITER_CHARS];
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    HUB_TRY(read_named(request, &named, err));
    HUB_TRY(hub_hf_may_write(request, hub_buf_view(&named.id), err));
    hub_request_writer(request, who);
    const enum hub_status st = hub_repo_find(request->app->truth, named.id.data, &row, err);
    if (!st) {
        HUB_TRY(delete_sets(request, &row, who, err));
        HUB_TRY(hub_repo_forget(request->app->truth, row.id, who, err));
        return answer(request, &named, 200, response, err);
    }
    if (st != HUB_NOT_FOUND)
        return st;
    bool there = false;
    HUB_TRY(is_there(request, &named, &there, err));
    if (!there)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                           "Repository not found: %.200s/%.200s", named.org, named.name);
    HUB_TRY(delete_dataset(request, named.id.data, who, err));
    return answer(request, &named, 200, response, err);
}

/* ---- renaming ---- */

/* "org/name" of a body, as an id. */
static enum hub_status read_id(const struct hub_request *request, const json_t *document, const char *key,
                               struct hub_buf *out, struct hub_error *err)
{
    const char *text = json_string_value(json_object_get(document, key)),
               *slash = text ? strchr(text, '/') : NULL;
    if (!slash)
        return hub_fail(err, HUB_INVALID, "\"%s\" is not ORG/NAME", key);
    HUB_CLEANUP(hub_freep) char *org = strndup(text, (size_t)(slash - text));
    HUB_TRY(hub_allocated(org, err));
    HUB_TRY(hub_hf_repo_id(request->app, hub_view_of(org), hub_view_of(slash + 1), out, err));
    return hub_hf_may_write(request, hub_buf_view(out), err);
}

/* One whose commits came to nothing yet. */
static enum hub_status rename_repo(struct hub_request *request, const char *id, const char *to,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    struct hub_repo_row renamed = {.id = (char *)to};
    char who[HUB_WRITER_CHARS];
    const char *path;
    HUB_TRY(hub_repo_find(request->app->truth, id, &row, err));
    HUB_TRY(hub_draft_choose_root(request->app->roots, to, &renamed.root, &path, err));
    if (renamed.root != row.root)
        return hub_fail(err, HUB_INVALID, "'%.200s' belongs to another root than '%.200s'", to, id);
    hub_request_writer(request, who);
    renamed.who = who;
    renamed.path = (char *)path;
    return hub_repo_rename(request->app->truth, id, &renamed, err);
}

struct below {
    const char *id;
    unsigned count;
    bool itself;
};

static enum hub_status count_below(void *user, const struct hub_commit *commit, struct hub_error *err)
{
    struct below *b = user;
    (void)err;
    const char *rest = hub_path_below(commit->dataset, b->id);
    b->itself |= rest && !*rest && commit->kind != HUB_COMMIT_DELETE;
    b->count += rest && *rest && commit->kind != HUB_COMMIT_DELETE;
    return HUB_OK;
}

enum hub_status hub_hf_move(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf from = HUB_BUF_INIT(KIB), to = HUB_BUF_INIT(KIB);
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    HUB_TRY(hub_hf_body(request, &document, err));
    HUB_TRY(check_type(document, err));
    HUB_TRY(read_id(request, document, "fromRepo", &from, err));
    HUB_TRY(read_id(request, document, "toRepo", &to, err));
    struct below below = {.id = from.data};
    HUB_TRY(hub_commits_heads(request->app->truth, count_below, &below, err));
    if (below.count)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                           "'%.200s' is a namespace of %u datasets: rename these one by one (PATCH)",
                           from.data, below.count);
    HUB_TRY(below.itself ? hub_rename(request, from.data, to.data, err)
                         : rename_repo(request, from.data, to.data, err));
    return hub_buf_add_text(hub_response_buffer(response, 200, JSON_TYPE, KIB), "{}\n", err);
}

/* ---- cards ---- */

/* What a card may have wrong without a reader of YAML: metadata that begin and do not end. */
static const char *what_is_wrong(const char *content)
{
    static const char fence[] = "---\n";
    if (!content)
        return "the card has no text";
    if (strncmp(content, fence, sizeof fence - 1) != 0)
        return NULL;
    const char *end = strstr(content + sizeof fence - 2, "\n---");
    return end && (end[4] == '\n' || end[4] == '\r' || end[4] == '\0')
               ? NULL
               : "the metadata that begin with --- in the first line have no end: a line of ---";
}

enum hub_status hub_hf_check_card(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(hub_hf_body(request, &document, err));
    const char *wrong = what_is_wrong(json_string_value(json_object_get(document, "content")));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, wrong ? 400 : 200, JSON_TYPE, 16 * KIB), err);
    hub_json_object(&json);
    hub_json_put_array(&json, "errors");
    if (wrong) {
        hub_json_object(&json);
        hub_json_put_text(&json, "message", wrong);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    hub_json_put_array(&json, "warnings");
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}
