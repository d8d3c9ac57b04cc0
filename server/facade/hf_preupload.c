/* How the files of a push are to be sent, and which of them the repo has already. */
#include "server/facade/handlers.h"
#include "server/facade/hf_push.h"

enum { MOST_FILES = 10000, ANSWER_BYTES = 8 * 1024 * 1024 };

struct asking {
    const struct hub_app *app;
    struct hub_push head;
    struct hub_json json;
};

static void asking_dispose(struct asking *a)
{
    hub_push_dispose(&a->head);
}

/* What clients compare with what they have. */
static void put_oid(struct asking *a, const struct hub_push_file *file, bool lfs)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    if (lfs)
        hub_hex(file->sha256, sizeof file->sha256, hex);
    else if (file->has_sha1)
        hub_hex(file->sha1, sizeof file->sha1, hex);
    else
        return;
    hub_json_put_text(&a->json, "oid", hex);
}

static enum hub_status answer_file(struct asking *a, const json_t *item, struct hub_error *err)
{
    struct hub_push_file file;
    const char *path = json_string_value(json_object_get(item, "path"));
    const json_int_t size = json_integer_value(json_object_get(item, "size"));
    if (!path || size < 0)
        return hub_fail(err, HUB_INVALID, "a file has a path and a size");
    const enum hub_status st = hub_push_file_find(a->app->truth, &a->head, path, &file, NULL);
    if (st && st != HUB_NOT_FOUND)
        return hub_fail(err, st, "the files of the repo cannot be read");
    const bool lfs = hub_hf_is_lfs(hub_view_of(path), (uint64_t)size);
    hub_json_object(&a->json);
    hub_json_put_text(&a->json, "path", path);
    hub_json_put_text(&a->json, "uploadMode", lfs ? "lfs" : "regular");
    hub_json_put_bool(&a->json, "shouldIgnore", hub_hf_is_ignored(hub_view_of(path)));
    if (!st && file.lfs == lfs)
        put_oid(a, &file, lfs);
    hub_json_end_object(&a->json);
    return hub_json_status(&a->json);
}

static enum hub_status answer_all(struct asking *a, const json_t *files, struct hub_error *err)
{
    const json_t *item;
    size_t i;
    if (!json_is_array(files) || json_array_size(files) > MOST_FILES)
        return hub_fail(err, HUB_INVALID, "\"files\" is not an array of at most %d files", MOST_FILES);
    hub_json_object(&a->json);
    hub_json_put_array(&a->json, "files");
    json_array_foreach(files, i, item) HUB_TRY(answer_file(a, item, err));
    hub_json_end_array(&a->json);
    hub_json_put_text(&a->json, "commitOid", a->head.id);
    hub_json_end_object(&a->json);
    return hub_json_status(&a->json);
}

enum hub_status hub_hf_preupload(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_written_dispose) struct hub_hf_written written = {0};
    HUB_CLEANUP(asking_dispose) struct asking a = {.app = request->app};
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    const char *branch;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &written, err));
    HUB_TRY(hub_hf_branch(request, &branch, err));
    HUB_TRY(hub_push_named(request->app->truth, written.row.id, hub_view_of(branch), &a.head, err));
    HUB_TRY(hub_hf_body(request, &document, err));
    a.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", ANSWER_BYTES), err);
    return answer_all(&a, json_object_get(document, "files"), err);
}
