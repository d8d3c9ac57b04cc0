/* Lists of repos, what is said of one, and its names of commits. */
#include "server/api/visible.h"
#include "server/facade/cached_answer.h"
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_upstream.h"

#include "server/api/cursor.h"
#include "storage/ids/hf_cache.h"
#include "storage/ids/spell.h"
#include "storage/model/format_row.h"
#include "storage/text/time.h"

#include <inttypes.h>
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
    if (repo->topic)
        hub_json_string(json, hub_view_of(repo->topic));
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
        HUB_TRY(hub_object_facts(request, object, true, &facts, err));
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
    HUB_TRY(hub_objects_open(request, &objects, err));
    objects.others = repo->other;
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
    return hub_cached_answer(request, response, make_repo, err);
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
    HUB_TRY(hub_response_header(response, err, "X-Total-Count", "1"));
    return hub_json_status(&json);
}

enum hub_status hub_hf_commits(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, commits_here);
}

/* ---- all ---- */

struct listed_repo {
    char id[256];
    int64_t modified_ns; /* time of its last change */
};

struct repo_listing {
    struct hub_request *request;
    struct hub_json json;
    struct hub_view author;
    struct listed_repo *all, *last; /* those that are meant; the last that was given out */
    uint32_t known, count, limit;
    bool by_time, ascending;
};

/* The repo that a dataset is in, "org/name": that of Minari's namespace, or its first two folders, which are
 * ORG/NAME in the cache of huggingface_hub whatever the format. False: none. */
static bool repo_of(const struct hub_app *app, const struct hub_summary *summary, char out[256],
                    struct hub_view *org, struct hub_view *name)
{
    const char *first = strchr(summary->id, '/');
    const bool minari = hub_is_minari(summary) && !hub_hf_cache_commit(hub_view_of(summary->path)).size;
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

static enum hub_status add_repo(struct repo_listing *r, struct hub_view org, struct hub_view name,
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

/* Those of a name that may be given several times: all have to hold. */
static bool has_all(const struct hub_request *request, const char *name, const char *text,
                    bool (*has)(const char *text, struct hub_view wanted))
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, name) && request->query[i].value.size &&
            !has(text, request->query[i].value))
            return false;
    return true;
}

static bool has_words(const char *id, struct hub_view wanted)
{
    return strcasestr(id, wanted.data);
}

static bool has_tag(const char *tag, struct hub_view wanted)
{
    return hub_view_is(wanted, tag);
}

/* Its tags are known by the format; no repo here is gated. */
static bool is_meant(const struct repo_listing *r, const struct hub_summary *summary, const char *id,
                     struct hub_view org)
{
    const struct hub_view gated = hub_request_query(r->request, "gated");
    const char *tag = hub_format_traits_of(summary->format)->repo_tag;
    if (r->author.size && !hub_view_equal(org, r->author))
        return false;
    return has_all(r->request, "search", id, has_words) &&
           has_all(r->request, "filter", tag ? tag : "", has_tag) &&
           !(gated.size && strcasecmp(gated.data, "false") != 0);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct listed_repo *)a)->id, ((const struct listed_repo *)b)->id);
}

static int by_time(const void *a, const void *b)
{
    const int64_t first = ((const struct listed_repo *)a)->modified_ns,
                  second = ((const struct listed_repo *)b)->modified_ns;
    return first != second ? (first < second) - (first > second) : by_id(a, b);
}

static int by_time_ascending(const void *a, const void *b)
{
    return by_time(b, a);
}

static int (*order_of(const struct repo_listing *r))(const void *, const void *)
{
    return !r->by_time ? by_id : r->ascending ? by_time_ascending : by_time;
}

/* Datasets of one repo count as one. */
static void merge(struct repo_listing *r)
{
    uint32_t count = 0;
    qsort(r->all, r->known, sizeof *r->all, by_id);
    for (uint32_t i = 0; i < r->known; i++) {
        struct listed_repo *before = count ? &r->all[count - 1] : NULL;
        if (before && strcmp(before->id, r->all[i].id) == 0)
            before->modified_ns = HUB_MAX(before->modified_ns, r->all[i].modified_ns);
        else
            r->all[count++] = r->all[i];
    }
    r->known = count;
    qsort(r->all, r->known, sizeof *r->all, order_of(r));
}

static void collect(struct repo_listing *r, const struct hub_snapshot *snapshot)
{
    struct hub_view org, name;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        struct listed_repo *listed = &r->all[r->known];
        listed->modified_ns = summary->modified_ns;
        r->known += hub_summary_is_offered(summary) &&
                    repo_of(r->request->app, summary, listed->id, &org, &name) &&
                    is_meant(r, summary, listed->id, org);
    }
    merge(r);
}

/* Those behind `after`, up to the limit. */
static enum hub_status write_repos(struct repo_listing *r, const struct listed_repo *after, bool *more,
                                   struct hub_error *err)
{
    for (uint32_t i = 0; i < r->known; i++) {
        struct listed_repo *listed = &r->all[i];
        if (*after->id && order_of(r)(listed, after) <= 0)
            continue;
        *more = r->count == r->limit;
        if (*more)
            return HUB_OK;
        const char *slash = strchr(listed->id, '/');
        HUB_TRY(add_repo(r, (struct hub_view){listed->id, (size_t)(slash - listed->id)},
                         hub_view_of(slash + 1), err));
        r->last = listed;
    }
    return HUB_OK;
}

static void repos_dispose(struct repo_listing *r)
{
    free(r->all);
}

/* What there is to sort by is the time: nobody counts downloads or likes. The newest come first, as there. */
static enum hub_status read_repos(struct hub_request *request, struct repo_listing *r,
                                  struct listed_repo *after, struct hub_error *err)
{
    struct hub_page_cursor cursor = {0};
    int64_t limit = 1000;
    const struct hub_view sort = hub_request_query(request, "sort");
    r->request = request;
    r->author = hub_request_query(request, "author");
    r->by_time = sort.data && (hub_view_is(sort, "lastModified") || hub_view_is(sort, "last_modified") ||
                               hub_view_is(sort, "createdAt") || hub_view_is(sort, "created_at"));
    r->ascending = hub_view_is(hub_request_query(request, "direction"), "1");
    (void)hub_request_int(request, "limit", &limit);
    r->limit = limit > 0 && limit < 1000 ? (uint32_t)limit : 1000;
    if (hub_request_query(request, "cursor").data)
        HUB_TRY(hub_cursor_decode(hub_request_query(request, "cursor"), "", &cursor, err));
    snprintf(after->id, sizeof after->id, "%.255s", cursor.key);
    after->modified_ns = strtoll(cursor.tie, NULL, 10);
    return HUB_OK;
}

static enum hub_status link_repos(const struct repo_listing *r, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    struct hub_page_cursor next = {0};
    snprintf(next.key, sizeof next.key, "%s", r->last->id);
    snprintf(next.tie, sizeof next.tie, "%" PRId64, r->last->modified_ns);
    HUB_TRY(hub_page_next_url(r->request, &next, &url, err));
    return hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data);
}

enum hub_status hub_hf_repos(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = NULL;
    HUB_CLEANUP(repos_dispose) struct repo_listing r = {0};
    struct listed_repo after;
    bool more = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(read_repos(request, &r, &after, err));
    snapshot = hub_request_snapshot(request);
    r.all = malloc((snapshot->count + 1) * sizeof *r.all);
    HUB_TRY(hub_allocated(r.all, err));
    collect(&r, snapshot);
    r.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 16 * MIB), err);
    hub_json_array(&r.json);
    HUB_TRY(write_repos(&r, &after, &more, err));
    hub_json_end_array(&r.json);
    if (more)
        HUB_TRY(link_repos(&r, response, err));
    return hub_json_status(&r.json);
}

/* ---- who asks ---- */

/* The token, or the user whom a proxy names, with the groups. */
static enum hub_status name_principal(const struct hub_principal *principal, struct hub_response *response,
                                      struct hub_error *err)
{
    const char *name = principal->token ? principal->token : principal->user;
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 64 * KIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "type", "user");
    hub_json_put_text(&json, "name", name);
    hub_json_put_text(&json, "fullname", name);
    hub_json_put_array(&json, "orgs");
    for (uint32_t i = 0; i < principal->group_count; i++) {
        hub_json_object(&json);
        hub_json_put_text(&json, "name", principal->groups[i]);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    hub_json_put_object(&json, "auth");
    hub_json_put_text(&json, "type", "access_token");
    hub_json_put_object(&json, "accessToken");
    hub_json_put_text(&json, "displayName", name);
    hub_json_put_text(&json, "role", "read");
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_hf_whoami(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    const bool signed_in = hub_principal_signed_in(&request->principal);
    if (!signed_in && hub_request_header(request, "Authorization") && hub_hf_has_upstream(request))
        return hub_hf_pass_on(request, response, err); /* the upstream knows the owner of the token */
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    if (signed_in)
        return name_principal(&request->principal, response, err);
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
