/* Files of columns: see table.h. */
#include "storage/formats/table/table.h"

static enum hub_status begin(struct hub_files *files, uint32_t number, struct hub_table *out,
                             struct hub_error *err)
{
    *out = (struct hub_table){.rows = 0};
    hub_byte_source_file(&out->source, files, number);
    hub_parquet_decoder_init(&out->decoder, &out->source);
    return hub_byte_source_usable(&out->source, err);
}

static enum hub_status open_parquet(struct hub_table *t, struct hub_error *err)
{
    t->is_parquet = true;
    HUB_TRY(hub_parquet_open(&t->source, &t->parquet, err));
    t->rows = t->parquet.rows;
    t->count = t->parquet.leaf_count;
    return HUB_OK;
}

enum hub_status hub_table_open(struct hub_files *files, uint32_t number, struct hub_table *out,
                               struct hub_error *err)
{
    const uint8_t *at;
    size_t got;
    HUB_TRY(begin(files, number, out, err));
    HUB_TRY(hub_byte_source_peek(&out->source, 0, 4, &at, &got, err));
    if (got != 4 || memcmp(at, "PAR", 3) != 0) { /* "PAR1"; "PARE": encrypted */
        HUB_TRY(hub_arrow_add(&out->arrow, &out->source, err));
        out->rows = out->arrow.rows;
        out->count = out->arrow.column_count;
        return HUB_OK;
    }
    HUB_TRY(open_parquet(out, err));
    const struct hub_buf *schema = &out->parquet.arrow_schema;
    if (schema->size && /* it only adds; what is wrong with it hides nothing */
        hub_arrow_schema_message(&out->arrow, schema->data, schema->size, NULL))
        hub_arrow_dispose(&out->arrow);
    return HUB_OK;
}

enum hub_status hub_table_open_parquet(struct hub_files *files, uint32_t number, struct hub_table *out,
                                       struct hub_error *err)
{
    HUB_TRY(begin(files, number, out, err));
    return open_parquet(out, err);
}

void hub_table_dispose(struct hub_table *table)
{
    hub_arrow_dispose(&table->arrow);
    hub_parquet_dispose(&table->parquet);
    hub_parquet_decoder_dispose(&table->decoder);
}

uint64_t hub_table_narrow(struct hub_table *t, const struct hub_parquet *whole, uint32_t first,
                          uint32_t count)
{
    uint64_t row = 0;
    t->parquet = *whole;
    t->parquet.rows = 0;
    for (uint32_t g = 0; g < first; g++)
        row += whole->group_rows[g];
    for (uint32_t g = first; g < first + count; g++)
        t->parquet.rows += whole->group_rows[g];
    t->parquet.group_rows += first;
    t->parquet.chunks += (size_t)first * whole->leaf_count;
    t->parquet.group_count = count;
    t->rows = t->parquet.rows;
    return row;
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

bool hub_table_is_list(const struct hub_table *t, uint32_t index)
{
    return t->is_parquet ? t->parquet.leaves[index].max_rep > 0 : hub_arrow_is_list(&t->arrow, index);
}

static void take_parquet(struct hub_table_column *out, uint64_t rows)
{
    out->rows = rows;
    out->nulls = out->parquet.shape.nulls;
    out->type = out->parquet.type;
    out->variant = out->parquet.variant;
}

static enum hub_status describe_arrow(struct hub_table *t, struct hub_table_column *out,
                                      struct hub_error *err)
{
    out->arrow.column = out->index;
    HUB_TRY(hub_arrow_describe(&t->arrow, &out->arrow, err));
    out->rows = out->arrow.rows;
    out->nulls = out->arrow.nulls;
    out->type = out->arrow.type;
    out->variant = out->arrow.variant;
    return HUB_OK;
}

enum hub_status hub_table_read(struct hub_table *t, uint32_t index, uint64_t limit,
                               struct hub_table_column *out, struct hub_error *err)
{
    *out = (struct hub_table_column){.index = index, .arrow.limit = limit};
    if (!t->is_parquet)
        return describe_arrow(t, out, err);
    HUB_TRY(hub_parquet_column_read(&t->parquet, index, &t->decoder, &out->parquet, err));
    take_parquet(out, t->rows);
    out->unshaped = t->parquet.leaves[index].max_rep && !out->parquet.shape.known[0];
    return out->unshaped ? hub_fail(err, HUB_UNSUPPORTED, "it has no rows, so that its shape is unknown")
                         : HUB_OK;
}

enum hub_status hub_table_items_read(struct hub_table *t, uint32_t index, uint64_t *offsets,
                                     struct hub_table_column *out, struct hub_error *err)
{
    if (!hub_table_is_list(t, index)) {
        for (uint64_t i = 0; i <= t->rows; i++)
            offsets[i] = i;
        return hub_table_read(t, index, UINT64_MAX, out, err);
    }
    *out = (struct hub_table_column){.index = index, .arrow = {.inner = true, .limit = UINT64_MAX}};
    if (!t->is_parquet) {
        HUB_TRY(hub_arrow_offsets(&t->arrow, index, offsets, err));
        return describe_arrow(t, out, err);
    }
    HUB_TRY(hub_parquet_items_read(&t->parquet, index, &t->decoder, offsets, &out->parquet, err));
    take_parquet(out, offsets[t->rows]);
    return HUB_OK;
}

void hub_table_column_dispose(struct hub_table_column *column)
{
    hub_parquet_column_dispose(&column->parquet);
}

enum hub_status hub_table_lay_out(struct hub_table *t, struct hub_table_column *column,
                                  struct hub_files *files, struct hub_layout_builder *builder,
                                  uint32_t *array, struct hub_error *err)
{
    HUB_TRY(hub_layout_array_of(builder, &column->variant, array, err));
    if (t->is_parquet)
        return hub_parquet_column_lay_out(&column->parquet, &t->parquet, t->source.number, builder, err);
    column->arrow.variant = column->variant;
    return hub_arrow_lay_out(&t->arrow, &column->arrow, files, builder, err);
}

static enum hub_status read_numbers(struct hub_table *t, const struct hub_table_column *column, double *out,
                                    struct hub_error *err)
{
    if (!t->is_parquet)
        return hub_arrow_numbers(&t->arrow, &column->arrow, out, err);
    const struct hub_parquet_leaf *leaf = &t->parquet.leaves[column->index];
    if (leaf->max_rep && !column->parquet.items)
        return hub_fail(err, HUB_UNSUPPORTED, "not a column of plain numbers");
    return hub_parquet_column_numbers(&column->parquet, leaf, &t->decoder, column->rows, out, err);
}

enum hub_status hub_table_numbers(struct hub_table *t, const char *path, uint64_t *offsets, uint64_t most,
                                  double **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column column = {.index = hub_table_find(t, path)};
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    struct hub_error why = {0};
    *out = NULL;
    if (column.index == HUB_NONE)
        return HUB_OK;
    enum hub_status st = offsets ? hub_table_items_read(t, column.index, offsets, &column, &why)
                                 : hub_table_read(t, column.index, UINT64_MAX, &column, &why);
    if (!st && column.rows > most)
        return HUB_OK;
    if (!st)
        st = hub_new(&numbers, (size_t)column.rows + 1, sizeof *numbers, &why);
    if (!st)
        st = read_numbers(t, &column, numbers, &why);
    if (st)
        return hub_is_local(st) ? HUB_OK : hub_pass(st, &why, err);
    *out = numbers;
    numbers = NULL;
    return HUB_OK;
}
