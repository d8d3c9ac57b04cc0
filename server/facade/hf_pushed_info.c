/* What is said of a repo that was pushed: itself, its branches and tags, its commits. */
#include "server/facade/hf_pushed.h"

#include "storage/text/time.h"

#include <stdio.h>

enum { MOST_SIBLINGS = 50000, MOST_COMMITS = 1000 };
#define JSON_TYPE "application/json; charset=utf-8"

static void put_time(struct hub_json *json, const char *key, int64_t at_ms)
{
    char text[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(at_ms, text);
    hub_json_put_text(json, key, text);
}

static enum hub_status put_id(struct hub_json *json, const struct hub_hf_pushed *pushed,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_buf_addf(&id, err, "%s/%s", pushed->org.data, pushed->name.data));
    hub_json_put_string(json, "id", hub_buf_view(&id));
    hub_json_put_string(json, "author", pushed->org);
    return hub_json_status(json);
}

/* ---- the repo ---- */

struct siblings {
    struct hub_json *json;
    bool blobs;
    unsigned count;
};

static enum hub_status put_sibling(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    struct siblings *s = user;
    struct hub_hf_file_id id;
    (void)err;
    if (s->count++ == MOST_SIBLINGS)
        return HUB_CANCELLED; /* clients ask for the tree */
    hub_json_object(s->json);
    hub_json_put_text(s->json, "rfilename", file->path);
    if (s->blobs) {
        hub_hf_pushed_id(file, &id);
        hub_json_put_uint(s->json, "size", file->size);
        hub_json_put_text(s->json, "blobId", id.oid);
        if (id.sha256[0])
            hub_hf_put_lfs(s->json, "sha256", &id, file->size);
    }
    hub_json_end_object(s->json);
    return hub_json_status(s->json);
}

enum hub_status hub_hf_pushed_repo(struct hub_request *request, struct hub_hf_pushed *pushed,
                                   struct hub_response *response, struct hub_error *err)
{
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, JSON_TYPE, 32 * MIB), err);
    const struct hub_view blobs = hub_request_query(request, "blobs");
    struct siblings siblings = {.json = &json, .blobs = blobs.size && strcasecmp(blobs.data, "true") == 0};
    static const char *const never[] = {"private", "gated", "disabled"}, *const none[] = {"downloads",
                                                                                          "likes"};
    hub_json_object(&json);
    HUB_TRY(put_id(&json, pushed, err));
    hub_json_put_text(&json, "sha", pushed->at.id);
    put_time(&json, "lastModified", pushed->at.at_ms);
    put_time(&json, "createdAt", pushed->row.made_ms);
    for (size_t i = 0; i < HUB_COUNT(never); i++)
        hub_json_put_bool(&json, never[i], false);
    for (size_t i = 0; i < HUB_COUNT(none); i++)
        hub_json_put_uint(&json, none[i], 0);
    hub_json_put_array(&json, "tags");
    if (pushed->in.topic)
        hub_json_string(&json, hub_view_of(pushed->in.topic));
    hub_json_end_array(&json);
    hub_json_put_array(&json, "siblings");
    HUB_TRY(hub_push_files_each(request->app->truth, &pushed->at, "", "", put_sibling, &siblings, err));
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* ---- refs ---- */

struct refs {
    struct hub_json *json;
    const char *kind, *prefix;
    const char *derived; /* the version of the format as a tag; NULL: somebody set it */
};

static void put_ref(struct hub_json *json, const char *prefix, const char *name, const char *commit)
{
    char ref[300];
    snprintf(ref, sizeof ref, "refs/%s/%.250s", prefix, name);
    hub_json_object(json);
    hub_json_put_text(json, "name", name);
    hub_json_put_text(json, "ref", ref);
    hub_json_put_text(json, "targetCommit", commit);
    hub_json_end_object(json);
}

static enum hub_status add_ref(void *user, const struct hub_ref *ref, struct hub_error *err)
{
    struct refs *refs = user;
    (void)err;
    if (strcmp(ref->kind, refs->kind) != 0)
        return HUB_OK;
    if (refs->derived && strcmp(ref->name, refs->derived) == 0)
        refs->derived = NULL;
    put_ref(refs->json, refs->prefix, ref->name, ref->push);
    return hub_json_status(refs->json);
}

enum hub_status hub_hf_pushed_refs(struct hub_request *request, struct hub_hf_pushed *pushed,
                                   struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push published = {0};
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, JSON_TYPE, 4 * MIB), err);
    struct hub_truth *truth = request->app->truth;
    struct refs branches = {.json = &json, .kind = "branch", .prefix = "heads"},
                tags = {.json = &json,
                        .kind = "tag",
                        .prefix = "tags",
                        .derived = pushed->in.tag[0] ? pushed->in.tag : NULL};
    hub_json_object(&json);
    hub_json_put_array(&json, "branches");
    HUB_TRY(hub_refs_each(truth, pushed->row.id, add_ref, &branches, err));
    hub_json_end_array(&json);
    hub_json_put_array(&json, "tags");
    HUB_TRY(hub_refs_each(truth, pushed->row.id, add_ref, &tags, err));
    if (tags.derived && hub_push_published(truth, pushed->row.id, &published, NULL) == HUB_OK)
        put_ref(&json, "tags", tags.derived, published.id);
    hub_json_end_array(&json);
    hub_json_put_raw(&json, "converts", HUB_VIEW("[]"));
    hub_json_put_raw(&json, "pullRequests", HUB_VIEW("[]"));
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* ---- commits ---- */

struct history {
    struct hub_json json;
    unsigned count;
};

static enum hub_status put_push(void *user, const struct hub_push *push, struct hub_error *err)
{
    struct history *h = user;
    (void)err;
    h->count++;
    hub_json_object(&h->json);
    hub_json_put_text(&h->json, "id", push->id);
    hub_json_put_text(&h->json, "title", push->title);
    hub_json_put_text(&h->json, "message", push->message);
    put_time(&h->json, "date", push->at_ms);
    hub_json_put_array(&h->json, "authors");
    hub_json_object(&h->json);
    hub_json_put_text(&h->json, "user", push->who);
    hub_json_end_object(&h->json);
    hub_json_end_array(&h->json);
    hub_json_put_text(&h->json, "state", hub_push_states[push->state]);
    hub_json_end_object(&h->json);
    return hub_json_status(&h->json);
}

enum hub_status hub_hf_pushed_commits(struct hub_request *request, struct hub_hf_pushed *pushed,
                                      struct hub_response *response, struct hub_error *err)
{
    struct history h = {.json = hub_json_to(hub_response_buffer(response, 200, JSON_TYPE, 8 * MIB), err)};
    hub_json_array(&h.json);
    HUB_TRY(hub_pushes_each(request->app->truth, &pushed->at, MOST_COMMITS, put_push, &h, err));
    hub_json_end_array(&h.json);
    HUB_TRY(hub_response_header(response, err, "X-Total-Count", "%u", h.count));
    return hub_json_status(&h.json);
}
