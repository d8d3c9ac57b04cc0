/* A tree of files cut into datasets, by names alone: see found.h. */
#include "storage/remote/found.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/model/format_marks.h"

#include <stdlib.h>

struct mark {
    char *folder;
    const char *format; /* NULL: it is a dataset of Minari's, listed by its metadata */
};

/* A folder whose files are being gone through. */
struct open_folder {
    size_t size; /* of its path */
    struct hub_formats_seen seen;
};

struct dividing {
    const struct hub_division *d;
    struct hub_found_list *list;
    struct mark *marks; /* sorted, one a folder */
    uint32_t count, capacity;
    struct open_folder *open; /* each within the one before it, the first is the tree itself */
    uint32_t depth, room;
};

static void dispose(struct dividing *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        free(v->marks[i].folder);
    free(v->marks);
    free(v->open);
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

static struct hub_view below(struct hub_view path, size_t folder)
{
    const size_t cut = folder ? folder + 1 : 0;
    return (struct hub_view){path.data + cut, path.size - cut};
}

/* The listing of a folder has its own entries, and those of its folders. */
static void note(struct dividing *v, struct hub_view path, bool directory)
{
    for (uint32_t i = v->depth; i-- > 0 && i + 2 >= v->depth;)
        hub_formats_see(&v->open[i].seen, below(path, v->open[i].size), directory);
}

static enum hub_status open_folder(struct dividing *v, size_t size, struct hub_error *err)
{
    HUB_TRY(hub_grow(&v->open, v->depth, &v->room, sizeof *v->open, err));
    v->open[v->depth++] = (struct open_folder){.size = size};
    return HUB_OK;
}

/* All of its files were seen, of which this is the last one. */
static enum hub_status close_folder(struct dividing *v, const char *last, struct hub_error *err)
{
    const struct open_folder *folder = &v->open[--v->depth];
    const char *format = hub_formats_best(&folder->seen);
    return format ? add_mark(v, (struct hub_view){last, folder->size}, format, err) : HUB_OK;
}

static bool holds(const struct dividing *v, const char *before, const char *path)
{
    const size_t size = v->open[v->depth - 1].size;
    return !size || (strncmp(before, path, size) == 0 && path[size] == '/');
}

/* The end of the next folder of a path, below the one that is open; NULL: a file of that one. */
static const char *next_folder(const struct dividing *v, const char *path)
{
    const size_t size = v->open[v->depth - 1].size;
    return strchr(path + (size ? size + 1 : 0), '/');
}

/* The files of a folder follow each other, as the tree is sorted. */
static enum hub_status mark_folders(struct dividing *v, struct hub_error *err)
{
    const char *before = "";
    HUB_TRY(open_folder(v, 0, err));
    for (uint32_t i = 0; i < v->d->tree->count; i++) {
        const char *path = v->d->tree->items[i].path, *slash;
        while (!holds(v, before, path))
            HUB_TRY(close_folder(v, before, err));
        while ((slash = next_folder(v, path))) {
            note(v, (struct hub_view){path, (size_t)(slash - path)}, true);
            HUB_TRY(open_folder(v, (size_t)(slash - path), err));
        }
        note(v, hub_view_of(path), false);
        before = path;
    }
    while (v->depth)
        HUB_TRY(close_folder(v, before, err));
    return HUB_OK;
}

const char *hub_found_format(const struct hub_remote_files *tree, const char *folder)
{
    struct hub_formats_seen seen = {0};
    const size_t size = strlen(folder);
    for (uint32_t i = 0; i < tree->count; i++) {
        const char *path = tree->items[i].path;
        if (!size || (strncmp(path, folder, size) == 0 && path[size] == '/'))
            hub_formats_see_file(&seen, below(hub_view_of(path), size));
    }
    return hub_formats_best(&seen);
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
    HUB_TRY(mark_folders(v, err));
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
static enum hub_status report_left(const struct dividing *v, uint32_t i, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(8 * KIB);
    const struct hub_file_facts *file = &v->d->tree->items[i];
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
            HUB_TRY(report_left(v, i, err));
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
