/* Drafts: opened, listed, shown and dropped. */
#include "server/api/drafts/draft.h"
#include "server/api/drafts/tidy.h"
#include "server/api/handlers.h"
#include "storage/ids/id.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_BYTES = 4 * MIB, FILES_BYTES = 256 * MIB };

/* ---- where it will lie ---- */

/* The root whose name begins the id, else the first one without a name. `path`: below it. */
static enum hub_status choose_root(const struct hub_roots *roots, const char *id, uint32_t *out,
                                   const char **path, struct hub_error *err)
{
    const struct hub_root *found = NULL;
    *path = id;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        const char *below = root->name ? hub_path_below(id, root->name) : NULL;
        if (below && *below) {
            found = root;
            *path = below;
            break;
        }
        if (!found && !root->name && !root->read_only)
            found = root;
    }
    if (!found)
        return hub_fail(err, HUB_DENIED,
                        "no root of this hub takes '%.200s': it has none without a name that may "
                        "be written",
                        id);
    if (found->read_only)
        return hub_fail(err, HUB_DENIED, "the root of '%.200s' is read-only in the configuration (:ro)", id);
    *out = (uint32_t)(found - roots->roots);
    return HUB_OK;
}

/* ---- opening ---- */

static enum hub_status open_draft(struct hub_request *request, const char *id, struct hub_draft_row *row,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    char who[HUB_WRITER_CHARS];
    const char *path;
    HUB_TRY(choose_root(request->app->roots, id, &row->root, &path, err));
    HUB_TRY(hub_draft_check_free(request->app, id, err));
    hub_draft_writer(request, who);
    HUB_TRY(hub_dup(&row->dataset, id, err));
    HUB_TRY(hub_dup(&row->path, path, err));
    HUB_TRY(hub_dup(&row->who, who, err));
    HUB_TRY(hub_draft_add(request->app->truth, row, err));
    const enum hub_status st =
        hub_draft_open(request->app->roots->roots[row->root].path, row->id, true, &draft, err);
    if (st)
        (void)!hub_draft_forget(request->app->truth, row->id, NULL);
    return st;
}

enum hub_status hub_drafts_post(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    struct hub_error why = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    if (hub_json_parse(request->body, request->body.size, &body, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    const char *id = json_string_value(json_object_get(body, "id"));
    if (!id || json_object_size(body) != 1)
        return hub_fail(err, HUB_INVALID, "the body is {\"id\": \"lab/arm-v1\"}");
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    HUB_TRY(hub_request_may_write(request, hub_view_of(id), err));
    hub_drafts_tidy(request->app);
    HUB_TRY(open_draft(request, id, &row, err));
    HUB_TRY(hub_response_header(response, err, "Location", "/api/v1/drafts/%s", row.id));
    return hub_draft_answer(request, row.id, 201, response, err);
}

/* ---- showing ---- */

struct list {
    const struct hub_request *request;
    struct hub_json json;
    char who[HUB_WRITER_CHARS];
};

static enum hub_status add_draft(void *user, const struct hub_draft_row *row, struct hub_error *err)
{
    struct list *list = user;
    (void)err;
    if (strcmp(row->who, list->who) == 0 || hub_request_is_admin(list->request))
        hub_draft_write(&list->json, row);
    return hub_json_status(&list->json);
}

enum hub_status hub_drafts_list(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct list list = {.request = request};
    if (!request->may_block)
        return HUB_AGAIN;
    hub_draft_writer(request, list.who);
    list.json = hub_json_to(hub_response_buffer(response, 200, "application/json", LIST_BYTES), err);
    hub_json_object(&list.json);
    hub_json_put_array(&list.json, "items");
    HUB_TRY(hub_drafts_each(request->app->truth, add_draft, &list, err));
    hub_json_end_array(&list.json);
    hub_json_end_object(&list.json);
    HUB_TRY(hub_json_status(&list.json));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

enum hub_status hub_draft_show(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_draft_of(request, &row, err));
    return hub_draft_answer(request, row.id, 200, response, err);
}

struct files {
    const struct hub_draft_folder *draft;
    struct hub_json json;
};

static enum hub_status add_file(void *user, const struct hub_draft_file *file, struct hub_error *err)
{
    struct files *files = user;
    (void)err;
    hub_draft_file_write(&files->json, file, hub_draft_offset(files->draft, file));
    return hub_json_status(&files->json);
}

enum hub_status hub_draft_files_list(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    struct files files = {.draft = &draft};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_draft_of(request, &row, err));
    HUB_TRY(hub_draft_enter(request->app, &row, &draft, err));
    files.json = hub_json_to(hub_response_buffer(response, 200, "application/json", FILES_BYTES), err);
    hub_json_object(&files.json);
    hub_json_put_array(&files.json, "items");
    HUB_TRY(hub_draft_files_each(request->app->truth, row.id, NULL, 0, add_file, &files, err));
    hub_json_end_array(&files.json);
    hub_json_end_object(&files.json);
    HUB_TRY(hub_json_status(&files.json));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

enum hub_status hub_drafts_delete(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_draft_of(request, &row, err));
    if (row.state == HUB_DRAFT_COMMITTING)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DRAFT_BUSY, "the draft is being published");
    /* so that nobody publishes what is being removed */
    HUB_TRY(hub_draft_turn(request->app->truth, row.id, row.state, HUB_DRAFT_DROPPED, err));
    HUB_TRY(hub_draft_end(request->app, &row, err));
    response->status = 204;
    return HUB_OK;
}
