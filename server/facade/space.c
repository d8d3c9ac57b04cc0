/* Namespaces as objects: see space.h. */
#include "server/facade/space.h"

#include "server/api/namespace_file.h"
#include "storage/ids/hf_cache.h"
#include "storage/text/json.h"

#include <stdio.h>

/* Where a namespace lies below its root: in the cache of huggingface_hub so many segments above a dataset
 * in it as their names are apart, else as it is called. */
static struct hub_view folder_of(const struct hub_objects *objects, const struct hub_summary *within,
                                 struct hub_view folder)
{
    const char *root = objects->app->roots->roots[within->root].name;
    const size_t skip = root ? HUB_MIN(folder.size, strlen(root) + 1) : 0;
    struct hub_view path = hub_view_of(within->path);
    if (!hub_hf_cache_commit(path).size)
        return (struct hub_view){folder.data + skip, folder.size - skip};
    for (const char *at = within->id + folder.size; *at && path.size; at += 1 + strcspn(at + 1, "/")) {
        const char *slash = memrchr(path.data, '/', path.size);
        path.size = slash ? (size_t)(slash - path.data) : 0;
    }
    return path;
}

/* What lies on the disk, or nothing; what cannot be read is as if it were not there. */
static enum hub_status read_stored(const struct hub_objects *objects, const struct hub_summary *within,
                                   struct hub_view folder, json_t **out, int64_t *modified_ns,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB);
    const struct hub_view below = folder_of(objects, within, folder);
    if (!hub_namespace_file(objects->app->roots, within->root, below, &text, modified_ns, NULL))
        HUB_TRY(hub_json_parse(hub_buf_view(&text), text.limit, out, err));
    if (!*out)
        *out = json_object();
    return hub_allocated(*out, err);
}

/* The namespaces between this one and a dataset, but for those that the dataset before lies in too:
 * neighbours come one behind the other. */
static void add_spaces(json_t *spaces, const char *id, const char *before, size_t from)
{
    for (const char *at = strchr(id + from, '/'); at; at = strchr(at + 1, '/')) {
        const size_t size = (size_t)(at - id);
        if (strncmp(before, id, size + 1) != 0)
            (void)json_array_append_new(spaces, json_stringn(id, size));
    }
}

/* Of an id what a client of Hugging Face calls it: in the cache of huggingface_hub, and in a repo of an
 * author of its own, the author stands before it. */
static const char *called(const struct hub_summary *summary, size_t author)
{
    if (author)
        return summary->id + author;
    const char *slash =
        hub_hf_cache_commit(hub_view_of(summary->path)).size ? strchr(summary->id, '/') : NULL;
    return slash ? slash + 1 : summary->id;
}

enum hub_status hub_space_text(const struct hub_objects *objects, const struct hub_object *object,
                               struct hub_buf *out, int64_t *modified_ns, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *stored = NULL;
    const struct hub_view name = object->name;
    const struct hub_view folder = {name.data, name.size - strlen(hub_namespace_file_name) - 1},
                          begins = {name.data, folder.size + 1};
    HUB_CLEANUP(hub_json_decrefp) json_t *datasets = json_array(), *spaces = json_array();
    const struct hub_summary *summary;
    const char *before = "";
    enum hub_status st = HUB_OK;
    *modified_ns = 0;
    for (uint32_t at = 0; !st && (summary = hub_objects_below(objects, begins, &at));) {
        if (!hub_is_minari(summary))
            continue;
        int64_t written = 0;
        if (!stored)
            st = read_stored(objects, summary, folder, &stored, &written, err);
        *modified_ns = HUB_MAX(HUB_MAX(*modified_ns, written), summary->modified_ns);
        const char *id = called(summary, object->author);
        const size_t author = (size_t)(id - summary->id);
        (void)json_array_append_new(datasets, json_string(id));
        if (strlen(summary->id) > begins.size && begins.size >= author)
            add_spaces(spaces, id, before, begins.size - author);
        before = id;
    }
    if (!stored && !st)
        stored = json_object();
    if (st || json_object_set(stored, "datasets", datasets) || json_object_set(stored, "namespaces", spaces))
        return st ? st : hub_no_memory(err);
    HUB_CLEANUP(hub_freep) char *text = json_dumps(stored, JSON_INDENT(1) | JSON_SORT_KEYS);
    return text ? hub_buf_add_text(out, text, err) : hub_no_memory(err);
}

enum hub_status hub_space_send(struct hub_request *request, struct hub_buf *text, int64_t modified_ns,
                               const char *tag, struct hub_response *response, struct hub_error *err)
{
    char etag[40];
    bool done = false;
    struct hub_byte_range range = {0};
    const struct hub_view whole = hub_buf_view(text);
    if (tag)
        snprintf(etag, sizeof etag, "%s", tag);
    else
        hub_fingerprint(etag, &whole, 1);
    const struct hub_validators validators = {etag, modified_ns / 1000000000};
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    HUB_TRY(hub_resolve_conditions(request, response, etag, validators.modified_s, &done, err));
    if (done)
        return HUB_OK;
    HUB_TRY(hub_bytes_range(request, &validators, text->size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    struct hub_buf *out = hub_response_buffer(response, response->status, "application/json", text->limit);
    response->is_json = false; /* its bytes are those that were announced */
    return hub_buf_add_view(out, (struct hub_view){text->data + range.first, (size_t)range.count}, err);
}
