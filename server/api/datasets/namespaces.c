/* The namespaces that datasets lie in, and those that were written through the hub, each with what its
 * namespace_metadata.json says. */
#include "server/api/handlers.h"

#include "server/api/app.h"
#include "server/api/cursor.h"
#include "server/api/namespace_file.h"
#include "server/api/reply.h"
#include "server/api/visible.h"
#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/model/format_row.h"
#include "storage/truth/namespaces.h"

#include <stdio.h>
#include <stdlib.h>

struct space {
    struct hub_view name; /* as ids begin with it */
    uint32_t root;        /* where its file is */
    bool is_here;         /* a dataset of it lies there; else an upstream has it alone */
    bool written;         /* through the hub, which knows the root then */
    uint64_t datasets, direct, episodes, steps, size;
};
struct spaces {
    const struct hub_snapshot *snapshot;
    struct space *items;
    uint32_t count, capacity;
    char **names; /* of those that were written */
    uint32_t name_count, name_room;
};

static void dispose(struct spaces *all)
{
    hub_snapshot_put(all->snapshot);
    free(all->items);
    for (uint32_t i = 0; i < all->name_count; i++)
        free(all->names[i]);
    free(all->names);
}

/* Segment by segment, so that what is within a namespace follows it. */
static int compare_names(struct hub_view a, struct hub_view b)
{
    size_t i = 0;
    while (i < a.size && i < b.size && a.data[i] == b.data[i])
        i++;
    const int x = i == a.size ? -1 : a.data[i] == '/' ? 0 : (unsigned char)a.data[i];
    const int y = i == b.size ? -1 : b.data[i] == '/' ? 0 : (unsigned char)b.data[i];
    return x - y;
}

static int by_name(const void *a, const void *b)
{
    return compare_names(((const struct space *)a)->name, ((const struct space *)b)->name);
}

/* All that a dataset lies in. */
static enum hub_status add_dataset(struct spaces *all, const struct hub_summary *s, const char *prefix,
                                   struct hub_error *err)
{
    const size_t size = strlen(s->ns);
    for (size_t i = 1; i <= size; i++) {
        if (i < size && s->ns[i] != '/')
            continue;
        const struct hub_view name = {s->id, i};
        if (prefix && !hub_view_starts(name, prefix))
            continue;
        HUB_TRY(hub_grow(&all->items, all->count, &all->capacity, sizeof *all->items, err));
        all->items[all->count++] = (struct space){.name = name,
                                                  .root = s->root,
                                                  .is_here = hub_summary_is_here(s),
                                                  .datasets = 1,
                                                  .direct = i == size,
                                                  s->episodes,
                                                  s->steps,
                                                  s->size};
    }
    return HUB_OK;
}

/* ---- those that were written ---- */

struct written {
    const struct hub_request *request;
    struct spaces *all;
    const char *prefix;
};

/* Its folder may have been removed since. */
static bool has_file(const struct hub_roots *roots, const struct hub_namespace_row *row)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB);
    return hub_namespace_of(roots, row->root, hub_view_of(row->name), &text, NULL, NULL) != HUB_NOT_FOUND;
}

static enum hub_status add_row(void *user, const struct hub_namespace_row *row, struct hub_error *err)
{
    struct written *written = user;
    struct spaces *all = written->all;
    char folder[HUB_MAX_ID + 2];
    snprintf(folder, sizeof folder, "%s/", row->name);
    if ((written->prefix && !hub_view_starts(hub_view_of(row->name), written->prefix)) ||
        !hub_request_may_read(written->request, hub_view_of(folder)) ||
        !has_file(written->request->app->roots, row))
        return HUB_OK;
    HUB_TRY(hub_grow(&all->names, all->name_count, &all->name_room, sizeof *all->names, err));
    HUB_TRY(hub_dup(&all->names[all->name_count], row->name, err));
    HUB_TRY(hub_grow(&all->items, all->count, &all->capacity, sizeof *all->items, err));
    all->items[all->count++] = (struct space){.name = hub_view_of(all->names[all->name_count++]),
                                              .root = row->root,
                                              .is_here = true,
                                              .written = true};
    return HUB_OK;
}

static void join(struct space *space, const struct space *more)
{
    if (more->written || (!space->is_here && more->is_here)) {
        space->root = more->root;
        space->is_here = true;
    }
    space->written = space->written || more->written;
    space->datasets += more->datasets;
    space->direct += more->direct;
    space->episodes += more->episodes;
    space->steps += more->steps;
    space->size += more->size;
}

/* Loose files are no datasets. */
static enum hub_status collect(const struct hub_request *request, struct spaces *all, const char *prefix,
                               struct hub_error *err)
{
    struct written written = {request, all, prefix};
    uint32_t kept = 0;
    HUB_TRY(hub_namespaces_each(request->app->truth, add_row, &written, err));
    for (uint32_t i = 0; i < all->snapshot->count; i++) {
        const struct hub_summary *s = all->snapshot->summaries[i];
        if (!hub_format_is_files(s->format))
            HUB_TRY(add_dataset(all, s, prefix, err));
    }
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, by_name);
    for (uint32_t i = 0; i < all->count; i++)
        if (kept && by_name(&all->items[kept - 1], &all->items[i]) == 0)
            join(&all->items[kept - 1], &all->items[i]);
        else
            all->items[kept++] = all->items[i];
    all->count = kept;
    return HUB_OK;
}

/* ---- what a namespace says of itself ---- */

static enum hub_status read_file(const struct hub_roots *roots, const struct space *space,
                                 struct hub_buf *out, struct hub_error *err)
{
    if (!space->is_here)
        return HUB_NOT_FOUND;
    return hub_namespace_of(roots, space->root, space->name, out, NULL, err);
}

/* An error of the file is reported in place of its contents. */
static void put_metadata(const struct hub_app *app, const struct space *space, struct hub_json *json)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * MIB), strict = HUB_BUF_INIT(4 * MIB);
    struct hub_error why = {0};
    enum hub_status st = read_file(app->roots, space, &text, &why);
    if (!st) /* in one line */
        st = hub_json_strict(hub_buf_view(&text), &strict, &why);
    if (!st)
        hub_json_put_raw(json, "metadata", hub_buf_view(&strict));
    else if (st != HUB_NOT_FOUND)
        hub_json_put_text(json, "problem", why.detail);
}

/* ---- the list ---- */

static void put_space(const struct hub_app *app, const struct space *s, struct hub_json *json)
{
    const struct hub_view last = hub_view_behind(s->name, '/');
    hub_json_object(json);
    hub_json_put_string(json, "namespace", s->name);
    if (last.size < s->name.size)
        hub_json_put_string(json, "parent", (struct hub_view){s->name.data, s->name.size - last.size - 1});
    hub_json_put_uint(json, "datasets", s->datasets);
    hub_json_put_uint(json, "direct", s->direct);
    hub_json_put_uint(json, "episodes", s->episodes);
    hub_json_put_uint(json, "steps", s->steps);
    hub_json_put_uint(json, "size", s->size);
    put_metadata(app, s, json);
    hub_json_end_object(json);
}

static int by_place(const void *key, const void *item)
{
    return by_name(key, item);
}

static void set_cursor(const struct spaces *all, uint32_t at, struct hub_page_cursor *out)
{
    const struct hub_view name = all->items ? all->items[at].name : HUB_VIEW("");
    snprintf(out->tie, sizeof out->tie, "%.*s", (int)name.size, name.data);
}

static enum hub_status write_page(struct hub_request *request, const struct spaces *all,
                                  const struct hub_page_query *page, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose) struct hub_page_ends ends = {.total = all->count};
    struct hub_json json = hub_page_begin(page, response, 64 * MIB, err);
    const struct space key = {.name = hub_view_of(page->after.tie)};
    uint32_t at = 0;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    if (page->goes_on && all->count)
        at = hub_lower_bound(&key, all->items, all->count, sizeof *all->items, by_place);
    if (page->goes_on && !page->after.back && at < all->count && by_name(&key, &all->items[at]) == 0)
        at++;
    const uint32_t first = hub_page_first(page, at), end = HUB_MIN(all->count, first + page->limit);
    for (uint32_t i = first; i < end; i++)
        put_space(request->app, &all->items[i], &json);
    hub_page_span(&ends, first, end);
    if (ends.has_next)
        set_cursor(all, end - 1, &ends.next);
    if (ends.has_prev)
        set_cursor(all, first, &ends.prev);
    HUB_TRY(hub_page_close(request, page, response, &json, &ends, err));
    return hub_reply_document(request, response, err);
}

enum hub_status hub_namespaces_list(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct spaces all = {0};
    struct hub_page_query page;
    HUB_TRY(hub_page_read(request, &page, err));
    if (!request->may_block)
        return HUB_AGAIN; /* files are read */
    all.snapshot = hub_request_snapshot(request);
    HUB_TRY(collect(request, &all, hub_request_query(request, "prefix").data, err));
    return write_page(request, &all, &page, response, err);
}

/* ---- one: the text alone, as another hub takes it over ---- */

/* Where a rule hides all that is in it, those who have not signed in are asked to. */
static enum hub_status absent(const struct hub_request *request, const char *name, struct hub_error *err)
{
    char folder[HUB_MAX_ID + 2];
    snprintf(folder, sizeof folder, "%s/", name);
    return hub_request_absent(request, hub_view_of(folder), err);
}

enum hub_status hub_namespace_show(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct spaces all = {0};
    const struct space key = {.name = hub_request_capture(request, "path")};
    if (!request->may_block)
        return HUB_AGAIN;
    all.snapshot = hub_request_snapshot(request);
    HUB_TRY(collect(request, &all, key.name.data, err));
    const struct space *space =
        all.count ? bsearch(&key, all.items, all.count, sizeof *all.items, by_place) : NULL;
    if (!space)
        HUB_TRY(absent(request, key.name.data, err));
    struct hub_buf *out = hub_response_buffer(response, 200, "application/json", 4 * MIB);
    const enum hub_status st = space ? read_file(request->app->roots, space, out, err) : HUB_NOT_FOUND;
    if (st == HUB_NOT_FOUND)
        return hub_fail_about(err, st, HUB_PROBLEM_NAMESPACE_NOT_FOUND, "path", key.name.data, "%s '%s'",
                              space ? "the namespace has no description" : "no dataset is in a namespace",
                              key.name.data);
    HUB_TRY(st);
    response->is_json = false; /* no line's end is added to the bytes of the file */
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    return hub_reply_document(request, response, err);
}
