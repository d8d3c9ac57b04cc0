/* Files of columns: see table.h. */
#include "storage/formats/table/table.h"

static enum hub_status open_table(struct hub_table *t, struct hub_error *err)
{
    const uint8_t *at;
    size_t got;
    HUB_TRY(hub_byte_source_usable(&t->source, err));
    HUB_TRY(hub_byte_source_peek(&t->source, 0, 4, &at, &got, err));
    t->is_parquet = got == 4 && memcmp(at, "PAR", 3) == 0; /* "PAR1"; "PARE": encrypted */
    if (!t->is_parquet) {
        HUB_TRY(hub_arrow_add(&t->arrow, &t->source, err));
        t->rows = t->arrow.rows;
        t->count = t->arrow.column_count;
        return HUB_OK;
    }
    HUB_TRY(hub_parquet_open(&t->source, &t->parquet, err));
    if (t->parquet.arrow_schema.size && /* it only adds; what is wrong with it hides nothing */
        hub_arrow_schema_message(&t->arrow, t->parquet.arrow_schema.data, t->parquet.arrow_schema.size, NULL))
        hub_arrow_dispose(&t->arrow);
    t->rows = t->parquet.rows;
    t->count = t->parquet.leaf_count;
    return HUB_OK;
}

enum hub_status hub_table_open(struct hub_files *files, uint32_t number, struct hub_table *out,
                               struct hub_error *err)
{
    *out = (struct hub_table){.rows = 0};
    hub_byte_source_file(&out->source, files, number);
    hub_parquet_decoder_init(&out->decoder, &out->source);
    const enum hub_status st = open_table(out, err);
    if (st)
        hub_table_dispose(out);
    return st;
}

void hub_table_dispose(struct hub_table *table)
{
    hub_arrow_dispose(&table->arrow);
    hub_parquet_dispose(&table->parquet);
    hub_parquet_decoder_dispose(&table->decoder);
}

const char *hub_table_path(const struct hub_table *t, uint32_t index)
{
    if (!t->is_parquet)
        return t->arrow.columns[index].path;
    return t->parquet.leaves[index].part ? NULL : t->parquet.leaves[index].path;
}

uint32_t hub_table_find(const struct hub_table *t, const char *path)
{
    return t->is_parquet ? hub_parquet_find(&t->parquet, path) : hub_arrow_find(&t->arrow, path);
}

/* It stands at the list, whose items are the leaf. */
const char *hub_table_shape(const struct hub_table *t, uint32_t index)
{
    const uint32_t column = t->is_parquet ? hub_arrow_find(&t->arrow, t->parquet.leaves[index].path) : index;
    uint32_t at = column == HUB_NONE ? HUB_NONE : t->arrow.columns[column].leaf;
    while (at != HUB_NONE && !t->arrow.fields[at].shape)
        at = t->arrow.fields[at].parent;
    return at == HUB_NONE ? NULL : t->arrow.fields[at].shape;
}

enum hub_status hub_table_read(struct hub_table *t, uint32_t index, uint64_t limit,
                               struct hub_table_column *out, struct hub_error *err)
{
    *out = (struct hub_table_column){.index = index};
    if (t->is_parquet) {
        HUB_TRY(hub_parquet_column_read(&t->parquet, index, &t->decoder, &out->parquet, err));
        if (t->parquet.leaves[index].max_rep && !out->parquet.shape.known[0])
            return hub_fail(err, HUB_UNSUPPORTED, "it has no rows, so that its shape is unknown");
        out->rows = t->rows;
        out->nulls = out->parquet.shape.nulls;
        out->type = out->parquet.type;
        out->variant = out->parquet.variant;
        return HUB_OK;
    }
    out->arrow = (struct hub_arrow_rows){.column = index, .limit = limit};
    HUB_TRY(hub_arrow_describe(&t->arrow, &out->arrow, err));
    out->rows = out->arrow.rows;
    out->nulls = out->arrow.nulls;
    out->type = out->arrow.type;
    out->variant = out->arrow.variant;
    return HUB_OK;
}

void hub_table_column_dispose(struct hub_table_column *column)
{
    hub_parquet_column_dispose(&column->parquet);
}

enum hub_status hub_table_place(struct hub_table *t, struct hub_table_column *column, struct hub_files *files,
                                struct hub_layout_builder *builder, uint32_t *array, struct hub_error *err)
{
    HUB_TRY(hub_layout_array_of(builder, &column->variant, array, err));
    if (t->is_parquet)
        return hub_parquet_column_place(&column->parquet, &t->parquet, t->source.number, builder, err);
    column->arrow.variant = column->variant;
    return hub_arrow_place(&t->arrow, &column->arrow, files, builder, err);
}

static enum hub_status parquet_numbers(struct hub_table *t, struct hub_table_column *column, double *out,
                                       struct hub_error *err)
{
    for (uint32_t g = 0; g < t->parquet.group_count; g++) {
        if (t->parquet.group_rows[g] == 0)
            continue;
        HUB_TRY(hub_parquet_numbers(&t->decoder, &t->parquet.leaves[column->index],
                                    &column->parquet.groups[g], NULL, out, err));
        out += t->parquet.group_rows[g];
    }
    return HUB_OK;
}

enum hub_status hub_table_numbers(struct hub_table *t, const char *path, double *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column column = {.index = hub_table_find(t, path)};
    if (column.index == HUB_NONE)
        return hub_fail(err, HUB_NOT_FOUND, "no column %s", path);
    HUB_TRY(hub_table_read(t, column.index, UINT64_MAX, &column, err));
    return t->is_parquet ? parquet_numbers(t, &column, out, err)
                         : hub_arrow_numbers(&t->arrow, &column.arrow, out, err);
}
