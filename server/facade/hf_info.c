/* Lists of repos, what is said of one, and its names of commits. */
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_upstream.h"
#include "server/facade/kept.h"

#include "server/api/cursor.h"
#include "storage/base/spell.h"
#include "storage/base/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_SIBLINGS = 50000 };

/* ---- one ---- */

static void put_time(struct hub_json *json, const char *key, int64_t unix_ns)
{
    char text[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(unix_ns / 1000000, text);
    hub_json_put_text(json, key, text);
}

void hub_hf_put_commit(struct hub_json *json, const struct hub_hf_repo *repo, int64_t modified_ns)
{
    hub_json_put_text(json, "id", repo->commit);
    hub_json_put_text(json, "title", "What lies on the disk");
    put_time(json, "date", modified_ns);
}

static enum hub_status put_head(struct hub_json *json, const struct hub_hf_repo *repo, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_buf_addf(&id, err, "%s/%s", repo->org.data, repo->name.data));
    hub_json_put_string(json, "id", hub_buf_view(&id));
    hub_json_put_string(json, "author", repo->org);
    hub_json_put_text(json, "sha", repo->commit);
    put_time(json, "lastModified", repo->modified_ns);
    put_time(json, "createdAt", repo->modified_ns);
    hub_json_put_bool(json, "private", false);
    hub_json_put_bool(json, "gated", false);
    hub_json_put_bool(json, "disabled", false);
    hub_json_put_uint(json, "downloads", 0);
    hub_json_put_uint(json, "likes", 0);
    hub_json_put_array(json, "tags");
    hub_json_end_array(json);
    return hub_json_status(json);
}

static enum hub_status put_sibling(struct hub_json *json, struct hub_request *request,
                                   const struct hub_hf_repo *repo, const struct hub_object *object,
                                   bool blobs, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(128 * KIB);
    const size_t before = repo->begins.size;
    HUB_CLEANUP(hub_object_facts_dispose) struct hub_object_facts facts = {0};
    struct hub_hf_file_id id;
    HUB_TRY(hub_spell_path((struct hub_view){object->name.data + before, object->name.size - before}, &path,
                           err));
    hub_json_object(json);
    hub_json_put_string(json, "rfilename", hub_buf_view(&path));
    if (blobs) {
        HUB_TRY(hub_object_facts(request->app, object, true, &facts, err));
        HUB_TRY(hub_hf_file_id(object, &facts, &id, err));
        hub_json_put_uint(json, "size", facts.size);
        hub_json_put_text(json, "blobId", id.oid);
        if (id.sha256[0])
            hub_hf_put_lfs(json, "sha256", &id, facts.size);
    }
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* All files; above the limit none, as then clients ask for the tree. */
static enum hub_status put_siblings(struct hub_json *json, struct hub_request *request,
                                    const struct hub_hf_repo *repo, bool blobs, bool *lasting,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    const struct hub_view begins = hub_buf_view(&repo->begins);
    hub_json_put_array(json, "siblings");
    HUB_TRY(hub_objects_open(request->app, &objects, err));
    HUB_TRY(hub_objects_seek(&objects, begins, err));
    for (unsigned count = 0; count <= MOST_SIBLINGS; count++) {
        struct hub_object object;
        const enum hub_status st = hub_objects_next(&objects, &object, err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        if (st || object.name.size < begins.size || memcmp(object.name.data, begins.data, begins.size) != 0)
            break;
        HUB_TRY(put_sibling(json, request, repo, &object, blobs, err));
    }
    hub_json_end_array(json);
    *lasting = !objects.remote;
    return hub_json_status(json);
}

static enum hub_status make_repo(struct hub_request *request, struct hub_response *response, bool *lasting,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    const struct hub_view blobs = hub_request_query(request, "blobs");
    HUB_TRY(hub_hf_repo_open(request, &repo, err));
    HUB_TRY(hub_hf_revision(request, &repo, err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 32 * MIB), err);
    hub_json_object(&json);
    HUB_TRY(put_head(&json, &repo, err));
    HUB_TRY(
        put_siblings(&json, request, &repo, blobs.size && strcasecmp(blobs.data, "true") == 0, lasting, err));
    hub_json_end_object(&json);
    HUB_TRY(hub_response_header(response, err, "X-Repo-Commit", "%s", repo.commit));
    return hub_json_status(&json);
}

static enum hub_status repo_show_here(struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    return hub_kept_answer(request, response, make_repo, err);
}

enum hub_status hub_hf_repo_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, repo_show_here);
}

static void put_ref(struct hub_json *json, const struct hub_hf_repo *repo, const char *kind, const char *name)
{
    char ref[64];
    snprintf(ref, sizeof ref, "refs/%s/%s", kind, name);
    hub_json_object(json);
    hub_json_put_text(json, "name", name);
    hub_json_put_text(json, "ref", ref);
    hub_json_put_text(json, "targetCommit", repo->commit);
    hub_json_end_object(json);
}

static enum hub_status refs_here(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const empty[] = {"converts", "pullRequests"};
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    HUB_TRY(hub_hf_repo_open(request, &repo, err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", MIB), err);
    hub_json_object(&json);
    hub_json_put_array(&json, "branches");
    put_ref(&json, &repo, "heads", "main");
    hub_json_end_array(&json);
    hub_json_put_array(&json, "tags");
    if (repo.tag[0])
        put_ref(&json, &repo, "tags", repo.tag);
    hub_json_end_array(&json);
    for (size_t i = 0; i < HUB_COUNT(empty); i++) {
        hub_json_put_array(&json, empty[i]);
        hub_json_end_array(&json);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_hf_refs(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, refs_here);
}

static enum hub_status commits_here(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    HUB_TRY(hub_hf_repo_open(request, &repo, err));
    HUB_TRY(hub_hf_revision(request, &repo, err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", MIB), err);
    hub_json_array(&json);
    hub_json_object(&json);
    hub_hf_put_commit(&json, &repo, repo.modified_ns);
    hub_json_put_text(&json, "message", "");
    hub_json_put_array(&json, "authors");
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    hub_json_end_array(&json);
    return hub_json_status(&json);
}

enum hub_status hub_hf_commits(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, commits_here);
}

/* ---- all ---- */

struct repos {
    struct hub_request *request;
    struct hub_json json;
    struct hub_view author, search;
    char last[256]; /* the last id that was looked at: datasets of one repo lie side by side */
    uint32_t count, limit;
    char after[256];
    bool more;
};

/* The repo that a dataset is in, "org/name": that of Minari's namespace, or its first two folders. False: none. */
static bool repo_of(const struct hub_app *app, const struct hub_summary *summary, char out[256],
                    struct hub_view *org, struct hub_view *name)
{
    const char *first = strchr(summary->id, '/');
    const bool minari = strncmp(summary->format, "minari-", 7) == 0;
    if (!first && minari) /* Python Minari asks for a repo that is called as its author, and gives up */
        return false;
    const char *second = first ? strchrnul(first + 1, '/') : NULL;
    const int size =
        first && !minari
            ? snprintf(out, 256, "%.*s", (int)(second - summary->id), summary->id)
            : snprintf(out, 256, "%s/%.*s", app->author,
                       (int)(first ? first - summary->id : (ptrdiff_t)strlen(summary->id)), summary->id);
    const char *slash = size < 256 ? strchr(out, '/') : NULL;
    if (!slash)
        return false;
    *org = (struct hub_view){out, (size_t)(slash - out)};
    *name = hub_view_of(slash + 1);
    return hub_hf_can_be_named(*org) && hub_hf_can_be_named(*name);
}

static enum hub_status add_repo(struct repos *r, struct hub_view org, struct hub_view name,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    HUB_CLEANUP(hub_freep) char *copy = hub_view_dup(org);
    HUB_TRY(hub_allocated(copy, err));
    const enum hub_status st =
        hub_hf_repo_named(r->request, (struct hub_view){copy, org.size}, name, &repo, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    hub_json_object(&r->json);
    HUB_TRY(put_head(&r->json, &repo, err));
    hub_json_end_object(&r->json);
    r->count++;
    return HUB_OK;
}

static bool is_meant(const struct repos *r, const char *id, struct hub_view org)
{
    if (r->author.size && !hub_view_equal(org, r->author))
        return false;
    return !r->search.size || strcasestr(id, r->search.data);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

static enum hub_status collect(struct repos *r, const struct hub_snapshot *snapshot, char (*ids)[256],
                               uint32_t *count)
{
    struct hub_view org, name;
    *count = 0;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        char *id = ids[*count];
        if (repo_of(r->request->app, snapshot->summaries[i], id, &org, &name) && is_meant(r, id, org) &&
            (!*count || strcmp(id, ids[*count - 1]) != 0))
            ++*count;
    }
    qsort(ids, *count, sizeof *ids, by_id);
    return HUB_OK;
}

static enum hub_status write_repos(struct repos *r, char (*ids)[256], uint32_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        if ((i && strcmp(ids[i], ids[i - 1]) == 0) || strcmp(ids[i], r->after) <= 0)
            continue;
        if (r->count == r->limit) {
            r->more = true;
            return HUB_OK;
        }
        const char *slash = strchr(ids[i], '/');
        HUB_TRY(
            add_repo(r, (struct hub_view){ids[i], (size_t)(slash - ids[i])}, hub_view_of(slash + 1), err));
        memcpy(r->last, ids[i], sizeof r->last);
    }
    return HUB_OK;
}

static void free_ids(char (**ids)[256])
{
    free(*ids);
}

enum hub_status hub_hf_repos(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = NULL;
    HUB_CLEANUP(free_ids) char(*ids)[256] = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    struct repos r = {.request = request,
                      .author = hub_request_query(request, "author"),
                      .search = hub_request_query(request, "search")};
    struct hub_page_cursor cursor = {0};
    int64_t limit = 1000;
    uint32_t count;
    bool present;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_request_int(request, "limit", &limit, &present, err));
    r.limit = limit > 0 && limit < 1000 ? (uint32_t)limit : 1000;
    if (hub_request_query(request, "cursor").data)
        HUB_TRY(hub_cursor_decode(hub_request_query(request, "cursor"), "", &cursor, err));
    snprintf(r.after, sizeof r.after, "%.255s", cursor.key);
    snapshot = hub_catalog_snapshot(request->app->catalog);
    ids = malloc((snapshot->count + 1) * sizeof *ids);
    HUB_TRY(hub_allocated(ids, err));
    HUB_TRY(collect(&r, snapshot, ids, &count));
    r.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 16 * MIB), err);
    hub_json_array(&r.json);
    HUB_TRY(write_repos(&r, ids, count, err));
    hub_json_end_array(&r.json);
    if (r.more) {
        struct hub_page_cursor next = {0};
        snprintf(next.key, sizeof next.key, "%s", r.last);
        HUB_TRY(hub_page_next_url(request, &next, &url, err));
        HUB_TRY(hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data));
    }
    return hub_json_status(&r.json);
}

/* ---- who asks ---- */

enum hub_status hub_hf_whoami(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    if (hub_request_header(request, "Authorization") && hub_hf_has_upstream(request))
        return hub_hf_pass_on(request, response, err); /* whose token it is is known there */
    return hub_buf_add_text(
        hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB),
        "{\"type\":\"user\",\"name\":\"anonymous\",\"fullname\":\"anyone who can reach this hub\","
        "\"orgs\":[],\"auth\":{\"type\":\"access_token\",\"accessToken\":{\"displayName\":\"none\","
        "\"role\":\"read\"}}}\n",
        err);
}

static enum hub_status auth_check_here(struct hub_request *request, struct hub_response *response,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    HUB_TRY(hub_hf_repo_open(request, &repo, err));
    return hub_buf_add_text(hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB),
                            "{}\n", err);
}

enum hub_status hub_hf_auth_check(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, auth_check_here);
}
