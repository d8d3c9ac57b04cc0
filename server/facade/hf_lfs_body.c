/* See hf_lfs_body.h. */
#include "server/facade/hf_lfs_body.h"

#include "storage/text/json.h"

bool hub_lfs_name_read(struct hub_view text, struct hub_lfs_object *out)
{
    if (text.size != sizeof out->oid - 1 || !hub_unhex(text, out->sha256, sizeof out->sha256))
        return false;
    hub_hex(out->sha256, sizeof out->sha256, out->oid);
    return true;
}

static enum hub_status parse(struct hub_view body, json_t **out, struct hub_error *err)
{
    struct hub_error why = {0};
    return hub_json_parse(body, HUB_LFS_BODY, out, &why)
               ? hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail)
               : HUB_OK;
}

static enum hub_status read_object(const json_t *item, hub_lfs_each each, void *user, struct hub_error *err)
{
    struct hub_lfs_object object = {0};
    const char *oid = json_string_value(json_object_get(item, "oid"));
    const json_t *size = json_object_get(item, "size");
    if (!oid || !hub_lfs_name_read(hub_view_of(oid), &object) || !json_is_integer(size) ||
        json_integer_value(size) < 0)
        return hub_fail(err, HUB_INVALID, "an object has \"oid\", a SHA-256 in 64 digits, and \"size\"");
    object.size = (uint64_t)json_integer_value(size);
    return each(user, &object, err);
}

static bool has_text(const json_t *list, const char *text)
{
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) if (json_is_string(item) &&
                                          strcmp(json_string_value(item), text) == 0) return true;
    return false;
}

enum hub_status hub_lfs_batch_read(struct hub_view body, bool *takes_parts, hub_lfs_each each, void *user,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(parse(body, &document, err));
    const char *operation = json_string_value(json_object_get(document, "operation"));
    const char *hash = json_string_value(json_object_get(document, "hash_algo"));
    const json_t *objects = json_object_get(document, "objects"), *item;
    size_t i;
    if (!operation || strcmp(operation, "upload") != 0)
        return hub_fail(err, HUB_INVALID, "\"operation\" is not upload: files are read at /resolve/");
    if (hash && strcmp(hash, "sha256") != 0 && strcmp(hash, "sha_256") != 0)
        return hub_fail(err, HUB_INVALID, "\"hash_algo\" is not sha256");
    if (!json_is_array(objects) || json_array_size(objects) > HUB_LFS_OBJECTS)
        return hub_fail(err, HUB_INVALID, "\"objects\" is not an array of at most %d objects",
                        HUB_LFS_OBJECTS);
    *takes_parts = has_text(json_object_get(document, "transfers"), "multipart");
    json_array_foreach(objects, i, item) HUB_TRY(read_object(item, each, user, err));
    return HUB_OK;
}

enum hub_status hub_lfs_object_read(struct hub_view body, hub_lfs_each each, void *user,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(parse(body, &document, err));
    return read_object(document, each, user, err);
}

/* As it was answered, with its quotes; some clients take them off. */
static bool read_etag(const json_t *item, uint8_t row[HUB_SHA256_BYTES])
{
    const char *text = json_string_value(json_object_get(item, "etag"));
    struct hub_view etag = hub_view_of(text ? text : "");
    if (etag.size >= 2 && etag.data[0] == '"' && etag.data[etag.size - 1] == '"')
        etag = (struct hub_view){etag.data + 1, etag.size - 2};
    return hub_unhex(etag, row, HUB_SHA256_BYTES);
}

enum hub_status hub_lfs_parts_read(struct hub_view body, uint32_t most, uint8_t (**rows)[HUB_SHA256_BYTES],
                                   uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(parse(body, &document, err));
    const json_t *parts = json_object_get(document, "parts"), *item;
    const size_t size = json_array_size(parts);
    size_t i;
    if (!size || size > most)
        return hub_fail(err, HUB_INVALID, "\"parts\" is not an array of 1 to %u parts", (unsigned)most);
    HUB_TRY(hub_new(rows, size, sizeof **rows, err));
    json_array_foreach(parts, i, item)
    {
        if (json_integer_value(json_object_get(item, "partNumber")) != (json_int_t)i + 1)
            return hub_fail(err, HUB_INVALID, "\"parts\" are numbered from 1, in their order");
        if (!read_etag(item, (*rows)[i]))
            return hub_fail(err, HUB_INVALID, "part %zu has another \"etag\" than any that was answered",
                            i + 1);
    }
    *count = (uint32_t)size;
    return HUB_OK;
}
