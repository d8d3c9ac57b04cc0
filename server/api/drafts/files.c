/* Files of a draft: a PUT streams one into it, from its beginning or from where it ends. */
#include "server/api/drafts/draft.h"
#include "server/api/drafts/stated.h"
#include "server/api/handlers.h"
#include "server/api/hooks.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what comes ---- */

void hub_draft_tell_quota(const struct hub_app *app, const struct hub_draft_row *row, const char *draft,
                          const struct hub_error *why)
{
    if (why && why->problem == HUB_PROBLEM_QUOTA_EXCEEDED)
        hub_hooks_send(app->hooks, &(struct hub_hook_event){.event = "quota",
                                                            .dataset = row->dataset,
                                                            .draft = draft,
                                                            .who = row->who,
                                                            .reason = why->detail});
}

enum hub_status hub_draft_file_state(const struct hub_app *app, const struct hub_draft_row *row,
                                     const struct hub_draft_file *file, struct hub_error *err)
{
    const enum hub_status st = hub_draft_file_put(app->truth, row->id, file, err);
    if (st)
        hub_draft_tell_quota(app, row, row->id, err);
    return st;
}

struct incoming {
    struct hub_body_sink sink; /* first */
    struct hub_draft_row row;
    struct hub_draft_folder draft;
    struct hub_upload upload;
    uint64_t until; /* bytes that are there when the body is whole */
    struct hub_stated_digests stated;
};

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    struct incoming *in = (struct incoming *)sink;
    if (bytes.size > in->until - in->upload.hasher.at)
        return hub_fail(err, HUB_TOO_BIG, "more bytes came than Content-Range says");
    return hub_upload_add(&in->upload, bytes, err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct incoming *in = (struct incoming *)sink;
    hub_upload_dispose(&in->upload);
    hub_draft_close(&in->draft);
    hub_draft_row_dispose(&in->row);
    free(in);
}

/* A part that comes once more when the file is whole: the answer to it was lost. */
static enum hub_status refuse_whole(const struct hub_app *app, const char *draft, const char *path,
                                    const struct hub_draft_span *span, struct hub_error *err)
{
    struct hub_draft_file file;
    if (!span->first || hub_draft_file_find(app->truth, draft, path, &file, NULL) || !file.complete)
        return HUB_OK;
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_UPLOAD_OFFSET,
                       "all %llu bytes of the file are there: it may only be sent again from its first one",
                       (unsigned long long)file.size);
}

static enum hub_status read_digests(const struct hub_request *request, const struct hub_draft_span *span,
                                    struct hub_stated_digests *out, struct hub_error *err)
{
    const char *md5 = hub_request_header(request, "Content-MD5");
    HUB_TRY(hub_draft_digest_read(hub_request_header(request, "Repr-Digest"), out, err));
    if (md5 && span->count != span->size)
        return hub_fail(
            err, HUB_INVALID,
            "Content-MD5 is of the body, which is a part of the file: state the digest of the file "
            "in Repr-Digest");
    return hub_draft_md5_read(md5, out, err);
}

static enum hub_status open_file(struct hub_request *request, uint64_t size, struct incoming *in,
                                 struct hub_error *err)
{
    struct hub_draft_span span = {0};
    const struct hub_view path = hub_request_capture(request, "path");
    HUB_TRY(hub_draft_path_check(path, err));
    HUB_TRY(hub_draft_span_read(hub_request_header(request, "Content-Range"), size, &span, err));
    HUB_TRY(read_digests(request, &span, &in->stated, err));
    HUB_TRY(hub_draft_of(request, &in->row, err));
    const struct hub_draft_file file = {.path = path.data, .size = span.size};
    HUB_TRY(hub_draft_enter(request->app, &in->row, &in->draft, err));
    HUB_TRY(refuse_whole(request->app, in->row.id, path.data, &span, err));
    in->until = span.first + span.count;
    const struct hub_upload_order order = {.path = path.data,
                                           .offset = span.first,
                                           .size = span.size,
                                           .spare_bytes = request->app->min_free,
                                           .md5 = in->stated.has_md5};
    HUB_TRY(hub_upload_begin(&in->draft, &order, &in->upload, err));
    return hub_draft_file_state(request->app, &in->row, &file, err);
}

enum hub_status hub_draft_file_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                    struct hub_error *err)
{
    struct incoming *in;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct incoming){
        .sink = {take, free_incoming}, .draft = HUB_DRAFT_FOLDER_INIT, .upload = HUB_UPLOAD_INIT};
    const enum hub_status st = open_file(request, size, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

/* ---- answers ---- */

static enum hub_status answer_file(struct hub_response *response, unsigned status,
                                   const struct hub_draft_file *file, uint64_t offset, struct hub_error *err)
{
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, status, "application/json", 16 * KIB), err);
    hub_draft_file_write(&json, file, offset);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_response_header(response, err, "Upload-Offset", "%llu", (unsigned long long)offset));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

/* Under the lock, for which whoever publishes it waits before looking at its files. */
static enum hub_status check_open(const struct hub_app *app, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_TRY(hub_draft_find(app->truth, id, &row, err));
    return row.state == HUB_DRAFT_OPEN ? HUB_OK
                                       : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DRAFT_BUSY,
                                                     "the draft is %s", hub_draft_states[row.state]);
}

enum hub_status hub_draft_file_whole(const struct hub_app *app, const char *id,
                                     const struct hub_draft_folder *draft, struct hub_upload *upload,
                                     const struct hub_stated_digests *stated, struct hub_draft_file *file,
                                     struct hub_error *err)
{
    /* the tree of a draft that is published in this moment is a dataset */
    HUB_TRY(hub_draft_lock(draft, err));
    enum hub_status st = check_open(app, id, err);
    if (!st)
        st = hub_upload_end(upload, stated, err);
    if (!st) {
        memcpy(file->sha256, upload->sums.sha256, sizeof file->sha256);
        memcpy(file->crc32c, upload->sums.crc32c, sizeof file->crc32c);
        memcpy(file->md5, upload->sums.other, sizeof file->md5);
        file->has_crc32c = true;
        file->has_md5 = upload->sums.kind == HUB_BY_MD5;
        st = hub_draft_file_put(app->truth, id, file, err);
    }
    hub_draft_unlock(draft);
    return st;
}

static enum hub_status end_file(struct hub_request *request, struct incoming *in,
                                struct hub_response *response, struct hub_error *err)
{
    struct hub_upload *upload = &in->upload;
    if (upload->hasher.at != in->until)
        return hub_fail(err, HUB_INVALID,
                        "fewer bytes came than Content-Range says: go on with Upload-Offset");
    const uint64_t offset = upload->hasher.at;
    struct hub_draft_file file = {
        .path = upload->path, .size = upload->size, .complete = hub_upload_is_whole(upload)};
    if (!file.complete)
        return answer_file(response, 200, &file, offset, err);
    HUB_TRY(hub_draft_file_whole(request->app, in->row.id, &in->draft, upload, &in->stated, &file, err));
    return answer_file(response, 201, &file, offset, err);
}

/* Nothing is locked when the answer is sent: a client goes on at once. */
enum hub_status hub_draft_file_put_done(struct hub_request *request, struct hub_response *response,
                                        struct hub_error *err)
{
    struct incoming *in = (struct incoming *)request->sink;
    const enum hub_status st = end_file(request, in, response, err);
    hub_upload_dispose(&in->upload);
    hub_draft_close(&in->draft);
    return st;
}

/* The draft and the file that the path names. */
static enum hub_status find_file(const struct hub_request *request, struct hub_draft_row *row,
                                 struct hub_draft_folder *draft, struct hub_draft_file *file,
                                 struct hub_error *err)
{
    const struct hub_view path = hub_request_capture(request, "path");
    HUB_TRY(hub_draft_of(request, row, err));
    HUB_TRY(hub_draft_file_find(request->app->truth, row->id, path.data, file, err));
    return hub_draft_enter(request->app, row, draft, err);
}

enum hub_status hub_draft_file_show(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    struct hub_draft_file file;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(find_file(request, &row, &draft, &file, err));
    return answer_file(response, 200, &file, hub_draft_offset(&draft, &file), err);
}

enum hub_status hub_draft_file_delete(struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder draft = HUB_DRAFT_FOLDER_INIT;
    struct hub_draft_file file;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(find_file(request, &row, &draft, &file, err));
    HUB_TRY(hub_draft_lock(&draft, err));
    HUB_TRY(hub_draft_drop(&draft, file.path, err)); /* what has a row and no file is not published */
    HUB_TRY(hub_draft_file_forget(request->app->truth, row.id, file.path, err));
    response->status = 204;
    return HUB_OK;
}
