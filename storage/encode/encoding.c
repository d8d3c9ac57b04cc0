/* The fields of one episode as a table that is read and written at once: see representation.h. */
#include "storage/encode/representation.h"

#include <stdlib.h>

struct encoding_table {
    struct hub_table_stream table; /* first */
    struct hub_encoding *encoding;
    struct hub_rows *rows; /* of each field; of arrays, which stand one after another, only of one */
};

static void dispose(struct hub_table_stream *table)
{
    struct encoding_table *t = (struct encoding_table *)table;
    for (uint32_t i = 0; t->rows && i < table->count; i++)
        hub_rows_dispose(&t->rows[i]);
    free(t->rows);
    free(table->columns);
}

/* All rows of all fields, or of one. */
static enum hub_status read_fields(struct hub_table_stream *table, struct hub_stream_part *part,
                                   struct hub_error *err)
{
    struct encoding_table *t = (struct encoding_table *)table;
    for (uint32_t i = 0; i < part->count; i++) {
        struct hub_rows *rows = &t->rows[i];
        hub_rows_dispose(rows);
        HUB_TRY(t->encoding->read(t->encoding, part->first + i, part->into, rows, err));
        part->of[i] = *rows;
    }
    return HUB_OK;
}

/* In a table of arrays, a padded one stands beside the rows it is made of. */
static enum hub_status may_pad(struct hub_table_stream *table, uint32_t column, uint64_t bytes,
                               struct hub_error *err)
{
    return hub_encode_reserve_padded(((struct encoding_table *)table)->encoding, column, bytes, 2, err);
}

static void table_dispose(struct encoding_table *t)
{
    hub_table_stream_dispose(&t->table);
}

enum hub_status hub_encoding_write_table(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    static const struct hub_stream_source source = {.read = read_fields, .pad = may_pad, .dispose = dispose};
    HUB_CLEANUP(table_dispose)
    struct encoding_table t = {.table = {.source = &source,
                                         .as = e->as,
                                         .count = e->count,
                                         .rows = e->fields[0].plan->slice.count,
                                         .block = UINT64_MAX,
                                         .whole = true,
                                         .nonfinite = e->nonfinite},
                               .encoding = e};
    HUB_TRY(hub_new(&t.table.columns, e->count, sizeof *t.table.columns, err));
    HUB_TRY(hub_new(&t.rows, e->count, sizeof *t.rows, err));
    uint64_t bytes = hub_representation_is_of_rows(e->as) ? 3 * hub_encoding_bytes(e) : 0; /* as digits */
    for (uint32_t i = 0; i < e->count; i++) {
        const struct hub_encoding_field *field = &e->fields[i];
        const bool values = hub_npy_array_of(field->type, field->plan->variant) == HUB_NPY_VALUES;
        bytes += values && !hub_representation_is_of_rows(e->as) ? field->plan->bytes_out : 0;
        t.table.columns[i] = (struct hub_stream_column){.name = field->name,
                                                        .type = field->type,
                                                        .variant = *field->plan->variant,
                                                        .bare = field->bare,
                                                        .apart = true,
                                                        .rows = field->plan->slice.count};
    }
    HUB_TRY(hub_buf_reserve(out, bytes, err));
    return hub_table_stream_write(&t.table, out, err);
}

/* ---- short tables of rows ---- */

#define SHORT_BYTES (256 * KIB)
enum { NAME_ROOM = 64 };

bool hub_encoding_is_short_table(const struct hub_encoding *e)
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

uint64_t hub_encoding_table_memory(const struct hub_encoding *e)
{
    uint64_t bytes =
        hub_encoding_bytes(e) * e->as->writer->table->growth + e->count * sizeof(struct hub_rows);
    for (uint32_t i = 0; i < e->count; i++)
        bytes += (strlen(e->fields[i].name) + NAME_ROOM) *
                 (e->fields[i].plan->slice.count + hub_variant_row_items(e->fields[i].plan->variant));
    return bytes;
}
