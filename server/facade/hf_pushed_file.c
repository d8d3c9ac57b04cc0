/* The bytes of a file of a repo that was pushed. */
#include "server/facade/handlers.h"
#include "server/facade/hf_pushed.h"

#include "server/api/files/listing.h"
#include "storage/deposits/deposit.h"
#include "storage/read/read.h"

#include <inttypes.h>
#include <stdio.h>

static enum hub_status open_object(const struct hub_request *request, const struct hub_hf_pushed *pushed,
                                   const struct hub_push_file *file, struct hub_file **out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(PATH_MAX);
    HUB_TRY(hub_object_file_path(request->app->deposits, pushed->row.root, file->sha256, &path, err));
    const struct hub_file_ref ref = {.root = pushed->row.root, .path = path.data};
    return hub_file_get(request->app->store, &ref, out, err);
}

static enum hub_status put_headers(const struct hub_push_file *file, char etag[80],
                                   struct hub_response *response, struct hub_error *err)
{
    struct hub_hf_file_id id;
    hub_hf_pushed_id(file, &id);
    const char *name = hub_view_behind(hub_view_of(file->path), '/').data;
    snprintf(etag, 80, "\"%s\"", id.sha256[0] ? id.sha256 : id.oid);
    HUB_TRY(hub_response_header(response, err, "X-Linked-Etag", "%s", etag));
    HUB_TRY(hub_response_header(response, err, "X-Linked-Size", "%" PRIu64, file->size));
    HUB_TRY(hub_response_header(response, err, "Content-Type", "%s", hub_file_type(file->path)));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", "sandbox; default-src 'none'"));
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    return hub_response_file_name(response, "attachment", hub_view_of(name), err);
}

static enum hub_status send(struct hub_request *request, const struct hub_hf_pushed *pushed,
                            const struct hub_push_file *file, struct hub_response *response,
                            struct hub_error *err)
{
    struct hub_file *opened = NULL;
    struct hub_byte_range range = {0};
    char etag[80];
    bool done = false;
    HUB_TRY(put_headers(file, etag, response, err));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    const struct hub_validators validators = {etag, -1};
    HUB_TRY(hub_bytes_range(request, &validators, file->size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    HUB_TRY(open_object(request, pushed, file, &opened, err));
    response->kind = range.count ? HUB_BODY_FILE : HUB_BODY_BUFFER;
    response->file = opened;
    response->offset = range.first;
    response->length = range.count;
    return HUB_OK;
}

enum hub_status hub_hf_pushed_file(struct hub_request *request, struct hub_hf_pushed *pushed,
                                   struct hub_response *response, struct hub_error *err)
{
    struct hub_push_file file;
    const struct hub_view path = hub_request_capture(request, "path");
    const enum hub_status st = hub_push_file_find(request->app->truth, &pushed->at, path.data, &file, err);
    if (!st)
        return send(request, pushed, &file, response, err);
    if (st != HUB_NOT_FOUND)
        return st;
    hub_problem_write(response, request, err, NULL); /* with its commit: clients remember the absence */
    return HUB_OK;
}

enum hub_status hub_hf_pushed_known(struct hub_request *request, struct hub_hf_pushed *pushed,
                                    struct hub_response *response, struct hub_error *err)
{
    (void)request;
    (void)pushed;
    return hub_buf_add_text(hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB),
                            "{}\n", err);
}
