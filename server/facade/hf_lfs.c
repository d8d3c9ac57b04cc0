/* Git LFS, as far as a push wants it: which objects are to be sent and where to, the objects, and whether
 * they came. */
#include "server/facade/handlers.h"
#include "server/facade/hf_lfs_address.h"
#include "server/facade/hf_lfs_parts.h"
#include "server/facade/hf_room.h"

#include "storage/deposits/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_BYTES = 64 * 1024 * 1024 }; /* an object of many parts has many addresses */
#define LFS_TYPE "application/vnd.git-lfs+json"

/* ---- which are to be sent ---- */

struct batch {
    struct hub_request *request;
    struct hub_hf_written written;
    struct hub_json json;
    struct hub_hf_room room;
    bool takes_parts, parts; /* the client's; some of the objects come so */
};

static void batch_dispose(struct batch *b)
{
    hub_hf_written_dispose(&b->written);
}

/* Whoever names a digest learns nothing of what others have: it is here if the asker sent it, or can read
 * it. */
static enum hub_status is_here(const struct batch *b, const struct hub_lfs_object *object, bool *out,
                               struct hub_error *err)
{
    const struct hub_app *app = b->request->app;
    struct hub_push_file file = {0};
    struct hub_deposit_row row = {.root = b->written.row.root, .who = b->written.who};
    memcpy(file.sha256, object->sha256, sizeof file.sha256);
    memcpy(row.sha256, object->sha256, sizeof row.sha256);
    enum hub_status st = hub_push_object_find(app->truth, b->written.row.id, &file, err);
    if (st == HUB_NOT_FOUND)
        st = hub_push_object_shared(app->truth, row.root, hub_hf_sharing(b->request), &file, err);
    *out = !st && file.size == object->size;
    if (st != HUB_NOT_FOUND)
        return st;
    st = hub_deposit_has(app->deposits, &row, NULL);
    *out = !st && row.size == object->size;
    return !st || st == HUB_NOT_FOUND ? HUB_OK : hub_fail(err, st, "the objects cannot be read");
}

/* An address each, by their numbers, as huggingface_hub looks for them. */
static enum hub_status put_parts(struct batch *b, struct hub_lfs_target target, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    const struct hub_parted parted = {.size = target.object.size, .part_bytes = target.part_bytes};
    char text[24];
    uint32_t count;
    HUB_TRY(hub_parts_count(&parted, &count, err));
    (void)snprintf(text, sizeof text, "%" PRIu64, target.part_bytes);
    hub_json_put_text(&b->json, "chunk_size", text);
    while (target.part++ < count) {
        url.size = 0;
        HUB_TRY(hub_lfs_address_write(b->request, b->written.row.id, &target, &url, err));
        (void)snprintf(text, sizeof text, "%" PRIu32, target.part);
        hub_json_put_text(&b->json, text, url.data);
    }
    return HUB_OK;
}

static enum hub_status put_actions(struct batch *b, const struct hub_lfs_object *object, uint64_t part_bytes,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB), verify = HUB_BUF_INIT(16 * KIB);
    const struct hub_request *request = b->request;
    const struct hub_lfs_target target = {*object, part_bytes, 0};
    HUB_TRY(hub_lfs_address_write(request, b->written.row.id, &target, &url, err));
    HUB_TRY(hub_buf_addf(&verify, err, "%s/datasets/%s/%s/info/lfs/verify", hub_base_url(request),
                         hub_request_capture(request, "org").data,
                         hub_request_capture(request, "name").data));
    hub_json_put_object(&b->json, "actions");
    hub_json_put_object(&b->json, "upload");
    hub_json_put_text(&b->json, "href", url.data);
    hub_json_put_object(&b->json, "header");
    if (part_bytes)
        HUB_TRY(put_parts(b, target, err));
    hub_json_end_object(&b->json);
    hub_json_end_object(&b->json);
    hub_json_put_object(&b->json, "verify");
    hub_json_put_text(&b->json, "href", verify.data);
    hub_json_end_object(&b->json);
    hub_json_end_object(&b->json);
    return hub_json_status(&b->json);
}

/* Before a byte is sent. */
static enum hub_status check_room(struct batch *b, const struct hub_lfs_object *object, uint64_t part_bytes,
                                  struct hub_error *err)
{
    const struct hub_deposits *deposits = b->request->app->deposits;
    const struct hub_parted parted = hub_lfs_parted(object, part_bytes, b->written.row.root, b->written.who);
    HUB_TRY(hub_hf_room_take(&b->room, object->size, "the object", err));
    return part_bytes ? hub_parts_room(deposits, &parted, err)
                      : hub_room_to_wait(deposits, object->size, NULL, err);
}

static void put_error(struct batch *b, unsigned code, const char *message)
{
    hub_json_put_object(&b->json, "error");
    hub_json_put_uint(&b->json, "code", code);
    hub_json_put_text(&b->json, "message", message);
    hub_json_end_object(&b->json);
}

static enum hub_status answer_object(void *user, const struct hub_lfs_object *object, struct hub_error *err)
{
    struct batch *b = user;
    struct hub_error why = {0};
    const uint64_t part_bytes = b->takes_parts ? hub_lfs_part_bytes(b->request->app, object->size) : 0;
    bool here = false;
    HUB_TRY(is_here(b, object, &here, err));
    hub_json_object(&b->json);
    hub_json_put_text(&b->json, "oid", object->oid);
    hub_json_put_uint(&b->json, "size", object->size);
    if (!here && check_room(b, object, part_bytes, &why))
        put_error(b, 507, why.detail);
    else if (!here)
        HUB_TRY(put_actions(b, object, part_bytes, err));
    b->parts |= !here && part_bytes;
    hub_json_end_object(&b->json);
    return hub_json_status(&b->json);
}

enum hub_status hub_hf_lfs_batch(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(batch_dispose) struct batch b = {.request = request};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &b.written, err));
    HUB_TRY(hub_hf_room_find(request->app->truth, b.written.row.id, &b.room, err));
    b.json = hub_json_to(hub_response_buffer(response, 200, LFS_TYPE, ANSWER_BYTES), err);
    hub_json_object(&b.json);
    hub_json_put_array(&b.json, "objects");
    HUB_TRY(hub_lfs_batch_read(request->body, &b.takes_parts, answer_object, &b, err));
    hub_json_end_array(&b.json);
    hub_json_put_text(&b.json, "transfer", b.parts ? "multipart" : "basic");
    hub_json_end_object(&b.json);
    return hub_json_status(&b.json);
}

static enum hub_status note(void *user, const struct hub_lfs_object *object, struct hub_error *err)
{
    (void)err;
    *(struct hub_lfs_object *)user = *object;
    return HUB_OK;
}

enum hub_status hub_hf_lfs_verify(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(batch_dispose) struct batch b = {.request = request};
    struct hub_lfs_object object = {0};
    bool here = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &b.written, err));
    HUB_TRY(hub_lfs_object_read(request->body, note, &object, err));
    HUB_TRY(is_here(&b, &object, &here, err));
    if (!here)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "the object %s was not sent",
                           object.oid);
    return hub_buf_add_text(hub_response_buffer(response, 200, LFS_TYPE, KIB), "{}\n", err);
}

/* ---- an object that comes ---- */

struct incoming_object {
    struct hub_body_sink sink; /* first */
    struct hub_deposit deposit;
    struct hub_lfs_object object;
};

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    return hub_deposit_write(&((struct incoming_object *)sink)->deposit, bytes, err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct incoming_object *in = (struct incoming_object *)sink;
    hub_deposit_abandon(&in->deposit);
    free(in);
}

static enum hub_status open_object(struct hub_request *request, uint64_t size, struct incoming_object *in,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    struct hub_lfs_target target;
    char who[HUB_WRITER_CHARS];
    HUB_TRY(hub_hf_written_id(request, &id, err));
    HUB_TRY(hub_lfs_address_read(request, id.data, &target, who, err));
    in->object = target.object;
    if (size != HUB_BODY_SIZE_UNKNOWN && size != in->object.size)
        return hub_fail(err, HUB_INVALID, "the object has %" PRIu64 " bytes, and %" PRIu64 " are announced",
                        in->object.size, size);
    HUB_TRY(hub_repo_find(request->app->truth, id.data, &row, err));
    const struct hub_deposit_order order = {.root = row.root, .who = who, .size = in->object.size};
    return hub_deposit_begin(request->app->deposits, &order, &in->deposit, err);
}

enum hub_status hub_hf_lfs_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                struct hub_error *err)
{
    struct incoming_object *in;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct incoming_object){.sink = {take, free_incoming}, .deposit = HUB_DEPOSIT_INIT};
    const enum hub_status st = open_object(request, size, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

enum hub_status hub_hf_lfs_done(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct incoming_object *in = (struct incoming_object *)request->sink;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_deposit_finish(&in->deposit, in->object.sha256, NULL, err));
    (void)hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB);
    return hub_response_header(response, err, "ETag", "\"%s\"", in->object.oid);
}
