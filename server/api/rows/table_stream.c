/* Rows as a table that is sent while it is read: see table_stream.h. */
#include "server/api/rows/table_stream.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of rows in a block: more of them where they do not grow much. */
#define BLOCK_BYTES (256 * KIB)
#define LONG_BLOCK_BYTES (1 * MIB)
#define SHORT_BYTES (256 * KIB) /* of a table that is not sent while it is read */
#define WHOLE_BYTES                                                                                          \
    ((uint64_t)8 * MIB) /* of a table that is made whole, for who asks for a part or for its length */
enum { LITTLE_GROWTH = 4, BLOCK_ROWS = 64 * 1024, NAME_ROOM = 64 };

static void tabled_free(struct hub_body_producer *maker)
{
    struct hub_table_stream *t = (struct hub_table_stream *)maker;
    hub_row_reader_dispose(&t->reading);
    hub_block_trail_dispose(&t->trail);
    free(t->names);
    free(t);
}

void hub_table_stream_freep(struct hub_table_stream **tabled)
{
    if (*tabled)
        tabled_free(&(*tabled)->maker);
}

/* ---- a block ---- */

static uint64_t block_rows(const struct hub_table_stream *t)
{
    const uint64_t bytes = t->as->writer->growth <= LITTLE_GROWTH ? LONG_BLOCK_BYTES : BLOCK_BYTES;
    const uint64_t row = hub_row_reader_row_bytes(&t->reading, 0, t->reading.column_count);
    return HUB_MAX(HUB_MIN(bytes / HUB_MAX(row, (uint64_t)1), (uint64_t)BLOCK_ROWS), (uint64_t)1);
}

/* What a row takes once it is written, at most. */
static uint64_t row_written(const struct hub_table_stream *t)
{
    uint64_t bytes =
        hub_row_reader_row_bytes(&t->reading, 0, t->reading.column_count) * t->as->writer->growth;
    for (uint32_t c = 0; c < t->reading.column_count; c++)
        bytes += strlen(t->reading.as[c].name) + NAME_ROOM;
    return bytes + (uint64_t)NAME_ROOM * 2;
}

/* The columns of the answer: those that are not hidden. */
struct columns {
    struct hub_block_column as[HUB_BLOCK_COLUMNS];
    struct hub_rows rows[HUB_BLOCK_COLUMNS];
    struct hub_block_table table;
};

static void gather_columns(struct hub_table_stream *t, struct columns *all)
{
    const struct hub_row_reader *r = &t->reading;
    uint32_t n = 0;
    for (uint32_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].hidden)
            continue;
        all->as[n] = r->as[c];
        all->rows[n++] = r->rows[c];
    }
    all->table = (struct hub_block_table){
        .columns = all->as, .count = n, .nonfinite = t->nonfinite, .trail = &t->trail};
}

static enum hub_status add_block(struct hub_table_stream *t, struct columns *all, struct hub_buf *out,
                                 struct hub_error *err)
{
    struct hub_row_reader *r = &t->reading;
    const uint64_t left = hub_row_reader_count(r) - t->at;
    uint64_t got = 0;
    HUB_TRY(hub_row_reader_rows(r, 0, r->column_count, t->at, HUB_MIN(left, block_rows(t)), &got, err));
    gather_columns(t, all);
    HUB_TRY(t->as->writer->blocks->rows(&all->table, all->rows, got, out, err));
    t->at += got;
    return HUB_OK;
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct hub_table_stream *t = (struct hub_table_stream *)maker;
    const struct hub_block_writer *writer = t->as->writer->blocks;
    HUB_CLEANUP(hub_freep) struct columns *all = NULL;
    HUB_TRY(hub_new(&all, 1, sizeof *all, err));
    gather_columns(t, all);
    if (!t->begun && writer->begin)
        HUB_TRY(writer->begin(&all->table, out, err));
    t->begun = true;
    const size_t begun = out->size; /* a schema alone is sent with the first rows */
    while (t->at < hub_row_reader_count(&t->reading) && out->size - begun < HUB_BODY_STREAM_BLOCK)
        HUB_TRY(add_block(t, all, out, err));
    if (t->at < hub_row_reader_count(&t->reading) || t->ended)
        return HUB_OK;
    t->ended = true;
    return writer->end ? writer->end(&all->table, out, err) : HUB_OK;
}

/* ---- a short one ---- */

bool hub_table_stream_is_short(const struct hub_encoding *e)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct hub_encoding_field *field = &e->fields[i];
        const bool number = field->type == HUB_FIELD_NUMBER || field->type == HUB_FIELD_BOOL;
        const uint64_t rows = field->plan->slice.count;
        if (!number || field->plan->variant->kind == HUB_KIND_VAR || rows > SHORT_BYTES ||
            rows != e->fields[0].plan->slice.count)
            return false;
        bytes += rows * hub_variant_row_bytes(field->plan->variant);
    }
    return e->count && bytes <= SHORT_BYTES;
}

uint64_t hub_table_stream_short_bytes(const struct hub_encoding *e)
{
    uint64_t bytes = hub_encoding_bytes(e) * e->as->writer->growth + e->count * sizeof(struct hub_rows);
    for (uint32_t i = 0; i < e->count; i++)
        bytes += (strlen(e->fields[i].name) + NAME_ROOM) *
                 (e->fields[i].plan->slice.count + hub_variant_row_items(e->fields[i].plan->variant));
    return bytes;
}

/* What is read of the columns, and the answer. */
struct at_once {
    struct hub_block_column *as;
    struct hub_rows *rows;
    uint32_t count;
    struct hub_block_trail trail;
};

static void at_once_dispose(struct at_once *a)
{
    for (uint32_t i = 0; a->rows && i < a->count; i++)
        hub_rows_dispose(&a->rows[i]);
    free(a->rows);
    free(a->as);
    hub_block_trail_dispose(&a->trail);
}

enum hub_status hub_table_stream_write(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_block_writer *writer = e->as->writer->blocks;
    const uint64_t count = e->fields[0].plan->slice.count;
    HUB_CLEANUP(at_once_dispose) struct at_once a = {.count = e->count};
    HUB_TRY(hub_new(&a.as, e->count, sizeof *a.as, err));
    HUB_TRY(hub_new(&a.rows, e->count, sizeof *a.rows, err));
    HUB_TRY(hub_buf_reserve(out, 3 * hub_encoding_bytes(e), err)); /* digits of doubles */
    for (uint32_t i = 0; i < e->count; i++) {
        a.as[i] = (struct hub_block_column){
            .name = e->fields[i].name, .type = e->fields[i].type, .variant = *e->fields[i].plan->variant};
        HUB_TRY(e->read(e, i, NULL, &a.rows[i], err));
    }
    const struct hub_block_table table = {
        .columns = a.as, .count = e->count, .nonfinite = e->nonfinite, .trail = &a.trail};
    if (writer->begin)
        HUB_TRY(writer->begin(&table, out, err));
    if (count)
        HUB_TRY(writer->rows(&table, a.rows, count, out, err));
    return writer->end ? writer->end(&table, out, err) : HUB_OK;
}

/* ---- a part of it ---- */

/* All of it; false: that is too long, and it begins anew. */
static enum hub_status make_all(struct hub_table_stream *t, struct hub_buf *all, bool *whole,
                                struct hub_error *err)
{
    while (!t->ended && all->size <= WHOLE_BYTES)
        HUB_TRY(more(&t->maker, all, err));
    *whole = t->ended && all->size <= WHOLE_BYTES;
    if (*whole)
        return HUB_OK;
    t->at = 0;
    t->begun = t->ended = false;
    return HUB_OK;
}

/* Cannot be that short, however few digits a number has. */
static bool is_long(const struct hub_table_stream *t)
{
    const uint64_t row = hub_row_reader_row_bytes(&t->reading, 0, t->reading.column_count);
    return hub_row_reader_count(&t->reading) > WHOLE_BYTES * LITTLE_GROWTH / HUB_MAX(row, (uint64_t)1);
}

static enum hub_status answer_whole(const struct hub_table_stream_request *asked,
                                    struct hub_response *response, struct hub_table_stream *t, bool *whole,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(WHOLE_BYTES + HUB_BODY_STREAM_LIMIT);
    const struct hub_validators validators = {asked->etag, -1};
    struct hub_byte_range range = {0};
    const uint64_t before = response->reserved;
    HUB_TRY(hub_budget_take(asked->request->app->budget, asked->request, response, 2 * WHOLE_BYTES, err));
    HUB_TRY(make_all(t, &all, whole, err));
    if (!*whole) {
        hub_response_release(response, before);
        return HUB_OK;
    }
    HUB_TRY(hub_bytes_range(asked->request, &validators, all.size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    struct hub_buf *out =
        hub_response_buffer(response, range.partial ? 206 : 200, asked->media_type, WHOLE_BYTES);
    return hub_buf_add(out, all.data + range.first, (size_t)range.count, err);
}

/* ---- the answer ---- */

enum hub_status hub_table_stream_new(struct hub_request *request, const struct hub_representation *as,
                                     struct hub_table_stream **out, struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    (*out)->maker = (struct hub_body_producer){more, tabled_free};
    (*out)->as = as;
    (*out)->reading.context = hub_request_rows(request);
    return HUB_OK;
}

enum hub_status hub_table_stream_send(const struct hub_table_stream_request *asked,
                                      struct hub_response *response, struct hub_table_stream **tabled,
                                      struct hub_error *err)
{
    struct hub_request *request = asked->request;
    struct hub_table_stream *t = *tabled;
    const uint64_t rows = block_rows(t), written = row_written(t),
                   read = hub_row_reader_row_bytes(&t->reading, 0, t->reading.column_count);
    bool whole = false;
    if (written > HUB_BODY_STREAM_LIMIT / 2)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                           "a row of %" PRIu64 " KiB is too long for %s: use format=npz or other fields",
                           read / KIB, t->as->name);
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            rows * (read + written) + 2 * HUB_BODY_STREAM_BLOCK, err));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    if ((request->method == HUB_HEAD || hub_request_header(request, "Range")) && !is_long(t))
        HUB_TRY(answer_whole(asked, response, t, &whole, err));
    if (whole)
        return HUB_OK;
    *tabled = NULL;
    HUB_TRY(hub_response_made(response, 200, asked->media_type, &t->maker, err));
    return hub_response_begin(response, err);
}
