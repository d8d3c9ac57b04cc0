/* Namespaces written and deleted: the file in the folder, its row in hub.db, the audit. Whoever may write all
 * that lies below the name may do it. */
#include "storage/truth/namespaces.h"
#include "server/api/drafts/draft.h"
#include "server/api/handlers.h"
#include "server/api/visible.h"
#include "server/log/log.h"
#include "storage/ids/id.h"
#include "storage/transfer/spaces.h"

#include <stdio.h>
#include <stdlib.h>

enum { LISTED = 20 }; /* names of what is in one that is not empty */

struct change {
    struct hub_request *request;
    const char *name; /* as ids begin with it */
    const char *path; /* below the root, borrowed from `name` */
    uint32_t root;
    struct hub_private place;
    char who[HUB_WRITER_CHARS];
};

static void change_dispose(struct change *c)
{
    hub_private_close(&c->place);
}

static enum hub_status may_write(const struct hub_request *request, const char *name, size_t size,
                                 struct hub_error *err)
{
    char folder[HUB_MAX_ID + 2];
    snprintf(folder, sizeof folder, "%.*s/", (int)size, name);
    return hub_request_may_write(request, hub_view_of(folder), err);
}

/* ---- where it is ---- */

/* The root that holds datasets of it; UINT32_MAX: none does. HUB_EXISTS: a dataset is in its place. */
static enum hub_status find_datasets(const struct hub_app *app, const char *name, uint32_t *root,
                                     struct hub_error *err)
{
    const struct hub_snapshot *all = hub_catalog_snapshot(app->catalog);
    bool in_the_way = false;
    for (uint32_t i = 0; i < all->count && !in_the_way; i++) {
        const struct hub_summary *s = all->summaries[i];
        if (strcmp(s->format, "files") == 0 || !hub_summary_is_here(s))
            continue;
        const char *below = hub_path_below(s->id, name);
        if (below && *below && *root == UINT32_MAX)
            *root = s->root;
        in_the_way = hub_path_below(name, s->id) != NULL;
    }
    hub_snapshot_put(all);
    return in_the_way ? hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                                    "'%.200s' is a dataset, or lies in one: choose another name", name)
                      : HUB_OK;
}

/* What of the name lies below a root. */
static const char *path_in(const struct hub_root *root, const char *name)
{
    return root->name ? hub_path_below(name, root->name) : name;
}

static enum hub_status find_root(struct change *c, struct hub_error *err)
{
    const struct hub_app *app = c->request->app;
    HUB_TRY(hub_namespace_root(app->truth, c->name, &c->root, err));
    HUB_TRY(find_datasets(app, c->name, &c->root, err));
    if (c->root == UINT32_MAX)
        return hub_draft_choose_root(app->roots, c->name, &c->root, &c->path, err);
    const struct hub_root *root = &app->roots->roots[c->root];
    c->path = path_in(root, c->name);
    if (root->read_only)
        return hub_fail(err, HUB_DENIED, "the root of '%.200s' is read-only in the configuration (:ro)",
                        c->name);
    return c->path ? HUB_OK
                   : hub_fail(err, HUB_DENIED, "no root of this hub takes '%.200s' any more", c->name);
}

/* The right first: what is there is for those who have it. */
static enum hub_status begin(struct change *c, struct hub_error *err)
{
    const struct hub_view name = hub_request_capture(c->request, "path");
    c->name = name.data;
    HUB_TRY(hub_namespace_check(name, err));
    HUB_TRY(may_write(c->request, c->name, name.size, err));
    HUB_TRY(find_root(c, err));
    if (!*c->path)
        return hub_fail(err, HUB_DENIED,
                        "'%.200s' is a root of this hub itself: its namespace_metadata.json is the admin's",
                        c->name);
    hub_request_writer(c->request, c->who);
    return hub_private_open(c->request->app->roots->roots[c->root].path, true, &c->place, err);
}

/* ---- writing ---- */

static enum hub_status set_row(const struct change *c, const char *name, bool made, struct hub_error *err)
{
    static const struct hub_log_event event = {HUB_LOG_INFO, "namespace-written", NULL};
    const struct hub_namespace_row row = {.name = name, .who = c->who, .root = c->root};
    struct hub_app *app = c->request->app;
    HUB_TRY(hub_namespace_set(app->truth, &row, made, err));
    atomic_fetch_add(&app->spaces_changed, 1);
    hub_log_event(app->log, &event, "%s by %s", name, c->who);
    return HUB_OK;
}

/* Those that it lies in, as Python Minari does, as far as they may be written. */
static enum hub_status fill_parents(const struct change *c, struct hub_error *err)
{
    char part[HUB_MAX_ID + 1];
    const size_t skip = (size_t)(c->path - c->name);
    for (const char *slash = strchr(c->path, '/'); slash; slash = strchr(slash + 1, '/')) {
        bool made = false;
        snprintf(part, sizeof part, "%.*s", (int)(slash - c->name), c->name);
        if (may_write(c->request, part, strlen(part), NULL))
            continue;
        HUB_TRY(hub_space_fill(&c->place, part + skip, &made, err));
        if (made)
            HUB_TRY(set_row(c, part, true, err));
    }
    return HUB_OK;
}

/* "If-None-Match: *" is for a new one alone, "If-Match: *" for one that is there. */
static enum hub_status read_mode(const struct hub_request *request, enum hub_space_mode *out,
                                 struct hub_error *err)
{
    const char *none = hub_request_header(request, "If-None-Match"),
               *some = hub_request_header(request, "If-Match");
    if ((none && strcmp(none, "*") != 0) || (some && strcmp(some, "*") != 0) || (none && some))
        return hub_fail(err, HUB_INVALID,
                        "of a namespace If-None-Match or If-Match is *, or neither is sent");
    *out = none ? HUB_SPACE_NEW : some ? HUB_SPACE_OVER : HUB_SPACE_ANY;
    return HUB_OK;
}

static enum hub_status write_it(struct change *c, bool *made, struct hub_error *err)
{
    struct hub_error why = {0};
    enum hub_space_mode mode;
    *made = true;
    HUB_TRY(read_mode(c->request, &mode, err));
    const enum hub_status st = hub_space_write(&c->place, c->path, mode, c->request->body, made, &why);
    const bool differs = (st == HUB_EXISTS && !*made) || (st == HUB_NOT_FOUND && mode == HUB_SPACE_OVER);
    return differs ? hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_PRECONDITION_FAILED, "%s", why.detail)
                   : hub_pass(st, &why, err);
}

enum hub_status hub_namespace_put(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(change_dispose) struct change c = {.request = request, .place = HUB_PRIVATE_INIT};
    bool made;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(begin(&c, err));
    HUB_TRY(write_it(&c, &made, err));
    HUB_TRY(set_row(&c, c.name, made, err));
    HUB_TRY(fill_parents(&c, err));
    if (made)
        HUB_TRY(hub_response_header(response, err, "Location", "/api/v1/namespaces/%s", c.name));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    struct hub_buf *out =
        hub_response_buffer(response, made ? 201 : 200, "application/json", HUB_SPACE_BYTES + 1);
    response->is_json = false; /* no line's end is added to what was sent */
    return hub_buf_add_view(out, request->body, err);
}

/* ---- deleting ---- */

/* What is in it, as far as whoever asks may know of it. */
static enum hub_status refuse(const struct change *c, const struct hub_names *left,
                              struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    struct hub_json json = hub_json_to(&text, NULL);
    size_t listed = 0;
    hub_json_array(&json);
    for (size_t i = 0; i < left->count && listed < LISTED; i++) {
        char id[HUB_MAX_ID + 300];
        snprintf(id, sizeof id, "%s/%s/", c->name, left->items[i].text);
        const struct hub_view folder = hub_view_of(id), itself = {id, folder.size - 1};
        if (!hub_request_may_read(c->request, folder) || !hub_request_may_read(c->request, itself))
            continue;
        hub_json_string(&json, hub_view_of(left->items[i].text));
        listed++;
    }
    hub_json_end_array(&json);
    if (!hub_json_status(&json) && asprintf(&response->problem_extra, "\"contents\":%s", text.data) < 0)
        response->problem_extra = NULL;
    return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                       "the namespace '%.200s' is not empty: delete what is in it first", c->name);
}

enum hub_status hub_namespace_delete(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    HUB_CLEANUP(change_dispose) struct change c = {.request = request, .place = HUB_PRIVATE_INIT};
    HUB_CLEANUP(hub_names_dispose) struct hub_names left = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(begin(&c, err));
    const enum hub_status st = hub_space_remove(&c.place, c.path, &left, err);
    if (st == HUB_EXISTS)
        return refuse(&c, &left, response, err);
    HUB_TRY(st);
    HUB_TRY(hub_namespace_forget(request->app->truth, c.name, c.who, err));
    atomic_fetch_add(&request->app->spaces_changed, 1);
    response->status = 204;
    return HUB_OK;
}
