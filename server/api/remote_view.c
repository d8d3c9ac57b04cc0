/* What upstreams list of datasets that are not here: see remote_view.h. */
#include "server/api/remote_view.h"

#include "server/mirror/peek.h"
#include "storage/base/digest.h"
#include "storage/base/hex.h"
#include "storage/base/lru.h"
#include "storage/truth/digests.h"

#include <stdlib.h>

enum { KEPT_LIST = 0x72656d6c, KEPT_TEXT = 0x72656d74 }; /* among what is kept ready in app->documents */

/* Of one state of a dataset. */
struct hub_remote_list {
    struct hub_lru_item item; /* first */
    struct hub_remote_files facts;
    struct hub_dataset_file *files; /* the same as a dataset has them; borrowed from these */
};

static void list_free(struct hub_lru_item *item)
{
    struct hub_remote_list *list = (struct hub_remote_list *)item;
    hub_remote_files_dispose(&list->facts);
    free(list->files);
    free(list);
}

static enum hub_status fill(struct hub_remote_list *list, struct hub_error *err)
{
    HUB_TRY(hub_new(&list->files, list->facts.count + 1, sizeof *list->files, err));
    for (uint32_t i = 0; i < list->facts.count; i++) {
        const struct hub_file_facts *from = &list->facts.items[i];
        list->files[i] = (struct hub_dataset_file){
            .path = from->path, .stamp = {.size = from->size, .mtime_ns = (uint64_t)from->modified_ns}};
        list->item.bytes += sizeof *from + sizeof *list->files + strlen(from->path) + 64;
    }
    return HUB_OK;
}

static struct hub_lru_key key_of(uint64_t kind, const struct hub_summary *summary)
{
    return (struct hub_lru_key){kind, hub_hash(HUB_HASH_START, summary->id, strlen(summary->id)),
                                (uint64_t)summary->serial};
}

static enum hub_status make(struct hub_app *app, const struct hub_summary *summary,
                            struct hub_remote_list **out, struct hub_error *err)
{
    struct hub_remote_list *list;
    HUB_TRY(hub_new(&list, 1, sizeof *list, err));
    list->item =
        (struct hub_lru_item){.key = key_of(KEPT_LIST, summary), .bytes = sizeof *list, .free = list_free};
    enum hub_status st = hub_peek_files(app->mirrors, summary, &list->facts, err);
    if (!st)
        st = fill(list, err);
    if (st)
        list_free(&list->item);
    else
        *out = (struct hub_remote_list *)hub_lru_add(app->documents, &list->item);
    return st;
}

enum hub_status hub_remote_view_get(struct hub_app *app, const struct hub_summary *summary, bool may_block,
                                    struct hub_remote_view **out, struct hub_error *err)
{
    const struct hub_lru_key key = key_of(KEPT_LIST, summary);
    struct hub_remote_list *list = (struct hub_remote_list *)hub_lru_get(app->documents, &key);
    struct hub_remote_view *view;
    const bool asks = !list;
    if (asks && !may_block)
        return HUB_AGAIN;
    if (asks)
        HUB_TRY(make(app, summary, &list, err));
    const enum hub_status st = hub_new(&view, 1, sizeof *view, err);
    if (st) {
        hub_lru_put(&list->item);
        return st;
    }
    *view = (struct hub_remote_view){
        .dataset = {.summary = summary, .files = list->files, .file_count = list->facts.count},
        .list = list,
        .asked = asks};
    *out = view;
    return HUB_OK;
}

void hub_remote_view_put(struct hub_remote_view *view)
{
    if (!view)
        return;
    hub_lru_put(&view->list->item);
    free(view);
}

const struct hub_file_facts *hub_remote_facts(const struct hub_remote_view *view,
                                              const struct hub_dataset_file *file)
{
    return &view->list->facts.items[file - view->dataset.files];
}

/* ---- small files ---- */

struct kept_text {
    struct hub_lru_item item; /* first */
    size_t size;
    char bytes[];
};

static void text_free(struct hub_lru_item *item)
{
    free(item);
}

enum hub_status hub_remote_text(struct hub_app *app, const struct hub_remote_view *view,
                                const struct hub_dataset_file *file, struct hub_buf *out,
                                struct hub_error *err)
{
    struct hub_lru_key key = key_of(KEPT_TEXT, view->dataset.summary);
    key.a = hub_hash(key.a, file->path, strlen(file->path));
    struct kept_text *text = (struct kept_text *)hub_lru_get(app->documents, &key);
    if (text) {
        const enum hub_status st = hub_buf_add(out, text->bytes, text->size, err);
        hub_lru_put(&text->item);
        return st;
    }
    HUB_TRY(hub_peek_bytes(app->mirrors, view->dataset.summary, file->path, out, err));
    HUB_TRY(hub_new(&text, 1, sizeof *text + out->size, err));
    text->item = (struct hub_lru_item){.key = key, .bytes = sizeof *text + out->size, .free = text_free};
    text->size = out->size;
    memcpy(text->bytes, out->data, out->size);
    hub_lru_put(hub_lru_add(app->documents, &text->item));
    return HUB_OK;
}
