/* The files of a dataset, for programs. */
#include "client/lib/internal.h"

#include <stdlib.h>

struct minari_file_list {
    struct hub_remote_files files;
    struct minari_file *items;
    char (*hex)[2 * HUB_SHA256_BYTES + 1];
};

static enum hub_status list_files(struct minari_client *client, const char *id, struct minari_file_list *list,
                                  struct hub_error *err)
{
    HUB_TRY(hub_remote_list_files(&client->remote, id, NULL, &list->files, err));
    list->items = calloc(list->files.count + 1, sizeof *list->items);
    list->hex = calloc(list->files.count + 1, sizeof *list->hex);
    HUB_TRY(hub_allocated(list->items && list->hex, err));
    for (size_t i = 0; i < list->files.count; i++) {
        const struct hub_file_facts *f = &list->files.items[i];
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
    const enum hub_status st = list ? list_files(client, id ? id : "", list, &error) : hub_no_memory(&error);
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
