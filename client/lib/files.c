/* Listings of files: see files.h. */
#include "client/lib/files.h"

#include <stdlib.h>

enum { LISTING_BYTES = 256 * 1024 * 1024 }; /* what a hub sends at most */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct hub_remote_file *)a)->path, ((const struct hub_remote_file *)b)->path);
}

static enum hub_status read_item(const json_t *item, struct hub_remote_file *file, struct hub_error *err)
{
    const char *path = hub_member_text(item, "path"), *sha256 = hub_member_text(item, "sha256");
    const json_t *size = json_object_get(item, "size");
    HUB_TRY(hub_path_check(path, err));
    if (!json_is_integer(size) || json_integer_value(size) < 0)
        return hub_fail_as(err, HUB_CORRUPT, "protocol", "the hub gives no size of '%s'", path);
    file->size = (uint64_t)json_integer_value(size);
    file->has_sha256 = sha256 && hub_unhex(hub_view_of(sha256), file->sha256, HUB_SHA256_BYTES);
    file->path = strdup(path);
    return file->path ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no memory for a list of files");
}

static enum hub_status read_items(const json_t *items, struct hub_remote_files *out, struct hub_error *err)
{
    const size_t n = json_array_size(items);
    if (n > HUB_MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "a dataset of %zu files", n);
    out->items = calloc(n + 1, sizeof *out->items);
    if (!out->items)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a list of files");
    for (size_t i = 0; i < n; i++) {
        HUB_TRY(read_item(json_array_get(items, i), &out->items[i], err));
        out->count++;
        if (__builtin_add_overflow(out->bytes, out->items[i].size, &out->bytes))
            return hub_fail_as(err, HUB_CORRUPT, "protocol", "the hub's file sizes overflow");
    }
    qsort(out->items, n, sizeof *out->items, by_path);
    for (size_t i = 1; i < n; i++)
        if (strcmp(out->items[i - 1].path, out->items[i].path) == 0)
            return hub_fail_as(err, HUB_CORRUPT, "protocol", "the hub lists '%s' twice", out->items[i].path);
    return HUB_OK;
}

enum hub_status hub_remote_files_get(struct minari_client *client, const char *id, const char *revision,
                                     struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    *out = (struct hub_remote_files){0};
    HUB_TRY(hub_client_url(client, id, "files", &url, err));
    HUB_TRY(hub_client_parameter(&url, "revision", revision, err));
    HUB_TRY(hub_client_document(client, url.data, LISTING_BYTES, NULL, &document, err));
    const char *full = hub_member_text(document, "id"), *now = hub_member_text(document, "revision");
    enum hub_status st = HUB_OK;
    if (!full || !now || !json_is_array(json_object_get(document, "items")))
        st = hub_fail_as(err, HUB_CORRUPT, "protocol", "the list of files of '%s' is not a hub's", id);
    else if (!hub_client_same_id(id, full))
        st = hub_fail_as(err, HUB_CORRUPT, "protocol",
                         "asked for the files of '%.200s', the hub lists those of '%.200s'", id, full);
    else if (revision && strcmp(now, revision) != 0)
        st = hub_fail_as(err, HUB_CHANGED, "revision-gone", "'%s' is now at revision %.40s", id, now);
    else if (!(out->id = strdup(full)) || !(out->revision = strdup(now)))
        st = hub_fail(err, HUB_NO_MEMORY, "no memory for a list of files");
    if (!st)
        st = read_items(json_object_get(document, "items"), out, err);
    if (st)
        hub_remote_files_dispose(out);
    return st;
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

/* ---- public ---- */

struct minari_file_list {
    struct hub_remote_files files;
    struct minari_file *items;
    char (*hex)[2 * HUB_SHA256_BYTES + 1];
};

static enum hub_status list_files(struct minari_client *client, const char *id, struct minari_file_list *list,
                                  struct hub_error *err)
{
    HUB_TRY(hub_remote_files_get(client, id, NULL, &list->files, err));
    list->items = calloc(list->files.count + 1, sizeof *list->items);
    list->hex = calloc(list->files.count + 1, sizeof *list->hex);
    if (!list->items || !list->hex)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a list of files");
    for (size_t i = 0; i < list->files.count; i++) {
        const struct hub_remote_file *f = &list->files.items[i];
        hub_hex(f->sha256, HUB_SHA256_BYTES, list->hex[i]);
        list->items[i] = (struct minari_file){f->path, f->size, f->has_sha256 ? list->hex[i] : NULL};
    }
    return HUB_OK;
}

enum minari_status minari_file_list_get(struct minari_client *client, const char *id,
                                        struct minari_file_list **out, struct minari_error *err)
{
    struct hub_error error = {0};
    if (!client || !out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    struct minari_file_list *list = calloc(1, sizeof *list);
    const enum hub_status st = list ? list_files(client, id ? id : "", list, &error)
                                    : hub_fail(&error, HUB_NO_MEMORY, "no memory for a list of files");
    if (st)
        minari_file_list_free(list);
    else
        *out = list;
    return hub_client_report(st, &error, err);
}

const char *minari_file_list_id(const struct minari_file_list *list)
{
    return list->files.id;
}

const char *minari_file_list_revision(const struct minari_file_list *list)
{
    return list->files.revision;
}

size_t minari_file_list_count(const struct minari_file_list *list)
{
    return list->files.count;
}

const struct minari_file *minari_file_list_at(const struct minari_file_list *list, size_t index)
{
    return index < list->files.count ? &list->items[index] : NULL;
}

void minari_file_list_free(struct minari_file_list *list)
{
    if (!list)
        return;
    hub_remote_files_dispose(&list->files);
    free(list->items);
    free(list->hex);
    free(list);
}
