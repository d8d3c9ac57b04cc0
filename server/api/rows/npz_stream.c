/* Rows as an npz that is sent while it is read: see npz_stream.h. */
#include "server/api/rows/npz_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_BYTES (512 * KIB) /* of rows */
#define PADDED_BYTES (1 * GIB)  /* of one array of text or bytes */
enum { HEADER_CHARS = 512, BLOCK_ROWS = 64 * 1024 };

struct hub_npz_stream_member {
    enum { COLUMN, LENGTHS, ENDS } kind;
    uint32_t column;
    uint64_t rows, row_bytes;
    char header[HEADER_CHARS];
    size_t header_size;
};

static void zipped_free(struct hub_body_producer *maker)
{
    struct hub_npz_stream *z = (struct hub_npz_stream *)maker;
    hub_row_reader_dispose(&z->reading);
    hub_npz_writer_free(z->zip);
    free(z->members);
    free(z->names);
    free(z);
}

void hub_npz_stream_freep(struct hub_npz_stream **zipped)
{
    if (*zipped)
        zipped_free(&(*zipped)->maker);
}

/* ---- columns ---- */

static bool is_text(const struct hub_row_reader *r, uint32_t column)
{
    return r->as[column].type == HUB_FIELD_TEXT;
}

/* Its rows are padded. */
static bool is_padded(const struct hub_row_reader *r, uint32_t column)
{
    return is_text(r, column) || hub_encode_as_bytes(r->as[column].type, &r->as[column].variant);
}

static uint64_t padded_row(const struct hub_npz_stream *z, uint32_t column)
{
    return is_text(&z->reading, column) ? HUB_MAX(z->longest[column], (uint64_t)1) * 4 : z->longest[column];
}

static uint64_t block_rows(const struct hub_npz_stream *z, uint32_t column)
{
    const uint64_t row = is_padded(&z->reading, column) ? HUB_MAX(padded_row(z, column), (uint64_t)256)
                                                        : hub_row_reader_row_bytes(&z->reading, column, 1);
    return HUB_MAX(HUB_MIN(BLOCK_BYTES / HUB_MAX(row, (uint64_t)1), (uint64_t)BLOCK_ROWS), (uint64_t)1);
}

static enum hub_status check_padded(const struct hub_npz_stream *z, uint32_t column, struct hub_error *err)
{
    const uint64_t rows = hub_row_reader_count(&z->reading), row = padded_row(z, column);
    if (!row || rows <= PADDED_BYTES / row)
        return HUB_OK;
    return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                       "'%s' with its rows padded to the longest is more than %zu MiB: use format=arrow, "
                       "fewer episodes or other fields",
                       z->reading.as[column].name, (size_t)(PADDED_BYTES / MIB));
}

enum hub_status hub_npz_stream_measure(struct hub_npz_stream *z, uint32_t column, struct hub_error *err)
{
    const uint64_t all = hub_row_reader_count(&z->reading);
    uint64_t got = 0;
    for (uint64_t at = 0; is_padded(&z->reading, column) && at < all; at += got) {
        HUB_TRY(hub_row_reader_rows(&z->reading, column, 1, at, HUB_MIN(all - at, block_rows(z, column)),
                                    &got, err));
        z->longest[column] = HUB_MAX(z->longest[column],
                                     hub_npy_longest(&z->reading.rows[column], is_text(&z->reading, column)));
        HUB_TRY(check_padded(z, column, err));
    }
    return HUB_OK;
}

/* ---- members ---- */

static enum hub_status set_header(struct hub_npz_stream_member *m, const struct hub_buf *header,
                                  struct hub_error *err)
{
    if (header->size > sizeof m->header)
        return hub_fail(err, HUB_TOO_BIG, "a header of %zu bytes", header->size);
    memcpy(m->header, header->data, header->size);
    m->header_size = header->size;
    return HUB_OK;
}

static enum hub_status describe(const struct hub_npz_stream *z, struct hub_npz_stream_member *m,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf header = HUB_BUF_INIT(64 * KIB);
    const struct hub_block_column *as = &z->reading.as[m->column];
    const struct hub_variant unit = hub_variant_item(&as->variant);
    char descr[24] = "<i8";
    if (m->kind != COLUMN) {
        m->row_bytes = 8;
        HUB_TRY(hub_npy_header_of(descr, m->rows, 0, false, &header, err));
    } else if (!is_padded(&z->reading, m->column)) {
        m->row_bytes = hub_variant_row_bytes(&as->variant);
        HUB_TRY(hub_npy_header(&as->variant, m->rows, false, &header, err));
    } else if (is_text(&z->reading, m->column)) {
        m->row_bytes = padded_row(z, m->column);
        snprintf(descr, sizeof descr, "<U%" PRIu64, m->row_bytes / 4);
        HUB_TRY(hub_npy_header_of(descr, m->rows, 0, false, &header, err));
    } else {
        const bool numbers = as->variant.kind == HUB_KIND_VAR && as->variant.sequence;
        m->row_bytes = padded_row(z, m->column);
        snprintf(descr, sizeof descr, "|u1");
        if (numbers)
            hub_variant_npy(&unit, descr);
        HUB_TRY(hub_npy_header_of(descr, m->rows, m->row_bytes / (numbers ? unit.item_size : 1), true,
                                  &header, err));
    }
    return set_header(m, &header, err);
}

static enum hub_status add_member(struct hub_npz_stream *z, int kind, uint32_t column, struct hub_error *err)
{
    struct hub_npz_stream_member *m = &z->members[z->count++];
    *m = (struct hub_npz_stream_member){.kind = kind, .column = column};
    m->rows = kind == ENDS ? z->reading.count : hub_row_reader_count(&z->reading);
    return describe(z, m, err);
}

static enum hub_status add_members(struct hub_npz_stream *z, struct hub_error *err)
{
    const struct hub_row_reader *r = &z->reading;
    HUB_TRY(hub_new(&z->members, 2 * r->column_count + 1, sizeof *z->members, err));
    for (uint32_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].hidden)
            continue;
        HUB_TRY(add_member(z, COLUMN, c, err));
        if (is_padded(r, c) && !is_text(r, c))
            HUB_TRY(add_member(z, LENGTHS, c, err));
    }
    return add_member(z, ENDS, 0, err);
}

static enum hub_status open_member(const struct hub_npz_stream *z, struct hub_npz_writer *zip,
                                   const struct hub_npz_stream_member *m, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_buf_addf(&name, err, "%s%s", m->kind == ENDS ? "ends" : z->reading.as[m->column].name,
                         m->kind == LENGTHS ? "__length" : ""));
    return hub_npz_writer_open_member(zip, name.data, m->header_size + m->rows * m->row_bytes, err);
}

static void npz_freep(struct hub_npz_writer **npz)
{
    hub_npz_writer_free(*npz);
}

/* All of it, without what the members hold. */
static enum hub_status length_of(const struct hub_npz_stream *z, uint64_t *length, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(16 * MIB);
    HUB_CLEANUP(npz_freep) struct hub_npz_writer *zip = NULL;
    HUB_TRY(hub_npz_writer_begin(&out, &zip, err));
    for (uint32_t i = 0; i < z->count; i++) {
        HUB_TRY(open_member(z, zip, &z->members[i], err));
        hub_npz_writer_skip(zip, z->members[i].header_size + z->members[i].rows * z->members[i].row_bytes);
        HUB_TRY(hub_npz_writer_close_member(zip, err));
    }
    HUB_TRY(hub_npz_writer_finish(zip, err));
    *length = hub_npz_writer_at(zip);
    return HUB_OK;
}

/* ---- blocks ---- */

static enum hub_status add_lengths(const struct hub_rows *rows, const struct hub_variant *variant,
                                   struct hub_buf *out, struct hub_error *err)
{
    const struct hub_variant unit = hub_variant_item(variant);
    const uint64_t size = variant->kind == HUB_KIND_VAR && variant->sequence ? unit.item_size : 1;
    for (uint64_t i = 0; i < rows->rows; i++) {
        const int64_t length = (int64_t)(hub_item_at(rows, i).size / size);
        HUB_TRY(hub_buf_add(out, &length, sizeof length, err));
    }
    return HUB_OK;
}

/* A text that grew since it was measured would overwrite its neighbours. */
static enum hub_status check_longest(const struct hub_npz_stream *z, const struct hub_npz_stream_member *m,
                                     struct hub_error *err)
{
    const struct hub_row_reader *r = &z->reading;
    if (m->kind == COLUMN && is_padded(r, m->column) &&
        hub_npy_longest(&r->rows[m->column], is_text(r, m->column)) > z->longest[m->column])
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "its rows became longer");
    return HUB_OK;
}

/* Rows of one size are read where they are sent from. */
static enum hub_status add_plain(struct hub_npz_stream *z, const struct hub_npz_stream_member *m,
                                 uint64_t count, struct hub_buf *out, struct hub_error *err)
{
    struct hub_row_reader *r = &z->reading;
    uint64_t got = 0;
    const size_t bytes = (size_t)(count * m->row_bytes);
    HUB_TRY(hub_buf_reserve(out, bytes, err));
    hub_row_reader_into(r, m->column, out->data + out->size, bytes + 1);
    const enum hub_status st = hub_row_reader_rows(r, m->column, 1, z->at, count, &got, err);
    hub_row_reader_into(r, m->column, NULL, 0);
    HUB_TRY(st);
    out->size += (size_t)(got * m->row_bytes);
    z->at += got;
    return HUB_OK;
}

static enum hub_status add_rows(struct hub_npz_stream *z, const struct hub_npz_stream_member *m,
                                struct hub_buf *out, struct hub_error *err)
{
    struct hub_row_reader *r = &z->reading;
    const struct hub_rows *rows = &r->rows[m->column];
    uint64_t got = HUB_MIN(m->rows - z->at, (uint64_t)BLOCK_ROWS);
    if (m->kind == ENDS) {
        HUB_TRY(hub_buf_add(out, r->ends + z->at, (size_t)got * sizeof *r->ends,
                            err)); /* the host is little-endian */
        z->at += got;
        return HUB_OK;
    }
    const uint64_t count = HUB_MIN(m->rows - z->at, block_rows(z, m->column));
    if (!is_padded(r, m->column))
        return add_plain(z, m, count, out, err);
    HUB_TRY(hub_row_reader_rows(r, m->column, 1, z->at, count, &got, err));
    HUB_TRY(check_longest(z, m, err));
    if (m->kind == LENGTHS)
        HUB_TRY(add_lengths(rows, &r->as[m->column].variant, out, err));
    else
        HUB_TRY(hub_npy_padded_rows(rows, is_text(r, m->column),
                                    m->row_bytes / (is_text(r, m->column) ? 4 : 1), out, err));
    z->at += got;
    return HUB_OK;
}

static enum hub_status add_chunk(struct hub_npz_stream *z, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_npz_stream_member *m = &z->members[z->member];
    if (!z->open) {
        HUB_TRY(open_member(z, z->zip, m, err));
        HUB_TRY(hub_buf_add(out, m->header, m->header_size, err));
        hub_npz_writer_take(z->zip, m->header, m->header_size);
        z->open = true;
        z->at = 0;
    }
    const size_t from = out->size;
    if (z->at < m->rows)
        HUB_TRY(add_rows(z, m, out, err));
    hub_npz_writer_take(z->zip, out->data + from, out->size - from);
    if (z->at < m->rows)
        return HUB_OK;
    z->open = false;
    z->member++;
    return hub_npz_writer_close_member(z->zip, err);
}

static enum hub_status more(struct hub_body_producer *maker, struct hub_buf *out, struct hub_error *err)
{
    struct hub_npz_stream *z = (struct hub_npz_stream *)maker;
    if (z->ended)
        return HUB_OK;
    hub_npz_writer_resume(z->zip, out);
    while (z->member < z->count && out->size < HUB_BODY_STREAM_BLOCK)
        HUB_TRY(add_chunk(z, out, err));
    if (z->member == z->count && out->size < HUB_BODY_STREAM_BLOCK) {
        HUB_TRY(hub_npz_writer_finish(z->zip, err));
        z->ended = true;
    }
    hub_npz_writer_pause(z->zip);
    return HUB_OK;
}

/* ---- the answer ---- */

enum hub_status hub_npz_stream_new(struct hub_request *request, struct hub_npz_stream **out,
                                   struct hub_error *err)
{
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    (*out)->maker = (struct hub_body_producer){more, zipped_free};
    (*out)->reading.context = hub_request_rows(request);
    return HUB_OK;
}

enum hub_status hub_npz_stream_send(struct hub_request *request, struct hub_response *response,
                                    struct hub_npz_stream **zipped, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf none = HUB_BUF_INIT(1);
    struct hub_npz_stream *z = *zipped;
    uint64_t length = 0, row = 0;
    HUB_TRY(add_members(z, err));
    HUB_TRY(length_of(z, &length, err));
    HUB_TRY(hub_npz_writer_begin(&none, &z->zip, err));
    hub_npz_writer_pause(z->zip);
    for (uint32_t i = 0; i < z->count; i++)
        row = HUB_MAX(row, z->members[i].row_bytes);
    if (row > HUB_BODY_STREAM_LIMIT / 2)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                           "a row of %" PRIu64 " MiB: request it by its episode", row / MIB);
    HUB_TRY(hub_budget_take(request->app->budget, request, response, 3 * HUB_MAX(BLOCK_BYTES, row) + 2 * MIB,
                            err));
    *zipped = NULL;
    HUB_TRY(hub_response_made(response, 200, "application/x-npz", &z->maker, err));
    response->length = length;
    return hub_response_begin(response, err);
}
