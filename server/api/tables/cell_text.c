/* A cell of a table as JSON and as text: see value_table.h. */
#include "server/api/tables/value_table.h"

#include <inttypes.h>
#include <math.h>

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

enum hub_status hub_value_table_put(struct hub_value_table *cells, unsigned number, uint32_t row,
                                    struct hub_json *json, struct hub_error *err)
{
    const struct hub_value_table_column *column = &cells->columns[number];
    struct hub_values values;
    HUB_TRY(cells->get(cells, row, number, &values, err));
    if (column->several) {
        hub_json_array(json);
        for (size_t i = 0; i < values.count; i++)
            put_value(json, column, &values.first[i]);
        hub_json_end_array(json);
    } else if (values.count) {
        put_value(json, column, values.first);
    } else {
        hub_json_null(json);
    }
    return hub_json_status(json);
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

enum hub_status hub_value_table_text(const struct hub_value_table_column *column,
                                     const struct hub_values *values, struct hub_buf *out,
                                     struct hub_error *err)
{
    const size_t shown = column->several ? values->count : HUB_MIN(values->count, (size_t)1);
    for (size_t i = 0; i < shown; i++) {
        HUB_TRY(hub_buf_add_text(out, i ? ";" : "", err));
        HUB_TRY(add_text(column, &values->first[i], out, err));
    }
    return HUB_OK;
}
