/* What upstreams list of datasets that are not here: see remote_view.h. */
#include "server/api/remote_view.h"

#include "server/api/response_cache.h"
#include "server/mirror/peek.h"
#include "storage/base/digest.h"
#include "storage/base/hex.h"
#include "storage/truth/digests.h"

#include <stdlib.h>

/* Of one state of a dataset. */
struct hub_remote_list {
    struct hub_remote_files facts;
    struct hub_dataset_file *files; /* the same as a dataset has them; borrowed from these */
    size_t bytes;
};

static void list_free(void *object)
{
    struct hub_remote_list *list = object;
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
        list->bytes += sizeof *from + sizeof *list->files + strlen(from->path) + 64;
    }
    return HUB_OK;
}

static struct hub_cached_response_key key_of(const struct hub_summary *summary)
{
    return (struct hub_cached_response_key){
        .kind = HUB_KEPT_REMOTE_FILES, .state = summary->serial, .question = hub_view_of(summary->id)};
}

static enum hub_status make(struct hub_app *app, const struct hub_summary *summary,
                            struct hub_cached_response **out, struct hub_error *err)
{
    const struct hub_cached_response_key key = key_of(summary);
    struct hub_remote_list *list;
    HUB_TRY(hub_new(&list, 1, sizeof *list, err));
    enum hub_status st = hub_peek_files(app->mirrors, summary, &list->facts, err);
    if (!st)
        st = fill(list, err);
    if (st) {
        list_free(list);
        return st;
    }
    *out = hub_cached_response_add(app, &key,
                                   &(struct hub_cached_response_content){.object = list,
                                                                         .bytes = sizeof *list + list->bytes,
                                                                         .release = list_free});
    return hub_allocated(*out, err);
}

enum hub_status hub_remote_view_get(struct hub_app *app, const struct hub_summary *summary, bool may_block,
                                    struct hub_remote_view **out, struct hub_error *err)
{
    const struct hub_cached_response_key key = key_of(summary);
    struct hub_cached_response *answer = hub_cached_response_find(app, &key);
    struct hub_remote_view *view;
    const bool asks = !answer;
    if (asks && !may_block)
        return HUB_AGAIN;
    if (asks)
        HUB_TRY(make(app, summary, &answer, err));
    const enum hub_status st = hub_new(&view, 1, sizeof *view, err);
    if (st) {
        hub_cached_response_put(answer);
        return st;
    }
    const struct hub_remote_list *list = hub_cached_response_object(answer);
    *view = (struct hub_remote_view){
        .dataset = {.summary = summary, .files = list->files, .file_count = list->facts.count},
        .list = list,
        .answer = answer,
        .asked = asks};
    *out = view;
    return HUB_OK;
}

void hub_remote_view_put(struct hub_remote_view *view)
{
    if (!view)
        return;
    hub_cached_response_put(view->answer);
    free(view);
}

const struct hub_file_facts *hub_remote_facts(const struct hub_remote_view *view,
                                              const struct hub_dataset_file *file)
{
    return &view->list->facts.items[file - view->dataset.files];
}

/* ---- small files ---- */

enum hub_status hub_remote_text(struct hub_app *app, const struct hub_remote_view *view,
                                const struct hub_dataset_file *file, struct hub_buf *out,
                                struct hub_error *err)
{
    const struct hub_summary *summary = view->dataset.summary;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB), copy = HUB_BUF_INIT(SIZE_MAX);
    HUB_TRY(hub_buf_addf(&name, err, "%s//%s", summary->id, file->path));
    const struct hub_cached_response_key key = {
        .kind = HUB_KEPT_REMOTE_TEXT, .state = summary->serial, .question = hub_buf_view(&name)};
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_find(app, &key);
    if (answer)
        return hub_buf_add_view(out, hub_bytes_view(hub_cached_response_body(answer)), err);
    HUB_TRY(hub_peek_bytes(app->mirrors, summary, file->path, out, err));
    HUB_TRY(hub_buf_add_view(&copy, hub_buf_view(out), err));
    hub_cached_response_put(
        hub_cached_response_add(app, &key, &(struct hub_cached_response_content){.body = &copy}));
    return HUB_OK;
}
