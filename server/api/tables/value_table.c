/* Tables of values: see value_table.h. */
#include "server/api/tables/value_table.h"

#include "server/api/negotiate.h"
#include "server/api/tables/table_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LIGHT_CELLS = 20000, CELL_BYTES = 32, BLOCK_ROWS = 4096 };

void hub_value_table_free(struct hub_value_table *cells)
{
    if (!cells)
        return;
    if (cells->table.source) {
        hub_table_stream_free(&cells->table);
        return;
    }
    cells->dispose(cells);
    for (unsigned i = 0; i < cells->column_count; i++)
        free(cells->columns[i].name);
    free(cells);
}

static void dispose(struct hub_table_stream *table)
{
    struct hub_value_table *t = (struct hub_value_table *)table;
    for (unsigned i = 0; i < t->column_count; i++) {
        hub_buf_dispose(&t->blocks[i].data);
        hub_buf_dispose(&t->blocks[i].offsets);
        hub_buf_dispose(&t->blocks[i].valid);
        free(t->columns[i].name);
    }
    hub_buf_dispose(&t->head);
    t->dispose(t);
}

/* ---- cells ---- */

static void put_value(struct hub_json *json, const struct hub_value_table_column *column,
                      const struct hub_value *value)
{
    if (value->kind == HUB_VALUE_TEXT)
        hub_json_string(json, value->text);
    else if (column->type == HUB_VALUE_TABLE_TRUTH)
        hub_json_bool(json, value->number);
    else if (value->kind == HUB_VALUE_REAL)
        hub_json_double(json, value->real);
    else if (value->kind == HUB_VALUE_UINT)
        hub_json_safe_uint(json, value->large);
    else
        hub_json_safe_int(json, value->number);
}

enum hub_status hub_value_json_of(const struct hub_value_table_column *column,
                                  const struct hub_values *values, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    if (column->several) {
        hub_json_array(&json);
        for (size_t i = 0; i < values->count; i++)
            put_value(&json, column, &values->first[i]);
        hub_json_end_array(&json);
    } else if (values->count) {
        put_value(&json, column, values->first);
    } else {
        hub_json_null(&json);
    }
    return hub_json_status(&json);
}

static enum hub_status add_text(const struct hub_value_table_column *column, const struct hub_value *value,
                                struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    switch (column->type == HUB_VALUE_TABLE_TRUTH ? HUB_VALUE_REAL : value->kind) {
    case HUB_VALUE_TEXT:
        return hub_buf_add_view(out, value->text, err);
    case HUB_VALUE_INT: /* with all its digits, as no reader of csv has another way */
        return hub_buf_addf(out, err, "%" PRId64, value->number);
    case HUB_VALUE_UINT:
        return hub_buf_addf(out, err, "%" PRIu64, value->large);
    /* what is no JSON number as in the csv of rows, without quotes: tables read a number */
    case HUB_VALUE_REAL:
        if (column->type == HUB_VALUE_TABLE_TRUTH || isfinite(value->real))
            break;
        return hub_buf_add_text(out, isnan(value->real) ? "NaN" : value->real > 0 ? "inf" : "-inf", err);
    }
    put_value(&json, column, value);
    return hub_json_status(&json);
}

enum hub_status hub_value_text_of(const struct hub_value_table_column *column,
                                  const struct hub_values *values, struct hub_buf *out, struct hub_error *err)
{
    const size_t shown = column->several ? values->count : HUB_MIN(values->count, (size_t)1);
    for (size_t i = 0; i < shown; i++) {
        HUB_TRY(hub_buf_add_text(out, i ? ";" : "", err));
        HUB_TRY(add_text(column, &values->first[i], out, err));
    }
    return HUB_OK;
}

/* ---- blocks ---- */

static enum hub_stream_cells cells_of(const struct hub_value_table *t)
{
    return t->as->writer->table->cells;
}

static bool are_typed(const struct hub_value_table *t)
{
    return cells_of(t) == HUB_CELLS_TYPED || cells_of(t) == HUB_CELLS_ARRAY;
}

static bool is_text(const struct hub_value_table *t, unsigned number)
{
    return !are_typed(t) || t->columns[number].type == HUB_VALUE_TABLE_TEXT;
}

static double real_of(const struct hub_value *value)
{
    double real;
    if (hub_value_is_word(value, &real))
        return real;
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

static enum hub_status add_number(enum hub_value_table_type type, const struct hub_values *values,
                                  struct hub_buf *out, struct hub_error *err)
{
    const double real = type != HUB_VALUE_TABLE_REAL ? 0 : values->count ? real_of(values->first) : NAN;
    const int64_t number = values->count ? values->first->number : 0; /* or `large`, in the same place */
    const uint8_t truth = number != 0;
    return type == HUB_VALUE_TABLE_REAL    ? hub_buf_add(out, &real, sizeof real, err)
           : type == HUB_VALUE_TABLE_TRUTH ? hub_buf_add(out, &truth, 1, err)
                                           : hub_buf_add(out, &number, sizeof number, err);
}

/* The cell behind those of its block; `at`: among them. */
static enum hub_status add_cell(struct hub_value_table *t, unsigned number, uint32_t row, uint64_t at,
                                struct hub_error *err)
{
    const struct hub_value_table_column *column = &t->columns[number];
    const enum hub_stream_cells cells = cells_of(t);
    struct hub_value_block *b = &t->blocks[number];
    struct hub_values values;
    HUB_TRY(t->get(t, row, number, &values, err));
    b->valid.data[at] = values.count || column->several || cells == HUB_CELLS_JSON;
    if (are_typed(t))
        HUB_TRY(hub_value_table_check(t, column, &values, err));
    if (!is_text(t, number))
        return add_number(column->type, &values, &b->data, err);
    HUB_TRY(cells == HUB_CELLS_JSON ? hub_value_json_of(column, &values, &b->data, err)
                                    : hub_value_text_of(column, &values, &b->data, err));
    ((uint64_t *)b->offsets.data)[at + 1] = b->data.size;
    return HUB_OK;
}

static enum hub_status clear(struct hub_value_block *b, uint64_t rows, struct hub_error *err)
{
    b->data.limit = b->offsets.limit = b->valid.limit = HUB_BODY_STREAM_LIMIT;
    b->data.size = 0;
    HUB_TRY(hub_buf_reserve(&b->valid, rows, err));
    HUB_TRY(hub_buf_reserve(&b->offsets, (rows + 1) * sizeof(uint64_t), err));
    *(uint64_t *)b->offsets.data = 0;
    return HUB_OK;
}

static struct hub_rows rows_of(const struct hub_value_table *t, unsigned number, uint64_t rows)
{
    const struct hub_value_block *b = &t->blocks[number];
    return (struct hub_rows){.variant = t->table_columns[number].variant,
                             .rows = rows,
                             .data = (uint8_t *)b->data.data,
                             .offsets = is_text(t, number) ? (uint64_t *)b->offsets.data : NULL,
                             .valid = (uint8_t *)b->valid.data};
}

/* So many rows of some columns, or fewer where their texts are long. */
static enum hub_status read_values(struct hub_table_stream *table, struct hub_stream_part *part,
                                   struct hub_error *err)
{
    struct hub_value_table *t = (struct hub_value_table *)table;
    const uint32_t end = part->first + part->count;
    uint64_t rows = 0;
    size_t text_bytes = 0;
    for (uint32_t i = part->first; i < end; i++)
        HUB_TRY(clear(&t->blocks[i], part->rows, err));
    for (; rows < part->rows && text_bytes < HUB_BODY_STREAM_BLOCK; rows++)
        for (uint32_t i = part->first; i < end; i++) {
            const size_t before = t->blocks[i].data.size;
            HUB_TRY(add_cell(t, i, (uint32_t)(part->at + rows), rows, err));
            text_bytes += is_text(t, i) ? t->blocks[i].data.size - before : 0;
        }
    for (uint32_t i = part->first; i < end; i++)
        part->of[i - part->first] = rows_of(t, i, rows);
    part->rows = rows;
    return HUB_OK;
}

static enum hub_status enter(struct hub_table_stream *table, struct hub_error *err)
{
    struct hub_value_table *t = (struct hub_value_table *)table;
    return t->begin ? t->begin(t, err) : HUB_OK;
}

static void leave(struct hub_table_stream *table)
{
    struct hub_value_table *t = (struct hub_value_table *)table;
    if (t->end)
        t->end(t);
}

/* ---- the request ---- */

enum hub_status hub_value_table_read_form(const struct hub_request *request, bool filter,
                                          struct hub_value_table *cells, struct hub_error *err)
{
    const struct hub_offer offer = {.list = HUB_LIST_OF_VALUES, .filter = filter};
    return hub_negotiate(request, &offer, &cells->as, err);
}

enum hub_status hub_value_table_check_names(const struct hub_request *request,
                                            const struct hub_value_table *cells, struct hub_error *err)
{
    for (unsigned i = 1; i < cells->column_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (strcmp(cells->columns[k].name, cells->columns[i].name) == 0)
                return hub_request_wrong(request, "columns", err,
                                         "two columns would be named '%.200s': name each once",
                                         cells->columns[i].name);
    return HUB_OK;
}

uint32_t hub_value_table_limit(const struct hub_request *request)
{
    int64_t value = UINT32_MAX;
    (void)hub_request_int(request, "limit", &value);
    return (uint32_t)HUB_MIN(value, (int64_t)UINT32_MAX);
}

/* ---- the answer ---- */

static enum hub_status set_head(struct hub_value_table *t, struct hub_error *err)
{
    t->head = HUB_BUF_INIT(4 * KIB);
    struct hub_json json = hub_json_to(&t->head, err);
    hub_json_put_text(&json, "revision", t->revision);
    hub_json_put_uint(&json, "total", t->rows);
    if (t->measured[1]) {
        hub_json_put_array(&json, "measured");
        hub_json_uint(&json, t->measured[0]);
        hub_json_uint(&json, t->measured[1]);
        hub_json_end_array(&json);
    }
    t->table.head = t->head.data;
    return hub_json_status(&json);
}

static struct hub_stream_column column_of(const struct hub_value_table *t, unsigned number)
{
    const struct hub_value_table_column *c = &t->columns[number];
    struct hub_stream_column column = {.name = c->name,
                                       .type = HUB_FIELD_TEXT,
                                       .variant = {.kind = HUB_KIND_VAR},
                                       .verbatim = cells_of(t) == HUB_CELLS_JSON,
                                       .measured = true,
                                       .longest = c->longest};
    if (is_text(t, number))
        return column;
    const bool truth = c->type == HUB_VALUE_TABLE_TRUTH;
    column.type = truth ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER;
    column.variant.item_size = truth ? 1 : 8;
    column.variant.kind = truth                             ? HUB_KIND_BOOL
                          : c->type == HUB_VALUE_TABLE_INT  ? HUB_KIND_INT
                          : c->type == HUB_VALUE_TABLE_UINT ? HUB_KIND_UINT
                                                            : HUB_KIND_FLOAT;
    return column;
}

static void set_table(struct hub_value_table *t)
{
    static const struct hub_stream_source source = {
        .read = read_values, .enter = enter, .leave = leave, .dispose = dispose};
    t->table.source = &source;
    t->table.as = t->as;
    t->table.columns = t->table_columns;
    t->table.count = t->column_count;
    t->table.rows = t->rows;
    t->table.block = BLOCK_ROWS;
    t->table.memory = t->column_count * BLOCK_ROWS * (uint64_t)CELL_BYTES + 2 * MIB;
    for (unsigned i = 0; i < t->column_count; i++)
        t->table_columns[i] = column_of(t, i);
}

static enum hub_status look(struct hub_value_table *t, struct hub_error *err)
{
    enum hub_status st = t->begin ? t->begin(t, err) : HUB_OK;
    st = st ? st : hub_value_table_look(t, err);
    if (t->end)
        t->end(t);
    return st;
}

enum hub_status hub_value_table_answer(struct hub_request *request, struct hub_response *response,
                                       const char *etag, struct hub_value_table **cells,
                                       struct hub_error *err)
{
    struct hub_value_table *t = *cells;
    uint64_t nulls = 0;
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    if (are_typed(t) && (uint64_t)t->rows * t->column_count > LIGHT_CELLS && !request->heavy)
        return hub_await_heavy(request);
    if (are_typed(t))
        HUB_TRY(look(t, err));
    for (unsigned i = 0; i < t->column_count; i++)
        nulls += t->columns[i].nulls;
    if (nulls)
        HUB_TRY(hub_response_header(response, err, "X-Null-Count", "%" PRIu64, nulls));
    HUB_TRY(set_head(t, err));
    set_table(t);
    struct hub_table_stream *table = &t->table;
    const enum hub_status st = hub_table_answer(request, response, etag, &table, err);
    *cells = table ? t : NULL;
    return st;
}
