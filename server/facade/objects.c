/* Objects in order: see objects.h. Datasets may lie in each other's folders (loose files beside datasets),
 * so their files are merged; a dataset is opened when the walk comes to where its names begin. */
#include "server/facade/objects.h"

#include "server/api/namespace_file.h"
#include "server/api/response_cache.h"
#include "server/api/visible.h"
#include "storage/base/order.h"
#include "storage/ids/hf_cache.h"
#include "storage/model/format_row.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_BEGINS (1 * GIB)

/* ---- where the names of datasets begin ---- */

struct dataset_position {
    const char *begins; /* "", or ends with a slash; first: looked for as text */
    uint32_t summary;   /* its number in the snapshot */
};

/* Of one snapshot. */
struct hub_objects_order {
    size_t bytes;
    uint32_t count;
    struct dataset_position *places; /* by text */
    char *text;
    char **spaces; /* the files of namespaces, by name */
    uint32_t space_count, space_room;
};

static void order_free(void *object)
{
    struct hub_objects_order *order = object;
    for (uint32_t i = 0; i < order->space_count; i++)
        free(order->spaces[i]);
    free(order->spaces);
    free(order->places);
    free(order->text);
    free(order);
}

/* "ROOT/FOLDER/", as the names of its objects begin. */
static enum hub_status add_begin(const struct hub_app *app, const struct hub_summary *summary,
                                 struct hub_buf *out, struct hub_error *err)
{
    const char *root = app->roots->roots[summary->root].name;
    if (root)
        HUB_TRY(hub_buf_addf(out, err, "%s/", root));
    if (!*summary->path)
        return HUB_OK;
    const bool other = hub_hf_cache_at(summary->id, summary->path);
    HUB_TRY(hub_hf_cache_name(hub_view_of(summary->path), other, out, err));
    return hub_buf_add_text(out, "/", err);
}

bool hub_is_minari(const struct hub_summary *summary)
{
    return hub_format_is_of(summary->format, HUB_LIBRARY_MINARI);
}

/* Those that a dataset of Minari lies in; neighbours come one behind the other, in the order of places. */
static enum hub_status add_spaces(const struct hub_app *app, const struct hub_summary *summary,
                                  const char *begins, const char *before, struct hub_objects_order *order,
                                  struct hub_error *err)
{
    const char *root = app->roots->roots[summary->root].name;
    const size_t top = root ? strlen(root) + 1 : 0;
    if (!hub_is_minari(summary))
        return HUB_OK;
    for (const char *at = strchr(begins + top, '/'); at && at[1]; at = strchr(at + 1, '/')) {
        const size_t size = (size_t)(at + 1 - begins);
        if (before && strncmp(before, begins, size) == 0)
            continue;
        HUB_TRY(hub_grow(&order->spaces, order->space_count, &order->space_room, sizeof *order->spaces, err));
        char *name = NULL;
        if (asprintf(&name, "%.*s%s", (int)size, begins, hub_namespace_file_name) < 0)
            return hub_no_memory(err);
        order->spaces[order->space_count++] = name;
        order->bytes += strlen(name) + sizeof name;
    }
    return HUB_OK;
}

static enum hub_status fill_spaces(const struct hub_app *app, const struct hub_snapshot *snapshot,
                                   struct hub_objects_order *order, struct hub_error *err)
{
    const char *before = NULL;
    for (uint32_t i = 0; i < order->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[order->places[i].summary];
        if (order->places[i].summary >= snapshot->count)
            continue;
        HUB_TRY(add_spaces(app, summary, order->places[i].begins, before, order, err));
        if (hub_is_minari(summary))
            before = order->places[i].begins;
    }
    if (order->space_count)
        qsort(order->spaces, order->space_count, sizeof *order->spaces, hub_by_text);
    return HUB_OK;
}

static enum hub_status fill_order(const struct hub_app *app, const struct hub_snapshot *snapshot,
                                  struct hub_objects_order *order, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_BEGINS);
    const uint32_t count = snapshot->count + snapshot->others;
    HUB_TRY(hub_new(&order->places, count + 1, sizeof *order->places, err));
    for (uint32_t i = 0; i < count; i++) {
        if (!hub_summary_is_offered(snapshot->summaries[i]))
            continue;
        order->places[order->count++].summary = i;
        HUB_TRY(add_begin(app, snapshot->summaries[i], &text, err));
        HUB_TRY(hub_buf_add(&text, "", 1, err));
    }
    order->bytes = sizeof *order + text.size + order->count * sizeof *order->places;
    order->text = hub_buf_take(&text, NULL);
    const char *at = order->text;
    for (uint32_t i = 0; i < order->count; at += strlen(at) + 1)
        order->places[i++].begins = at;
    qsort(order->places, order->count, sizeof *order->places, hub_by_text);
    return fill_spaces(app, snapshot, order, err);
}

static enum hub_status get_order(const struct hub_app *app, const struct hub_snapshot *snapshot,
                                 bool may_block, struct hub_cached_response **out, struct hub_error *err)
{
    const struct hub_cached_response_key key = {
        .kind = HUB_KEPT_OBJECTS, .state = snapshot->generation, .question = HUB_VIEW("")};
    *out = hub_cached_response_find(app, &key);
    if (*out)
        return HUB_OK;
    if (!may_block)
        return HUB_AGAIN;
    struct hub_objects_order *order;
    HUB_TRY(hub_new(&order, 1, sizeof *order, err));
    const enum hub_status st = fill_order(app, snapshot, order, err);
    if (st) {
        order_free(order);
        return st;
    }
    *out = hub_cached_response_add(
        app, &key,
        &(struct hub_cached_response_content){.object = order, .bytes = order->bytes, .release = order_free});
    return hub_allocated(*out, err);
}

/* ---- the walk ---- */

struct hub_objects_cursor {
    const struct hub_dataset *dataset; /* the view's, where there is one */
    struct hub_remote_view *view;
    const char *begins;
    uint32_t file;
};

/* Two names, each in two pieces. */
static int compare_names(const struct hub_objects_cursor *a, const struct hub_objects_cursor *b)
{
    const char *x = a->begins, *y = b->begins;
    bool x_behind = false, y_behind = false;
    for (;;) {
        if (!*x && !x_behind) {
            x = a->dataset->files[a->file].path;
            x_behind = true;
        }
        if (!*y && !y_behind) {
            y = b->dataset->files[b->file].path;
            y_behind = true;
        }
        if (*x != *y || !*x)
            return (unsigned char)*x - (unsigned char)*y;
        x++;
        y++;
    }
}

static void swap(struct hub_objects_cursor *a, struct hub_objects_cursor *b)
{
    const struct hub_objects_cursor kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct hub_objects *objects)
{
    struct hub_objects_cursor *heap = objects->heap;
    for (uint32_t at = 0, child; (child = 2 * at + 1) < objects->count; at = child) {
        if (child + 1 < objects->count && compare_names(&heap[child + 1], &heap[child]) < 0)
            child++;
        if (compare_names(&heap[at], &heap[child]) <= 0)
            return;
        swap(&heap[at], &heap[child]);
    }
}

static void rise(struct hub_objects *objects)
{
    struct hub_objects_cursor *heap = objects->heap;
    for (uint32_t at = objects->count - 1; at && compare_names(&heap[at], &heap[(at - 1) / 2]) < 0;
         at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void release(const struct hub_objects_cursor *cursor)
{
    if (cursor->view)
        hub_remote_view_put(cursor->view);
    else
        hub_dataset_put(cursor->dataset);
}

static void drop_top(struct hub_objects *objects)
{
    release(&objects->heap[0]);
    objects->heap[0] = objects->heap[--objects->count];
    sink(objects);
}

/* HUB_NOT_FOUND: it has gone since, or its upstream does not answer. */
static enum hub_status enter(struct hub_objects *objects, const struct hub_summary *summary,
                             struct hub_objects_cursor *out, struct hub_error *err)
{
    if (hub_summary_is_here(summary))
        return hub_dataset_get(objects->app->catalog, summary, true, &out->dataset, err);
    objects->remote = true;
    const enum hub_status st = hub_remote_view_get(objects->app, summary, true, &out->view, err);
    if (!st) {
        out->dataset = &out->view->dataset;
        objects->asked += out->view->asked;
    }
    return st == HUB_BUSY ? HUB_NOT_FOUND : st;
}

/* From the first of its files whose path is not before `from`. */
static enum hub_status walk_dataset(struct hub_objects *objects, const struct dataset_position *place,
                                    struct hub_view from, struct hub_error *err)
{
    struct hub_objects_cursor cursor = {.begins = place->begins};
    const struct hub_summary *summary = objects->snapshot->summaries[place->summary];
    if (place->summary >= objects->snapshot->count && !objects->others)
        return HUB_OK;
    HUB_TRY(hub_grow(&objects->heap, objects->count, &objects->capacity, sizeof *objects->heap, err));
    const enum hub_status st = enter(objects, summary, &cursor, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    const struct hub_dataset *dataset = cursor.dataset;
    cursor.file =
        hub_lower_bound(&from, dataset->files, dataset->file_count, sizeof *dataset->files, hub_view_by_text);
    if (cursor.file == dataset->file_count) {
        release(&cursor);
        return HUB_OK;
    }
    objects->heap[objects->count++] = cursor;
    rise(objects);
    return HUB_OK;
}

enum hub_status hub_objects_open(const struct hub_request *request, struct hub_objects *out,
                                 struct hub_error *err)
{
    struct hub_app *app = request->app;
    *out = (struct hub_objects){.app = app, .name = HUB_BUF_INIT(64 * KIB), .start = HUB_BUF_INIT(64 * KIB)};
    out->snapshot = hub_request_snapshot(request);
    HUB_TRY(get_order(app, out->snapshot, true, &out->answer, err));
    out->order = hub_cached_response_object(out->answer);
    return HUB_OK;
}

static void leave_all(struct hub_objects *objects)
{
    while (objects->count)
        release(&objects->heap[--objects->count]);
}

void hub_objects_dispose(struct hub_objects *objects)
{
    leave_all(objects);
    free(objects->heap);
    hub_cached_response_put(objects->answer);
    hub_snapshot_put(objects->snapshot);
    hub_buf_dispose(&objects->name);
    hub_buf_dispose(&objects->start);
}

/* Those whose names begin above `start`, with the `size` first of its bytes. */
static enum hub_status walk_above(struct hub_objects *objects, struct hub_view start, size_t size,
                                  struct hub_error *err)
{
    const struct hub_objects_order *order = objects->order;
    const struct hub_view begins = {start.data, size}, rest = {start.data + size, start.size - size};
    for (uint32_t i =
             hub_lower_bound(&begins, order->places, order->count, sizeof *order->places, hub_view_by_text);
         i < order->count && hub_view_is(begins, order->places[i].begins); i++)
        HUB_TRY(walk_dataset(objects, &order->places[i], rest, err));
    return HUB_OK;
}

enum hub_status hub_objects_seek(struct hub_objects *objects, struct hub_view start, struct hub_error *err)
{
    const struct hub_objects_order *order = objects->order;
    leave_all(objects);
    objects->gave = HUB_GAVE_NOTHING;
    objects->space =
        hub_lower_bound(&start, order->spaces, order->space_count, sizeof *order->spaces, hub_view_by_text);
    objects->next =
        hub_lower_bound(&start, order->places, order->count, sizeof *order->places, hub_view_by_text);
    for (size_t size = 0; size < start.size; size++)
        if (size == 0 || start.data[size - 1] == '/')
            HUB_TRY(walk_above(objects, start, size, err));
    return HUB_OK;
}

/* Does a name come before, or where, the first name of the walk stands? */
static bool comes_first(const struct hub_objects *objects, const char *name)
{
    if (!objects->count)
        return true;
    const struct hub_objects_cursor *top = &objects->heap[0];
    const size_t size = strlen(top->begins);
    const int order = strncmp(name, top->begins, size);
    return order ? order < 0 : strcmp(name + size, top->dataset->files[top->file].path) <= 0;
}

/* Behind the one that was given out. */
static void go_on(struct hub_objects *objects)
{
    struct hub_objects_cursor *top = objects->heap;
    if (objects->gave == HUB_GAVE_SPACE)
        objects->space++;
    else if (objects->gave == HUB_GAVE_FILE && ++top->file == top->dataset->file_count)
        drop_top(objects);
    else if (objects->gave == HUB_GAVE_FILE)
        sink(objects);
    objects->gave = HUB_GAVE_NOTHING;
}

enum hub_status hub_objects_next(struct hub_objects *objects, struct hub_object *out, struct hub_error *err)
{
    const struct hub_objects_order *order = objects->order;
    go_on(objects);
    objects->name.size = 0;
    for (; objects->next < order->count && comes_first(objects, order->places[objects->next].begins);
         objects->next++)
        HUB_TRY(walk_dataset(objects, &order->places[objects->next], HUB_VIEW(""), err));
    *out = (struct hub_object){.author = objects->author};
    if (objects->space < order->space_count && comes_first(objects, order->spaces[objects->space])) {
        out->name = hub_view_of(order->spaces[objects->space]);
        objects->gave = HUB_GAVE_SPACE;
        return HUB_OK;
    }
    if (!objects->count)
        return HUB_NOT_FOUND;
    const struct hub_objects_cursor *top = &objects->heap[0];
    out->dataset = top->dataset;
    out->view = top->view;
    out->file = &top->dataset->files[top->file];
    HUB_TRY(hub_buf_add_text(&objects->name, top->begins, err));
    HUB_TRY(hub_buf_add_text(&objects->name, out->file->path, err));
    out->name = hub_buf_view(&objects->name);
    objects->gave = HUB_GAVE_FILE;
    return HUB_OK;
}

const struct hub_summary *hub_objects_below(const struct hub_objects *objects, struct hub_view begins,
                                            uint32_t *at)
{
    const struct hub_objects_order *order = objects->order;
    if (*at == 0)
        *at = hub_lower_bound(&begins, order->places, order->count, sizeof *order->places, hub_view_by_text);
    if (*at >= order->count || strncmp(order->places[*at].begins, begins.data, begins.size) != 0)
        return NULL;
    return objects->snapshot->summaries[order->places[(*at)++].summary];
}

/* ---- one by its name ---- */

/* Its files, as they are here or as its upstream lists them. */
static enum hub_status open_target(struct hub_request *request, const struct hub_summary *summary,
                                   struct hub_target *target, const struct hub_dataset **out,
                                   struct hub_error *err)
{
    hub_state_close(&target->state);
    target->state = (struct hub_state){0};
    hub_remote_view_put(target->view);
    target->view = NULL;
    target->summary = summary;
    if (!hub_summary_is_here(summary)) {
        hub_resolve_begin_reading(request, summary);
        HUB_TRY(hub_remote_view_get(request->app, summary, request->may_block, &target->view, err));
        *out = &target->view->dataset;
        return HUB_OK;
    }
    HUB_TRY(hub_resolve_summary(request, summary, target, err));
    *out = target->state.dataset;
    return HUB_OK;
}

/* Of the datasets whose names begin with the `size` first bytes of this one. NULL: none has it. */
static enum hub_status look_above(struct hub_request *request, const struct hub_objects_order *order,
                                  struct hub_view name, size_t size, struct hub_target *target,
                                  struct hub_object *out, struct hub_error *err)
{
    const struct hub_view begins = {name.data, size}, path = {name.data + size, name.size - size};
    for (uint32_t i =
             hub_lower_bound(&begins, order->places, order->count, sizeof *order->places, hub_view_by_text);
         i < order->count && hub_view_is(begins, order->places[i].begins); i++) {
        const struct hub_dataset *dataset = NULL;
        HUB_TRY(open_target(request, target->snapshot->summaries[order->places[i].summary], target, &dataset,
                            err));
        const uint32_t at = hub_lower_bound(&path, dataset->files, dataset->file_count,
                                            sizeof *dataset->files, hub_view_by_text);
        if (at < dataset->file_count && hub_view_is(path, dataset->files[at].path)) {
            *out = (struct hub_object){
                .name = name, .dataset = dataset, .file = &dataset->files[at], .view = target->view};
            hub_request_is_about(request, dataset->summary);
            return HUB_OK;
        }
    }
    return HUB_OK;
}

enum hub_status hub_object_find(struct hub_request *request, struct hub_view name, struct hub_target *target,
                                struct hub_object *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_cached_response_putp) struct hub_cached_response *answer = NULL;
    *out = (struct hub_object){.name = name};
    target->snapshot = hub_request_snapshot(request);
    HUB_TRY(get_order(request->app, target->snapshot, request->may_block, &answer, err));
    const struct hub_objects_order *order = hub_cached_response_object(answer);
    const uint32_t space =
        hub_lower_bound(&name, order->spaces, order->space_count, sizeof *order->spaces, hub_view_by_text);
    if (space < order->space_count && hub_view_is(name, order->spaces[space]))
        return request->may_block ? HUB_OK : HUB_AGAIN;
    for (size_t size = name.size; size-- && !out->file;) /* datasets lie deeper than loose files */
        if (size == 0 || name.data[size - 1] == '/')
            HUB_TRY(look_above(request, order, name, size, target, out, err));
    return out->file ? HUB_OK
                     : hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "object", name.data,
                                      "there is no object '%s'", name.data);
}
