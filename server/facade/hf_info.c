/* What is said of a repo, and its names of commits; who asks. */
#include "server/api/visible.h"
#include "server/facade/cached_answer.h"
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_pushed.h"
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

enum hub_status hub_hf_put_head(struct hub_json *json, const struct hub_hf_repo *repo, struct hub_error *err)
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
    objects.author = hub_hf_repo_author(repo);
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
    HUB_TRY(hub_hf_put_head(&json, &repo, err));
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

static enum hub_status repo_show_or_pushed(struct hub_request *request, struct hub_response *response,
                                           struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_repo, repo_show_here);
}

enum hub_status hub_hf_repo_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, repo_show_or_pushed);
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

static enum hub_status refs_or_pushed(struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_refs, refs_here);
}

enum hub_status hub_hf_refs(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, refs_or_pushed);
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

static enum hub_status commits_or_pushed(struct hub_request *request, struct hub_response *response,
                                         struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_commits, commits_here);
}

enum hub_status hub_hf_commits(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, commits_or_pushed);
}

/* ---- who asks ---- */

/* The token, or the user whom a proxy names, with the groups. */
static enum hub_status name_principal(const struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    const struct hub_principal *principal = &request->principal;
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
    hub_json_put_text(&json, "role", hub_request_may_write_some(request) ? "write" : "read");
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
        return name_principal(request, response, err);
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

static enum hub_status auth_check_or_pushed(struct hub_request *request, struct hub_response *response,
                                            struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_known, auth_check_here);
}

enum hub_status hub_hf_auth_check(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, auth_check_or_pushed);
}
