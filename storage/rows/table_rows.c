/* Rows as a table: see table_rows.h. */
#include "storage/rows/table_rows.h"

#include <stdlib.h>

#define PADDED_BYTES (1 * GIB) /* of one array of text or bytes */

static void dispose(struct hub_table_stream *table)
{
    struct hub_row_table *t = (struct hub_row_table *)table;
    hub_row_reader_dispose(&t->reading);
    free(t->names);
}

/* Where the rows of each episode end: the last column of arrays. */
static void read_ends(const struct hub_row_table *t, const struct hub_stream_part *part)
{
    *part->of = (struct hub_rows){.variant = t->columns[part->first].variant,
                                  .rows = part->rows,
                                  .data = (uint8_t *)(t->reading.ends + part->at)};
}

static enum hub_status read_rows(struct hub_table_stream *table, struct hub_stream_part *part,
                                 struct hub_error *err)
{
    struct hub_row_table *t = (struct hub_row_table *)table;
    struct hub_row_reader *r = &t->reading;
    const bool one = part->count == 1;
    const uint32_t first = one ? t->of[part->first] : 0;
    uint64_t got = 0;
    if (first == HUB_NONE) {
        read_ends(t, part);
        return HUB_OK;
    }
    if (part->into)
        hub_row_reader_into(r, first, part->into,
                            (size_t)(part->rows * hub_variant_row_bytes(&r->as[first].variant)) + 1);
    const enum hub_status st =
        hub_row_reader_rows(r, first, one ? 1 : r->column_count, part->at, part->rows, &got, err);
    for (uint32_t i = 0; i < part->count && !st; i++)
        part->of[i] = r->rows[t->of[part->first + i]];
    if (part->into)
        hub_row_reader_into(r, first, NULL, 0);
    part->rows = got;
    return st;
}

static enum hub_status may_pad(struct hub_table_stream *table, uint32_t column, uint64_t bytes,
                               struct hub_error *err)
{
    if (bytes <= PADDED_BYTES)
        return HUB_OK;
    return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                       "'%s' with its rows padded to the longest is more than %zu MiB: use format=arrow, "
                       "fewer episodes or other fields",
                       table->columns[column].name, (size_t)(PADDED_BYTES / MIB));
}

enum hub_status hub_row_table_new(const struct hub_rows_context *context, const struct hub_representation *as,
                                  struct hub_row_table **out, struct hub_error *err)
{
    static const struct hub_stream_source source = {.read = read_rows, .pad = may_pad, .dispose = dispose};
    HUB_TRY(hub_new(out, 1, sizeof **out, err));
    (*out)->table.source = &source;
    (*out)->table.as = as;
    (*out)->table.columns = (*out)->columns;
    (*out)->reading.context = *context;
    return HUB_OK;
}

enum hub_status hub_row_table_measure(struct hub_row_table *t, uint32_t column, struct hub_error *err)
{
    struct hub_stream_column *as = &t->reading.as[column];
    if (t->table.as->writer->table->cells != HUB_CELLS_ARRAY)
        return HUB_OK;
    t->table.count = 1;
    t->table.rows = hub_row_reader_count(&t->reading);
    t->columns[0] = *as;
    t->of[0] = column;
    const enum hub_status st = hub_table_stream_measure(&t->table, 0, err);
    hub_table_stream_rewind(&t->table);
    *as = t->columns[0];
    return st;
}

void hub_row_table_set_columns(struct hub_row_table *t)
{
    static const struct hub_stream_column ends = {
        .name = "ends",
        .type = HUB_FIELD_NUMBER,
        .variant = {.kind = HUB_KIND_INT, .item_size = 8}, /* the host is little-endian */
        .apart = true};
    const struct hub_row_reader *r = &t->reading;
    struct hub_table_stream *table = &t->table;
    table->count = 0;
    table->rows = hub_row_reader_count(r);
    for (uint32_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].hidden)
            continue;
        t->columns[table->count] = r->as[c];
        t->of[table->count++] = c;
    }
    if (hub_representation_is_of_rows(table->as)) { /* those that are hidden are read with the others */
        table->block =
            hub_table_stream_fitting_rows(table->as, hub_row_reader_row_bytes(r, 0, r->column_count));
        return;
    }
    t->columns[table->count] = ends;
    t->columns[table->count].rows = r->count;
    t->of[table->count++] = HUB_NONE;
}
