/* See lines.h. */
#include "server/api/tables/lines.h"

#include <inttypes.h>
#include <stdlib.h>

static void lines_free(struct hub_body_producer *maker)
{
    struct hub_lines *lines = (struct hub_lines *)maker;
    lines->dispose(lines);
    free(lines);
}

static enum hub_status put_chunk(struct hub_lines *lines, struct hub_buf *out, struct hub_error *err)
{
    for (; lines->at < lines->end && out->size < HUB_BODY_STREAM_BLOCK; lines->at++) {
        struct hub_json json = hub_json_to(out, err);
        hub_json_object(&json);
        HUB_TRY(lines->put(lines, lines->at, &json, err));
        hub_json_end_object(&json);
        HUB_TRY(hub_json_status(&json));
        HUB_TRY(hub_buf_add_text(out, "\n", err));
    }
    return HUB_OK;
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct hub_lines *lines = (struct hub_lines *)maker;
    if (lines->at == lines->end)
        return HUB_OK;
    enum hub_status st = lines->begin ? lines->begin(lines, err) : HUB_OK;
    st = st ? st : put_chunk(lines, out, err);
    if (lines->end_chunk)
        lines->end_chunk(lines);
    return st;
}

enum hub_status hub_lines_answer(struct hub_response *response, struct hub_lines *lines,
                                 struct hub_error *err)
{
    lines->maker = (struct hub_body_producer){more, lines_free};
    const enum hub_status st =
        hub_response_header(response, err, "X-Total-Count", "%" PRIu32, lines->end - lines->at);
    if (st) {
        lines_free(&lines->maker);
        return st;
    }
    return hub_response_made(response, 200, HUB_LINES_TYPE, &lines->maker, err);
}
