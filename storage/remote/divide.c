/* A tree of files cut into datasets, by names alone: see found.h. */
#include "storage/remote/found.h"

#include "storage/base/id.h"
#include "storage/base/order.h"

#include <stdio.h>
#include <stdlib.h>

/* The formats' drivers, which look into files as well, know more; what they find within a folder that was
 * fetched is theirs. */
const struct hub_found_mark hub_found_marks[] = {
    {"data/main_data.hdf5", "minari-hdf5"},
    {"data/metadata.json", "minari-hdf5"},
    {"meta/info.json", "lerobot"},
    {"meta_data/info.json", "lerobot"},
    {"state.json", "datasets"},
    {"dataset_dict.json", "datasets"},
    {NULL, NULL},
};

struct mark {
    char *folder;
    const char *format; /* NULL: it is a dataset of Minari's, listed by its metadata */
};

struct dividing {
    const struct hub_division *d;
    struct hub_found_list *list;
    struct mark *marks; /* sorted, one a folder */
    uint32_t count, capacity;
};

static void dispose(struct dividing *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        free(v->marks[i].folder);
    free(v->marks);
}

/* ---- marks ---- */

static enum hub_status add_mark(struct dividing *v, struct hub_view folder, const char *format,
                                struct hub_error *err)
{
    HUB_TRY(hub_grow(&v->marks, v->count, &v->capacity, sizeof *v->marks, err));
    v->marks[v->count] = (struct mark){hub_view_dup(folder), format};
    HUB_TRY(hub_allocated(v->marks[v->count].folder, err));
    v->count++;
    return HUB_OK;
}

static enum hub_status mark_folder_of(struct dividing *v, const char *path, struct hub_error *err)
{
    const size_t size = strlen(path);
    for (const struct hub_found_mark *mark = hub_found_marks; mark->file; mark++) {
        const size_t end = strlen(mark->file);
        if (size < end || strcmp(path + size - end, mark->file) != 0 ||
            (size > end && path[size - end - 1] != '/'))
            continue;
        return add_mark(v, (struct hub_view){path, size > end ? size - end - 1 : 0}, mark->format, err);
    }
    return HUB_OK;
}

const char *hub_found_format(const struct hub_remote_files *tree, const char *folder)
{
    char path[HUB_MAX_ID + 64];
    const char *key = path;
    for (const struct hub_found_mark *mark = hub_found_marks; mark->file; mark++) {
        const int size = snprintf(path, sizeof path, "%s/%s", folder, mark->file);
        if (size < (int)sizeof path && tree->count &&
            bsearch(&key, tree->items, tree->count, sizeof *tree->items, hub_by_text))
            return mark->format;
    }
    return NULL;
}

/* Of one folder the mark of Minari's metadata comes first, as it is in the list already. */
static int by_folder(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    const int order = strcmp(x->folder, y->folder);
    return order ? order : (x->format != NULL) - (y->format != NULL);
}

static enum hub_status find_marks(struct dividing *v, struct hub_error *err)
{
    const size_t head = strlen(v->d->head);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->list->count; i++)
        if (strncmp(v->list->items[i].id, v->d->head, head) == 0)
            HUB_TRY(add_mark(v, hub_view_of(v->list->items[i].id + head), NULL, err));
    for (uint32_t i = 0; i < v->d->tree->count; i++)
        HUB_TRY(mark_folder_of(v, v->d->tree->items[i].path, err));
    if (v->count)
        qsort(v->marks, v->count, sizeof *v->marks, by_folder);
    for (uint32_t i = 0; i < v->count; i++) {
        struct mark mark = v->marks[i];
        if (kept && strcmp(v->marks[kept - 1].folder, mark.folder) == 0)
            free(mark.folder);
        else
            v->marks[kept++] = mark;
    }
    v->count = kept;
    return HUB_OK;
}

static const struct mark *mark_of(const struct dividing *v, const char *folder)
{
    return v->count ? bsearch(&folder, v->marks, v->count, sizeof *v->marks, hub_by_text) : NULL;
}

/* Whether one of the folders below is marked; `minari`: by Minari's metadata. */
static bool has_mark_below(const struct dividing *v, const char *folder, bool minari)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    if (hub_buf_addf(&text, NULL, "%s%s", folder, *folder ? "/" : ""))
        return true; /* a path that is too long is not taken as a whole */
    const struct hub_view key = hub_buf_view(&text);
    uint32_t i = hub_lower_bound(&key, v->marks, v->count, sizeof *v->marks, hub_view_by_text);
    for (; i < v->count && strncmp(v->marks[i].folder, text.data, text.size) == 0; i++)
        if (*v->marks[i].folder && (!minari || !v->marks[i].format))
            return true;
    return false;
}

/* ---- folders ---- */

static void measure(const struct hub_remote_files *tree, uint32_t first, uint32_t end, uint64_t *bytes)
{
    for (*bytes = 0; first < end; first++)
        *bytes += tree->items[first].size;
}

/* The files of a folder, [first, end), as one dataset. */
static enum hub_status take(struct dividing *v, const char *folder, const char *format, uint32_t first,
                            uint32_t end, struct hub_error *err)
{
    const struct hub_division *d = v->d;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(8 * KIB);
    struct hub_found *found;
    uint64_t bytes;
    HUB_TRY(*folder ? hub_buf_addf(&id, err, "%s%s", d->head, folder) : hub_buf_add_text(&id, d->name, err));
    if (d->counts || hub_id_check(hub_buf_view(&id), NULL)) {
        measure(d->tree, first, end, &bytes);
        return hub_remote_left_add(d->left, hub_buf_view(&id), end - first, bytes, err);
    }
    HUB_TRY(hub_found_add(v->list, id.data, d->tree, folder, &found, err));
    found->plain = true;
    found->format = format;
    return HUB_OK;
}

/* What lies in a folder beside the datasets in it. */
static enum hub_status leave(const struct dividing *v, uint32_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(8 * KIB);
    const struct hub_remote_file *file = &v->d->tree->items[i];
    if (hub_found_describes(v->d->tree, i, i + 1))
        return HUB_OK;
    HUB_TRY(hub_buf_addf(&name, err, "%s%s", v->d->head, file->path));
    return hub_remote_left_add(v->d->left, hub_buf_view(&name), 1, file->size, err);
}

/* The end of the files in the folder that the first `size` bytes of the path of `first` name. */
static enum hub_status end_of(const struct hub_remote_files *tree, uint32_t first, size_t size, uint32_t *out,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    HUB_TRY(hub_buf_addf(&text, err, "%.*s0", (int)size, tree->items[first].path)); /* '0' follows '/' */
    const struct hub_view key = hub_buf_view(&text);
    *out = hub_lower_bound(&key, tree->items, tree->count, sizeof *tree->items, hub_view_by_text);
    return HUB_OK;
}

static enum hub_status divide(struct dividing *v, const char *folder, uint32_t first, uint32_t end,
                              struct hub_error *err)
{
    const struct hub_remote_files *tree = v->d->tree;
    const size_t cut = *folder ? strlen(folder) + 1 : 0;
    const struct mark *mark = mark_of(v, folder);
    const bool cuts = v->d->cuts && strcmp(folder, v->d->base) == 0;
    bool has_folders = false;
    if (mark && !mark->format)
        return HUB_OK; /* it is listed */
    if (mark && !has_mark_below(v, folder, true))
        return take(v, folder, mark->format, first, end, err);
    for (uint32_t i = first; i < end && cuts && !has_folders; i++)
        has_folders = strchr(tree->items[i].path + cut, '/');
    if (cuts ? !has_folders : !has_mark_below(v, folder, false))
        return hub_found_describes(tree, first, end) ? HUB_OK : take(v, folder, NULL, first, end, err);
    for (uint32_t i = first, next; i < end; i = next) {
        const char *slash = strchr(tree->items[i].path + cut, '/');
        next = i + 1;
        if (!slash) {
            HUB_TRY(leave(v, i, err));
            continue;
        }
        HUB_CLEANUP(hub_freep)
        char *inner = strndup(tree->items[i].path, (size_t)(slash - tree->items[i].path));
        HUB_TRY(hub_allocated(inner, err));
        HUB_TRY(end_of(tree, i, strlen(inner), &next, err));
        HUB_TRY(divide(v, inner, i, next, err));
    }
    return HUB_OK;
}

enum hub_status hub_found_divide(const struct hub_division *d, struct hub_found_list *list,
                                 struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct dividing v = {.d = d, .list = list};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    uint32_t first = 0, end = d->tree->count;
    HUB_TRY(find_marks(&v, err));
    if (*d->base) {
        HUB_TRY(hub_buf_addf(&text, err, "%s/", d->base));
        const struct hub_view key = hub_buf_view(&text);
        first = hub_lower_bound(&key, d->tree->items, end, sizeof *d->tree->items, hub_view_by_text);
        if (first < end && strncmp(d->tree->items[first].path, text.data, text.size) == 0)
            HUB_TRY(end_of(d->tree, first, text.size - 1, &end, err));
        else
            end = first;
    }
    for (uint32_t i = 0; i < HUB_MIN(d->tree->left_out_count, (uint32_t)HUB_LEFT_OUT); i++)
        if (!hub_view_ends(hub_view_of(d->tree->left_out[i]), "/")) /* a console makes such for folders */
            HUB_TRY(hub_remote_left_add(d->left, hub_view_of(d->tree->left_out[i]), 1, 0, err));
    return divide(&v, d->base, first, end, err);
}
