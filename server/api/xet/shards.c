/* A shard: which files the xorbs of an upload are. They are made before it is answered. */
#include "server/api/xet/handlers.h"
#include "server/api/xet/making.h"

#include "storage/text/json.h"

#include <stdlib.h>

enum { SHARDS = 8 /* that are taken at once: each may hold some 20 MiB */ };

struct sent_shard {
    struct hub_body_sink sink; /* first */
    struct hub_app *app;
    struct hub_xet_place place;
    struct hub_shard_scan scan;
};

static enum hub_status take(struct hub_body_sink *sink, struct hub_view bytes, struct hub_error *err)
{
    return hub_xet_blame(hub_shard_scan_add(&((struct sent_shard *)sink)->scan, bytes, err), err);
}

static void free_incoming(struct hub_body_sink *sink)
{
    struct sent_shard *in = (struct sent_shard *)sink;
    atomic_fetch_sub(&in->app->shards, 1);
    hub_shard_scan_dispose(&in->scan);
    hub_xet_place_close(&in->place);
    free(in);
}

enum hub_status hub_xet_shard_open(struct hub_request *request, uint64_t size, struct hub_body_sink **out,
                                   struct hub_error *err)
{
    struct sent_shard *in;
    if (size != HUB_BODY_SIZE_UNKNOWN && size > HUB_SHARD_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a shard has at most %u bytes", HUB_SHARD_BYTES);
    HUB_TRY(hub_new(&in, 1, sizeof *in, err));
    *in =
        (struct sent_shard){.sink = {take, free_incoming}, .app = request->app, .place = HUB_XET_PLACE_INIT};
    enum hub_status st = HUB_OK;
    if (atomic_fetch_add(&request->app->shards, 1) >= SHARDS)
        st = hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED, "%u uploads are being completed: try again",
                         SHARDS);
    if (!st)
        st = hub_xet_place_open(request, &in->place, err);
    if (st)
        free_incoming(&in->sink);
    else
        *out = &in->sink;
    return st;
}

/* The files that it states are to be made. */
static enum hub_status begin(struct sent_shard *in, struct hub_xet_making *out, struct hub_error *err)
{
    struct hub_shard shard;
    HUB_TRY(hub_xet_blame(hub_shard_scan_end(&in->scan, &shard, err), err));
    return hub_xet_making_init(out, in->app, &in->place, &shard, err);
}

/* ---- in one answer ---- */

enum hub_status hub_xet_shard_done(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    struct hub_xet_making making = {.place = HUB_XET_PLACE_INIT};
    if (!request->heavy)
        return hub_await_heavy(request);
    enum hub_status st = begin((struct sent_shard *)request->sink, &making, err);
    while (!st && !hub_xet_making_is_done(&making))
        st = hub_xet_making_step(&making, err);
    hub_xet_making_dispose(&making);
    HUB_TRY(hub_xet_blame(st, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", KIB), err);
    hub_json_object(&json);
    hub_json_put_uint(&json, "result", 1);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* ---- with its progress: a line a step; the last one says what came of it ---- */

struct shard_lines {
    struct hub_body_producer producer; /* first */
    struct hub_xet_making making;
    bool ended;
};

static void put_progress(struct hub_json *json, const struct hub_xet_making *making)
{
    hub_json_put_text(json, "type", "validating");
    hub_json_put_uint(json, "verified", making->file);
    hub_json_put_uint(json, "total", making->shard.file_count);
}

static void put_error(struct hub_json *json, enum hub_status st, const struct hub_error *why)
{
    hub_json_put_text(json, "type", "error");
    hub_json_put_text(json, "message", why->detail);
    hub_json_put_bool(json, "retryable", st == HUB_BUSY || st == HUB_NO_MEMORY);
}

static enum hub_status more(struct hub_body_producer *producer, struct hub_buf *out, struct hub_error *err)
{
    struct shard_lines *stream = (struct shard_lines *)producer;
    struct hub_error why = {0};
    if (stream->ended)
        return HUB_OK;
    const enum hub_status st = hub_xet_making_step(&stream->making, &why);
    struct hub_json json = hub_json_to(out, err);
    hub_json_object(&json);
    stream->ended = st || hub_xet_making_is_done(&stream->making);
    if (st)
        put_error(&json, st, &why);
    else if (stream->ended)
        hub_json_put_text(&json, "type", "result");
    else
        put_progress(&json, &stream->making);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_buf_add_text(out, "\n", err);
}

static void free_stream(struct hub_body_producer *producer)
{
    struct shard_lines *stream = (struct shard_lines *)producer;
    hub_xet_making_dispose(&stream->making);
    free(stream);
}

enum hub_status hub_xet_shard_stream(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    struct shard_lines *stream;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_new(&stream, 1, sizeof *stream, err));
    stream->producer = (struct hub_body_producer){more, free_stream};
    stream->making = (struct hub_xet_making){.place = HUB_XET_PLACE_INIT};
    const enum hub_status st = begin((struct sent_shard *)request->sink, &stream->making, err);
    if (st) {
        free_stream(&stream->producer);
        return st;
    }
    return hub_response_made(response, 200, "application/x-ndjson", &stream->producer, err);
}
