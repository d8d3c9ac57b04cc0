/* Drafts: opened, listed, shown and dropped. */
#include "server/api/drafts/base.h"
#include "server/api/drafts/stated.h"
#include "server/api/drafts/tidy.h"
#include "server/api/handlers.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LIST_BYTES = 64 * MIB, FILES_BYTES = 256 * MIB };

/* ---- opening ---- */

static enum hub_status find_place(const struct hub_request *request, const struct hub_draft_order *wanted,
                                  struct hub_draft_row *row, struct hub_error *err)
{
    const char *path;
    char who[HUB_WRITER_CHARS];
    HUB_TRY(hub_draft_choose_root(request->app->roots, wanted->id, &row->root, &path, err));
    hub_request_writer(request, who);
    HUB_TRY(hub_dup(&row->dataset, wanted->id, err));
    HUB_TRY(hub_dup(&row->path, path, err));
    HUB_TRY(hub_dup(&row->who, who, err));
    snprintf(row->key, sizeof row->key, "%s", wanted->key);
    HUB_TRY(hub_draft_find_base(request, wanted->base, row, err));
    return hub_draft_check_free(request->app, row, err);
}

/* A draft that takes a place begins with what is there, else with nothing; "from": "" is nothing, too. */
static enum hub_status begin(const struct hub_request *request, const struct hub_draft_order *wanted,
                             const struct hub_draft_row *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    const char *from = wanted->from ? wanted->from : wanted->base ? wanted->id : "";
    HUB_TRY(hub_draft_open(request->app->roots->roots[row->root].path, row->id, true, &draft, err));
    (void)hub_draft_try_lock(&draft); /* until its files are there, for who finds it by its key */
    if (!*from)                       /* else nobody knows how much of it is there */
        HUB_TRY(hub_draft_room(&draft, row->declared, request->app->min_free, err));
    return *from ? hub_draft_begin_from(request, from, row, &draft, err) : HUB_OK;
}

/* What it begins with may have been replaced or deleted since it was found: that is said then. */
static enum hub_status begin_at_head(const struct hub_request *request, const struct hub_draft_order *wanted,
                                     const struct hub_draft_row *row, struct hub_error *err)
{
    struct hub_error why = {0};
    struct hub_commit base = {.dataset = row->dataset};
    const enum hub_status st = begin(request, wanted, row, &why);
    memcpy(base.id, row->base, sizeof base.id);
    if (st == HUB_NOT_FOUND && *row->base)
        HUB_TRY(hub_commit_is_at_rest(request->app->truth, &base, err));
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status open_draft(struct hub_request *request, const struct hub_draft_order *wanted,
                                  struct hub_draft_row *row, bool *found, struct hub_error *err)
{
    HUB_TRY(find_place(request, wanted, row, err));
    row->declared = wanted->bytes;
    enum hub_status st = hub_draft_add_once(request->app->truth, row, found, err);
    if (st) {
        hub_draft_tell_quota(request->app, row, "", err);
        return st;
    }
    if (*found)
        return HUB_OK;
    st = begin_at_head(request, wanted, row, err);
    /* its folder may be there in part; the next start removes what cannot be removed now */
    if (st && !hub_draft_turn(request->app->truth, row->id, HUB_DRAFT_OPEN, HUB_DRAFT_DROPPED, NULL))
        (void)!hub_draft_end(request->app, row, NULL);
    return st;
}

enum hub_status hub_drafts_post(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    struct hub_draft_order wanted;
    bool found = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_draft_body_read(request->body, &body, &wanted, err));
    HUB_TRY(hub_request_may_write(request, hub_view_of(wanted.id), err));
    HUB_TRY(hub_draft_key_read(hub_request_header(request, "Idempotency-Key"), &wanted.key, err));
    HUB_TRY(open_draft(request, &wanted, &row, &found, err));
    HUB_TRY(hub_response_header(response, err, "Location", "/api/v1/drafts/%s", row.id));
    return hub_draft_answer(request, row.id, found ? 200 : 201, response, err);
}

/* ---- showing ---- */

struct list {
    const struct hub_request *request;
    struct hub_json json;
    int state; /* -1: those that are not over */
    char who[HUB_WRITER_CHARS];
};

static enum hub_status add_draft(void *user, const struct hub_draft_row *row, struct hub_error *err)
{
    struct list *list = user;
    (void)err;
    const bool wanted = list->state < 0
                            ? row->state <= HUB_DRAFT_PUBLISHING
                            : (int)row->state == list->state; /* the parameter's words are in that order */
    if (wanted && (strcmp(row->who, list->who) == 0 || hub_request_is_admin(list->request)))
        hub_draft_write(&list->json, list->request->app->truth, row);
    return hub_json_status(&list->json);
}

enum hub_status hub_drafts_list(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct list list = {.request = request, .state = hub_request_choice(request, "state")};
    if (!request->may_block)
        return HUB_AGAIN;
    hub_request_writer(request, list.who);
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
    int64_t limit = 0;
    if (!request->may_block)
        return HUB_AGAIN;
    (void)hub_request_int(request, "limit", &limit);
    HUB_TRY(hub_draft_of(request, &row, err));
    HUB_TRY(hub_draft_enter(request->app, &row, &draft, err));
    files.json = hub_json_to(hub_response_buffer(response, 200, "application/json", FILES_BYTES), err);
    hub_json_object(&files.json);
    hub_json_put_array(&files.json, "items");
    HUB_TRY(hub_draft_files_each(request->app->truth, row.id, hub_request_query(request, "after").data,
                                 (uint32_t)limit, add_file, &files, err));
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
    if (row.state == HUB_DRAFT_COMMITTING || row.state == HUB_DRAFT_PUBLISHING)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DRAFT_BUSY, "the draft is being published");
    /* so that nobody publishes what is being removed */
    HUB_TRY(hub_draft_turn(request->app->truth, row.id, row.state, HUB_DRAFT_DROPPED, err));
    HUB_TRY(hub_draft_end(request->app, &row, err));
    response->status = 204;
    return HUB_OK;
}
