/* A part that comes, and the list of all at the end: see hf_lfs_parts.h. A part's ETag is its SHA-256. */
#include "server/facade/hf_lfs_parts.h"

#include "server/facade/handlers.h"
#include "server/facade/hf_lfs_address.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t hub_lfs_part_bytes(const struct hub_app *app, uint64_t size)
{
    if (size <= app->upload_part)
        return 0;
    const uint64_t least = (size + HUB_PARTS - 1) / HUB_PARTS;
    return HUB_MAX(least, HUB_MIN(app->upload_part, (uint64_t)GIB));
}

struct hub_parted hub_lfs_parted(const struct hub_lfs_object *object, uint64_t part_bytes, uint32_t root,
                                 const char *who)
{
    struct hub_parted of = {.root = root, .who = who, .size = object->size, .part_bytes = part_bytes};
    memcpy(of.sha256, object->sha256, sizeof of.sha256);
    return of;
}

/* What an address means, and whose it is. */
struct addressed {
    struct hub_lfs_target target;
    char who[HUB_WRITER_CHARS];
    uint32_t root;
};

static enum hub_status read_address(struct hub_request *request, struct addressed *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    HUB_TRY(hub_hf_written_id(request, &id, err));
    HUB_TRY(hub_lfs_address_read(request, id.data, &out->target, out->who, err));
    HUB_TRY(hub_repo_find(request->app->truth, id.data, &row, err));
    out->root = row.root;
    return HUB_OK;
}

static struct hub_parted parted(const struct addressed *at)
{
    return hub_lfs_parted(&at->target.object, at->target.part_bytes, at->root, at->who);
}

/* ---- a part that comes ---- */

struct incoming_part {
    struct hub_body_sink sink; /* first */
    struct hub_object_part part;
};

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    return hub_object_part_write(&((struct incoming_part *)sink)->part, bytes, err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct incoming_part *in = (struct incoming_part *)sink;
    hub_object_part_close(&in->part);
    free(in);
}

static enum hub_status open_part(struct hub_request *request, uint64_t size, struct incoming_part *in,
                                 struct hub_error *err)
{
    struct addressed at;
    HUB_TRY(read_address(request, &at, err));
    const struct hub_parted of = parted(&at);
    HUB_TRY(hub_object_part_begin(request->app->deposits, &of, at.target.part, &in->part, err));
    const uint64_t wanted = in->part.end - in->part.at;
    return size == HUB_BODY_SIZE_UNKNOWN || size == wanted
               ? HUB_OK
               : hub_fail(err, HUB_INVALID, "the part has %" PRIu64 " bytes, and %" PRIu64 " are announced",
                          wanted, size);
}

enum hub_status hub_hf_lfs_part_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                     struct hub_error *err)
{
    struct incoming_part *in;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct incoming_part){.sink = {take, free_incoming}, .part = HUB_OBJECT_PART_INIT};
    const enum hub_status st = open_part(request, size, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

enum hub_status hub_hf_lfs_part_done(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    struct incoming_part *in = (struct incoming_part *)request->sink;
    uint8_t row[HUB_PART_ROW];
    char etag[2 * HUB_PART_ROW + 1];
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_object_part_finish(&in->part, row, err));
    hub_hex(row, sizeof row, etag);
    (void)hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB);
    return hub_response_header(response, err, "ETag", "\"%s\"", etag);
}

/* ---- all of them ---- */

enum hub_status hub_hf_lfs_join(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t(*rows)[HUB_PART_ROW] = NULL;
    struct addressed at;
    uint32_t count = 0;
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    HUB_TRY(read_address(request, &at, err));
    HUB_TRY(hub_lfs_parts_read(request->body, HUB_PARTS, &rows, &count, err));
    const struct hub_parted of = parted(&at);
    HUB_TRY(hub_parts_join(request->app->deposits, &of, (const uint8_t(*)[HUB_PART_ROW])rows, count, err));
    return hub_buf_add_text(hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB),
                            "{}\n", err);
}
