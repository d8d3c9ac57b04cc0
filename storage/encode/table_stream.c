/* Tables, streamed from a source to a writer: see table_stream.h. */
#include "storage/encode/table_stream.h"

#include "storage/encode/representation.h"

#include <stdlib.h>

/* Of rows in a block: more of them where they do not grow much. */
#define ROWS_BYTES (256 * KIB)
#define LONG_ROWS_BYTES (1 * MIB)
#define COLUMN_BYTES (512 * KIB)
enum { LITTLE_GROWTH = 4, BLOCK_ROWS = 64 * 1024, GUESSED_BYTES = 256, NAME_ROOM = 64 };

static const struct hub_stream_writer *writer_of(const struct hub_table_stream *t)
{
    return t->as->writer->table;
}

/* ---- sizes ---- */

static uint64_t fitting(uint64_t bytes, uint64_t row)
{
    return HUB_MAX(HUB_MIN(bytes / HUB_MAX(row, (uint64_t)1), (uint64_t)BLOCK_ROWS), (uint64_t)1);
}

uint64_t hub_table_stream_fitting_rows(const struct hub_representation *as, uint64_t row_bytes)
{
    return fitting(as->writer->table->growth <= LITTLE_GROWTH ? LONG_ROWS_BYTES : ROWS_BYTES, row_bytes);
}

uint64_t hub_table_stream_column_rows(const struct hub_table_stream *t, uint32_t column)
{
    const struct hub_stream_column *c = &t->columns[column];
    return c->apart ? c->rows : t->rows;
}

uint64_t hub_table_stream_row_bytes(const struct hub_stream_column *c)
{
    const uint64_t row = hub_variant_row_bytes(&c->variant);
    return c->variant.kind == HUB_KIND_VAR || !row ? GUESSED_BYTES : row;
}

static uint64_t padded_row(const struct hub_stream_column *c)
{
    const enum hub_npy_array as = hub_npy_array_of(c->type, &c->variant);
    return as == HUB_NPY_VALUES ? hub_table_stream_row_bytes(c)
                                : hub_npy_row_bytes(as, &c->variant, c->longest);
}

uint64_t hub_table_stream_row_read(const struct hub_table_stream *t)
{
    uint64_t bytes = 0;
    for (const struct hub_stream_column *c = t->columns; c < t->columns + t->count; c++)
        bytes = writer_of(t)->column ? HUB_MAX(bytes, padded_row(c)) : bytes + hub_table_stream_row_bytes(c);
    return bytes;
}

uint64_t hub_table_stream_row_written(const struct hub_table_stream *t)
{
    uint64_t bytes = hub_table_stream_row_read(t);
    if (writer_of(t)->column)
        return bytes;
    bytes = bytes * writer_of(t)->growth + (uint64_t)NAME_ROOM * 2;
    for (uint32_t i = 0; i < t->count; i++)
        bytes += strlen(t->columns[i].name) + NAME_ROOM;
    return bytes;
}

static uint64_t block_of(const struct hub_table_stream *t)
{
    return t->block ? t->block : hub_table_stream_fitting_rows(t->as, hub_table_stream_row_read(t));
}

uint64_t hub_table_stream_memory(const struct hub_table_stream *t)
{
    const uint64_t row = hub_table_stream_row_read(t);
    if (t->memory)
        return t->memory;
    return writer_of(t)->column ? 3 * HUB_MAX(COLUMN_BYTES, row) + 2 * MIB
                                : block_of(t) * (row + hub_table_stream_row_written(t));
}

bool hub_table_stream_is_longer(const struct hub_table_stream *t, uint64_t bytes)
{
    uint64_t row = 1;
    for (uint32_t i = 0; i < t->count; i++)
        row += hub_variant_row_bytes(&t->columns[i].variant);
    return t->rows > bytes * LITTLE_GROWTH / row; /* however few digits a number has */
}

enum hub_status hub_table_stream_length(const struct hub_table_stream *t, uint64_t *out,
                                        struct hub_error *err)
{
    *out = UINT64_MAX;
    return writer_of(t)->length ? writer_of(t)->length(t, out, err) : HUB_OK;
}

/* ---- reading ---- */

static enum hub_status open_part(struct hub_table_stream *t, struct hub_error *err)
{
    return t->part ? HUB_OK : hub_new(&t->part, t->count, sizeof *t->part, err);
}

static enum hub_status read_part(struct hub_table_stream *t, struct hub_stream_part *part,
                                 struct hub_error *err)
{
    part->of = t->part;
    t->read_rows = 0;
    return t->source->read(t, part, err);
}

enum hub_status hub_table_stream_read(struct hub_table_stream *t, uint32_t column, uint64_t most, void *into,
                                      struct hub_error *err)
{
    const uint64_t left = hub_table_stream_column_rows(t, column) - t->at;
    struct hub_stream_part part = {
        .first = column, .count = 1, .at = t->at, .rows = HUB_MIN(left, most), .into = into};
    if (t->read_rows && t->read_column == column && t->read_at == t->at && t->read_rows == part.rows)
        return HUB_OK;
    HUB_TRY(read_part(t, &part, err));
    t->read_column = column;
    t->read_at = t->at;
    t->read_rows = part.rows;
    return HUB_OK;
}

uint64_t hub_table_stream_block_rows(const struct hub_table_stream *t, uint32_t column)
{
    const struct hub_stream_column *c = &t->columns[column];
    const bool padded = hub_npy_array_of(c->type, &c->variant) != HUB_NPY_VALUES;
    const uint64_t fits = fitting(COLUMN_BYTES, padded ? HUB_MAX(padded_row(c), (uint64_t)GUESSED_BYTES)
                                                       : hub_table_stream_row_bytes(c));
    return t->whole ? UINT64_MAX : t->block ? HUB_MIN(fits, t->block) : fits;
}

enum hub_status hub_table_stream_measure(struct hub_table_stream *t, uint32_t column, struct hub_error *err)
{
    struct hub_stream_column *c = &t->columns[column];
    const enum hub_npy_array as = hub_npy_array_of(c->type, &c->variant);
    const uint64_t all = hub_table_stream_column_rows(t, column);
    if (c->measured || as == HUB_NPY_VALUES)
        return HUB_OK;
    HUB_TRY(open_part(t, err));
    for (t->at = 0; t->at < all; t->at += t->read_rows) {
        HUB_TRY(hub_table_stream_read(t, column, hub_table_stream_block_rows(t, column), NULL, err));
        c->longest = HUB_MAX(c->longest, hub_npy_longest(t->part, as == HUB_NPY_TEXT));
        const uint64_t row = hub_npy_row_bytes(as, &c->variant, c->longest);
        const uint64_t bytes = all > UINT64_MAX / HUB_MAX(row, (uint64_t)1) ? UINT64_MAX : all * row;
        if (t->source->pad)
            HUB_TRY(t->source->pad(t, column, bytes, err));
    }
    t->at = 0;
    c->measured = true;
    return HUB_OK;
}

/* ---- the stream ---- */

static enum hub_status more_rows(struct hub_table_stream *t, size_t enough, struct hub_buf *out,
                                 struct hub_error *err)
{
    const size_t from = out->size;
    while (t->at < t->rows && out->size - from < enough) {
        struct hub_stream_part part = {
            .count = t->count, .at = t->at, .rows = HUB_MIN(t->rows - t->at, block_of(t))};
        if (!t->one_by_one)
            HUB_TRY(read_part(t, &part, err));
        HUB_TRY(writer_of(t)->rows(t, t->part, part.rows, out, err));
        t->at += part.rows;
    }
    t->complete = t->at == t->rows;
    return HUB_OK;
}

static enum hub_status more_columns(struct hub_table_stream *t, size_t enough, struct hub_buf *out,
                                    struct hub_error *err)
{
    const size_t from = out->size;
    while (t->column < t->count && out->size - from < enough)
        HUB_TRY(writer_of(t)->column(t, out, err));
    t->complete = t->column == t->count;
    return HUB_OK;
}

void hub_table_stream_next_column(struct hub_table_stream *t)
{
    t->column++;
    t->at = 0;
    t->open = t->lengths = false;
}

enum hub_status hub_table_stream_more(struct hub_table_stream *t, size_t enough, struct hub_buf *out,
                                      struct hub_error *err)
{
    const struct hub_stream_writer *writer = writer_of(t);
    HUB_TRY(open_part(t, err));
    enum hub_status st = t->source->enter ? t->source->enter(t, err) : HUB_OK;
    if (!st && !t->begun && writer->begin)
        st = writer->begin(t, out, err);
    t->begun = true;
    if (!st)
        st = writer->column ? more_columns(t, enough, out, err) : more_rows(t, enough, out, err);
    t->ended = t->complete;
    if (!st && t->ended && writer->end)
        st = writer->end(t, out, err);
    if (t->source->leave)
        t->source->leave(t);
    return st;
}

enum hub_status hub_table_stream_write(struct hub_table_stream *t, struct hub_buf *out, struct hub_error *err)
{
    while (!t->ended)
        HUB_TRY(hub_table_stream_more(t, SIZE_MAX, out, err));
    return HUB_OK;
}

void hub_table_stream_rewind(struct hub_table_stream *t)
{
    hub_npz_writer_free(t->zip);
    hub_buf_dispose(&t->places);
    free(t->part);
    t->part = NULL;
    t->zip = NULL;
    t->column = 0;
    t->at = t->read_rows = t->written = 0;
    t->begun = t->open = t->lengths = t->complete = t->ended = false;
}

void hub_table_stream_dispose(struct hub_table_stream *t)
{
    hub_table_stream_rewind(t);
    if (t->source->dispose)
        t->source->dispose(t);
}

void hub_table_stream_free(struct hub_table_stream *t)
{
    if (t)
        hub_table_stream_dispose(t);
    free(t);
}

void hub_table_stream_freep(struct hub_table_stream **t)
{
    hub_table_stream_free(*t);
}
