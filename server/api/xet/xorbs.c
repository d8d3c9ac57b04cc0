/* A xorb: its bytes go to the folder of its upload as they come. */
#include "server/api/xet/place.h"

#include "server/api/xet/handlers.h"
#include "storage/text/json.h"
#include "storage/xet/folder.h"

#include <stdlib.h>

struct sent_xorb {
    struct hub_body_sink sink; /* first */
    struct hub_xet_place place;
    struct hub_xorb_upload upload;
    uint64_t size; /* bytes that came */
};

static enum hub_status is_too_big(struct hub_error *err)
{
    return hub_fail(err, HUB_TOO_BIG, "a xorb has at most %u bytes", HUB_XORB_BODY_BYTES);
}

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    struct sent_xorb *in = (struct sent_xorb *)sink;
    in->size += bytes.size;
    return in->size > HUB_XORB_BODY_BYTES ? is_too_big(err)
                                          : hub_xet_blame(hub_xorb_upload_add(&in->upload, bytes, err), err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct sent_xorb *in = (struct sent_xorb *)sink;
    hub_xorb_upload_dispose(&in->upload);
    hub_xet_place_close(&in->place);
    free(in);
}

static enum hub_status check_room(const struct hub_request *request, const struct hub_xet_place *place,
                                  struct hub_error *err)
{
    const uint64_t spare = request->app->min_free;
    uint64_t left;
    HUB_TRY(hub_fs_free_bytes(place->place.path, &left, err));
    if (left > spare && left - spare > HUB_XORB_BODY_BYTES)
        return HUB_OK;
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_NO_SPACE,
                       "the disk has no room for an upload: %llu bytes are free, and %llu of them stay so "
                       "(--min-free)",
                       (unsigned long long)left, (unsigned long long)spare);
}

static enum hub_status open_xorb(struct hub_request *request, uint64_t size, struct sent_xorb *in,
                                 struct hub_error *err)
{
    uint8_t hash[HUB_XET_HASH];
    if (size != HUB_BODY_SIZE_UNKNOWN && size > HUB_XORB_BODY_BYTES)
        return is_too_big(err);
    if (!hub_xet_hash_read(hub_request_capture(request, "hash"), hash))
        return hub_fail(err, HUB_INVALID, "the hash of a xorb has 64 digits of 0-9 and a-f");
    HUB_TRY(hub_xet_place_open(request, &in->place, err));
    HUB_TRY(check_room(request, &in->place, err));
    return hub_xorb_upload_begin(in->place.folder, hash, &in->upload, err);
}

enum hub_status hub_xet_xorb_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                  struct hub_error *err)
{
    struct sent_xorb *in;
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in = (struct sent_xorb){
        .sink = {take, free_incoming}, .place = HUB_XET_PLACE_INIT, .upload = HUB_XORB_UPLOAD_INIT};
    const enum hub_status st = open_xorb(request, size, in, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

enum hub_status hub_xet_xorb_done(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    struct sent_xorb *in = (struct sent_xorb *)request->sink;
    uint64_t stored;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_xet_blame(hub_xorb_upload_end(&in->upload, &stored, err), err));
    HUB_TRY(hub_xet_place_count(&in->place, request->app, stored, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", KIB), err);
    hub_json_object(&json);
    hub_json_put_bool(&json, "was_inserted", true);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}
