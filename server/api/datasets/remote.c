/* Datasets that an upstream has: see remote.h. */
#include "server/api/datasets/remote.h"

#include "server/api/datasets/documents.h"
#include "server/api/datasets/origin.h"
#include "server/api/put.h"
#include "server/api/reply.h"
#include "server/api/response_cache.h"
#include "server/mirror/peek.h"

/* ---- what its upstream says of it ---- */

enum { LONGEST = 1024 * 1024, DOCUMENT_BYTES = 4 * 1024 * 1024 };

/* As what follows is in a document of our own; what is of another type is none of ours. */
static const struct {
    const char *key;
    json_type type;
} taken[] = {
    {"metadata", JSON_OBJECT},     {"observation_space", JSON_OBJECT},
    {"action_space", JSON_OBJECT}, {"env_spec", JSON_OBJECT},
    {"splits", JSON_OBJECT},       {"statistics", JSON_OBJECT},
    {"fields", JSON_ARRAY},        {"media", JSON_ARRAY},
    {"files", JSON_INTEGER},       {"fps", JSON_INTEGER},
};

static bool is_taken(const json_t *document, struct hub_view key)
{
    for (size_t i = 0; i < HUB_COUNT(taken); i++)
        if (hub_view_is(key, taken[i].key))
            return json_typeof(json_object_get(document, taken[i].key)) == taken[i].type;
    return false;
}

/* Write the selected members of the upstream's document, each as it was written. */
static enum hub_status write_taken(struct hub_view text, const json_t *document, struct hub_buf *out,
                                   struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    struct hub_view key, value;
    hub_json_object(&json);
    while (hub_json_take(&text, &key, &value))
        if (is_taken(document, key)) {
            hub_json_key(&json, key);
            hub_json_raw(&json, value);
        }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* An object; none where the upstream does not answer just now. */
static void find_taken(const struct hub_app *app, const struct hub_summary *summary, struct hub_buf *out)
{
    const struct hub_cached_response_key key = {
        .kind = HUB_KEPT_REMOTE, .state = summary->serial, .question = hub_view_of(summary->id)};
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf copy = HUB_BUF_INIT(LONGEST), text = HUB_BUF_INIT(DOCUMENT_BYTES);
    struct hub_error why = {0};
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_find(app, &key);
    if (answer) {
        (void)!hub_buf_add_view(out, hub_bytes_view(hub_cached_response_body(answer)), NULL);
    } else if (!hub_peek_document(app->mirrors, summary, &text, &document, &why) &&
               !write_taken(hub_buf_view(&text), document, out, &why) &&
               !hub_buf_add_view(&copy, hub_buf_view(out), NULL)) {
        hub_cached_response_put(
            hub_cached_response_add(app, &key, &(struct hub_cached_response_content){.body = &copy}));
    } else {
        out->size = 0;
    }
}

/* Its members, and no fields where it does not say which there are. */
static void put_taken(struct hub_json *json, const struct hub_app *app, const struct hub_summary *summary)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(LONGEST);
    struct hub_view rest, key, value;
    bool fields = false;
    find_taken(app, summary, &text);
    rest = hub_buf_view(&text);
    while (rest.size && hub_json_take(&rest, &key, &value)) {
        fields |= hub_view_is(key, "fields");
        hub_json_key(json, key);
        hub_json_raw(json, value);
    }
    if (fields)
        return;
    hub_json_put_array(json, "fields");
    hub_json_end_array(json);
}

enum hub_status hub_remote_answer(struct hub_request *request, const struct hub_target *target,
                                  struct hub_response *response, struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite is asked for the rule */
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    hub_json_object(&json);
    hub_summary_write(&json, request->app->truth, target->summary);
    hub_versions_write(&json, request->app->truth, target);
    hub_origin_write(&json, request->app->truth, target->summary);
    put_taken(&json, request->app, target->summary);
    hub_json_put_array(&json, "problems");
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    struct hub_target known = *target;
    known.pinned = false; /* the upstream may say more another time */
    HUB_TRY(hub_resolve_headers(request, &known, response, err));
    return hub_reply_document(request, response, err);
}
