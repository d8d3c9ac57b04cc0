/* Tables as answers: see table_answer.h. */
#include "server/api/tables/table_answer.h"

#include <inttypes.h>
#include <stdlib.h>

#define WHOLE_BYTES (8 * MIB) /* of a table that is made whole, for a part of it or for its length */

void hub_table_etag(const struct hub_request *request, const struct hub_table_facts *facts, char out[40])
{
    const struct hub_view parts[] = {
        hub_view_of(facts->summary->revision), hub_view_of(facts->encoder),
        hub_view_of(facts->summary->id),       hub_view_of(request->query_text),
        hub_view_of(facts->as->name),          {(const char *)&facts->measured, sizeof facts->measured}};
    hub_fingerprint(out, parts, HUB_COUNT(parts));
}

struct table_body {
    struct hub_body_producer producer; /* first */
    struct hub_table_stream *table;
};

static enum hub_status more(struct hub_body_producer *producer, struct hub_buf *out, struct hub_error *err)
{
    struct hub_table_stream *table = ((struct table_body *)producer)->table;
    return table->ended ? HUB_OK : hub_table_stream_more(table, HUB_BODY_STREAM_BLOCK, out, err);
}

static void body_free(struct hub_body_producer *producer)
{
    hub_table_stream_free(((struct table_body *)producer)->table);
    free(producer);
}

/* All of it; false: that is too long, and it begins again. */
static enum hub_status make_all(struct hub_table_stream *t, struct hub_buf *all, bool *whole,
                                struct hub_error *err)
{
    while (!t->ended && all->size <= WHOLE_BYTES)
        HUB_TRY(hub_table_stream_more(t, HUB_BODY_STREAM_BLOCK, all, err));
    *whole = t->ended && all->size <= WHOLE_BYTES;
    if (!*whole)
        hub_table_stream_rewind(t);
    return HUB_OK;
}

static enum hub_status answer_whole(struct hub_request *request, struct hub_response *response,
                                    const char *etag, struct hub_table_stream *t, bool *whole,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(WHOLE_BYTES + HUB_BODY_STREAM_LIMIT);
    const struct hub_encoding e = {.as = t->as};
    const struct hub_validators validators = {etag, -1};
    struct hub_byte_range range = {0};
    const uint64_t before = response->reserved;
    HUB_TRY(hub_budget_take(request->app->budget, request, response, 2 * WHOLE_BYTES, err));
    HUB_TRY(make_all(t, &all, whole, err));
    if (!*whole) {
        hub_response_release(response, before);
        return HUB_OK;
    }
    HUB_TRY(hub_bytes_range(request, &validators, all.size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    struct hub_buf *out =
        hub_response_buffer(response, range.partial ? 206 : 200, hub_encoding_media_type(&e), WHOLE_BYTES);
    return hub_buf_add(out, all.data + range.first, (size_t)range.count, err);
}

static enum hub_status check_row(const struct hub_table_stream *t, struct hub_error *err)
{
    if (hub_table_stream_row_written(t) <= HUB_BODY_STREAM_LIMIT / 2)
        return HUB_OK;
    return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                       "a row of %" PRIu64 " KiB is too long for %s: request it by its episode%s",
                       hub_table_stream_row_read(t) / KIB, t->as->name,
                       hub_representation_is_of_rows(t->as) ? ", or use format=npz or other fields" : "");
}

static enum hub_status send(struct hub_response *response, struct hub_table_stream **table, uint64_t length,
                            struct hub_error *err)
{
    const struct hub_encoding e = {.as = (*table)->as};
    struct table_body *body;
    HUB_TRY(hub_new(&body, 1, sizeof *body, err));
    *body = (struct table_body){{more, body_free}, *table};
    *table = NULL;
    HUB_TRY(hub_response_made(response, 200, hub_encoding_media_type(&e), &body->producer, err));
    response->length = length;
    return hub_response_begin(response, err);
}

enum hub_status hub_table_answer(struct hub_request *request, struct hub_response *response, const char *etag,
                                 struct hub_table_stream **table, struct hub_error *err)
{
    struct hub_table_stream *t = *table;
    const bool in_parts = t->as != hub_representations; /* a document is not: it ends with a line feed */
    uint64_t length;
    bool whole = false;
    HUB_TRY(check_row(t, err));
    HUB_TRY(hub_response_header(response, err, "X-Total-Count", "%" PRIu64, t->rows));
    if (in_parts)
        HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            hub_table_stream_memory(t) + 2 * HUB_BODY_STREAM_BLOCK, err));
    HUB_TRY(hub_table_stream_length(t, &length, err));
    const bool whole_helps =
        hub_request_header(request, "Range") || (request->method == HUB_HEAD && length == HUB_LENGTH_UNKNOWN);
    if (in_parts && whole_helps && !hub_table_stream_is_longer(t, WHOLE_BYTES))
        HUB_TRY(answer_whole(request, response, etag, t, &whole, err));
    return whole ? HUB_OK : send(response, table, length, err);
}
