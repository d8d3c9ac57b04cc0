/* Remotes: the table, and what the kinds share. */
#include "storage/remote/remote.h"

#include "storage/base/id.h"
#include "storage/base/order.h"

#include <stdlib.h>
#include <strings.h>

const struct hub_remote_row hub_remotes[] = {
    {"http://", &hub_remote_hub, 0},
    {"https://", &hub_remote_hub, 0},
    {"gcp://", NULL, 1},
    {"hf://", NULL, 2},
    {NULL, NULL, 0},
};

const struct hub_remote_row *hub_remote_find(struct hub_view address, struct hub_view *rest)
{
    for (const struct hub_remote_row *row = hub_remotes; row->scheme; row++) {
        const size_t head = strlen(row->scheme);
        if (address.size <= head || strncasecmp(address.data, row->scheme, head) != 0)
            continue;
        *rest = (struct hub_view){address.data + head, address.size - head};
        return row;
    }
    return NULL;
}

enum hub_status hub_remote_open(const char *address, const struct hub_transport_options *options,
                                struct hub_remote *out, struct hub_error *err)
{
    struct hub_view rest;
    const struct hub_remote_row *row = hub_remote_find(hub_view_of(address), &rest);
    if (!row || !row->kind)
        return hub_fail(err, HUB_UNSUPPORTED, "this version cannot talk to '%.200s'", address);
    *out = (struct hub_remote){.kind = row->kind, .base = strdup(address)};
    HUB_TRY(hub_allocated(out->base, err));
    return hub_transport_new(options, &out->transport, err);
}

void hub_remote_close(struct hub_remote *remote)
{
    hub_transport_free(remote->transport);
    free(remote->base);
    *remote = (struct hub_remote){0};
}

/* ---- documents ---- */

static enum hub_status into_buffer_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                        struct hub_error *err)
{
    struct hub_buf *out = fetch->user;
    out->size = 0; /* an earlier attempt's */
    fetch->done = 0;
    if (!answer->has_length || answer->length > out->limit)
        return HUB_OK; /* counted as it comes */
    return hub_buf_reserve(out, (size_t)answer->length, err);
}

static enum hub_status into_buffer(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(fetch->user, bytes.data, bytes.size, err);
}

/* GET a body of at most `out->limit` bytes. */
static enum hub_status read_body(struct hub_remote *remote, const char *url, const char *accept,
                                 struct hub_buf *out, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url,
                              .accept = accept,
                              .restartable = true,
                              .limit = out->limit,
                              .head = into_buffer_head,
                              .body = into_buffer,
                              .user = out};
    return hub_transport_get(remote->transport, &fetch, err);
}

enum hub_status hub_remote_document(struct hub_remote *remote, const char *url, size_t max_bytes,
                                    struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf own = HUB_BUF_INIT(max_bytes);
    struct hub_buf *body = text ? text : &own;
    HUB_TRY(read_body(remote, url, "application/json", body, err));
    if (hub_json_parse(hub_buf_view(body), max_bytes, out, NULL) || !json_is_object(*out))
        return hub_fail_as(err, HUB_CORRUPT, "protocol",
                           "the answer of %.200s is not a JSON object: is it a hub?", url);
    return HUB_OK;
}

const char *hub_member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

uint64_t hub_member_uint(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n > 0 ? (uint64_t)n : 0;
}

/* ---- files ---- */

enum hub_status hub_path_check(const char *path, struct hub_error *err)
{
    const char *at = path;
    bool good = path && strlen(path) < 4096;
    while (good) {
        const char *slash = strchrnul(at, '/');
        good = hub_id_segment_safe((struct hub_view){at, (size_t)(slash - at)});
        if (!*slash)
            break;
        at = slash + 1;
    }
    return good ? HUB_OK
                : hub_fail_as(err, HUB_CORRUPT, "protocol",
                              "the hub lists a file that cannot be created safely: '%.200s'",
                              path ? path : "");
}

enum hub_status hub_remote_files_add(struct hub_remote_files *files, const char *path, uint64_t size,
                                     const char *sha256, struct hub_error *err)
{
    HUB_TRY(hub_path_check(path, err));
    if (files->count == HUB_MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "a dataset of more than %d files", HUB_MAX_FILES);
    HUB_TRY(hub_grow(&files->items, files->count, &files->capacity, sizeof *files->items, err));
    struct hub_remote_file *file = &files->items[files->count];
    *file = (struct hub_remote_file){.path = strdup(path), .size = size};
    HUB_TRY(hub_allocated(file->path, err));
    files->count++;
    file->has_sha256 = sha256 && hub_unhex(hub_view_of(sha256), file->sha256, HUB_SHA256_BYTES);
    if (__builtin_add_overflow(files->bytes, size, &files->bytes))
        return hub_fail_as(err, HUB_CORRUPT, "protocol", "the hub's file sizes overflow");
    return HUB_OK;
}

enum hub_status hub_remote_files_finish(struct hub_remote_files *files, struct hub_error *err)
{
    if (files->count)
        qsort(files->items, files->count, sizeof *files->items, hub_by_text);
    for (size_t i = 1; i < files->count; i++)
        if (strcmp(files->items[i - 1].path, files->items[i].path) == 0)
            return hub_fail_as(err, HUB_CORRUPT, "protocol", "the hub lists '%s' twice",
                               files->items[i].path);
    return HUB_OK;
}

void hub_remote_files_dispose(struct hub_remote_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].path);
    free(files->items);
    free(files->id);
    free(files->revision);
    *files = (struct hub_remote_files){0};
}
