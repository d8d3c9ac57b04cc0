/* What the values of a column are where they have to be of one type: see value_table.h. */
#include "server/api/tables/value_table.h"

#include <math.h>

#define TEXT_BYTES (1 * GIB) /* of one padded array */

struct value_kinds {
    bool ints, negative, large, reals, texts, wide; /* wide: some are no doubles */
    bool words;                                     /* NaN and infinities */
};

bool hub_value_is_word(const struct hub_value *value, double *out)
{
    static const struct {
        const char *word;
        double real;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; value->kind == HUB_VALUE_TEXT && i < HUB_COUNT(words); i++)
        if (hub_view_is(value->text, words[i].word)) {
            *out = words[i].real;
            return true;
        }
    return false;
}

static uint64_t characters(struct hub_view text)
{
    uint64_t offsets[] = {0, text.size};
    const struct hub_rows one = {
        .variant = {.kind = HUB_KIND_VAR}, .rows = 1, .data = (uint8_t *)text.data, .offsets = offsets};
    return text.size ? hub_npy_longest(&one, true) : 0;
}

static void see(struct value_kinds *seen, const struct hub_value *value)
{
    const int64_t most = INT64_C(1) << 53;
    double real;
    const bool word = hub_value_is_word(value, &real);
    seen->words |= word;
    seen->texts |= value->kind == HUB_VALUE_TEXT && !word;
    seen->reals |= value->kind == HUB_VALUE_REAL;
    seen->large |= value->kind == HUB_VALUE_UINT;
    seen->ints |= value->kind == HUB_VALUE_INT;
    seen->negative |= value->kind == HUB_VALUE_INT && value->number < 0;
    seen->wide |= value->kind == HUB_VALUE_UINT ||
                  (value->kind == HUB_VALUE_INT && (value->number > most || value->number < -most));
}

static enum hub_value_table_type type_of(const struct hub_value_table_column *column,
                                         const struct value_kinds *seen)
{
    if (column->type == HUB_VALUE_TABLE_TRUTH || column->type == HUB_VALUE_TABLE_TEXT || column->several)
        return column->type == HUB_VALUE_TABLE_TRUTH ? HUB_VALUE_TABLE_TRUTH : HUB_VALUE_TABLE_TEXT;
    const bool numbers = seen->ints || seen->large || seen->reals;
    if (seen->texts || (seen->words && (!numbers || seen->wide)) ||
        (seen->large && seen->negative && !seen->reals))
        return HUB_VALUE_TABLE_TEXT;
    if (seen->reals || seen->words || column->type == HUB_VALUE_TABLE_REAL)
        return HUB_VALUE_TABLE_REAL;
    if (seen->large)
        return HUB_VALUE_TABLE_UINT;
    return seen->ints || column->type == HUB_VALUE_TABLE_INT ? HUB_VALUE_TABLE_INT : HUB_VALUE_TABLE_REAL;
}

static bool is_array(const struct hub_value_table *t)
{
    return t->as->writer->table->cells == HUB_CELLS_ARRAY;
}

/* An array has no null among its integers: with one they are doubles. */
static enum hub_status fit_array(const struct hub_value_table *t, struct hub_value_table_column *column,
                                 const struct value_kinds *seen, struct hub_error *err)
{
    if (column->type == HUB_VALUE_TABLE_TEXT && t->rows &&
        (column->longest > HUB_BODY_STREAM_LIMIT / 16 || column->longest > TEXT_BYTES / 4 / t->rows))
        return hub_fail_about(
            err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "columns", column->name,
            "the texts of '%s' padded to the longest take too much memory: use format=arrow", column->name);
    if (!column->nulls || column->type == HUB_VALUE_TABLE_TEXT)
        return HUB_OK;
    if (seen->wide)
        return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "columns", column->name,
                              "'%s' has integers beyond 2^53 and rows without a value, which an array "
                              "cannot hold: use format=arrow",
                              column->name);
    column->type = HUB_VALUE_TABLE_REAL;
    return HUB_OK;
}

static enum hub_status measure(struct hub_value_table_column *column, const struct hub_values *values,
                               struct hub_buf *text, struct hub_error *err)
{
    text->size = 0;
    HUB_TRY(hub_value_text_of(column, values, text, err));
    column->longest = HUB_MAX(column->longest, characters(hub_buf_view(text)));
    return HUB_OK;
}

/* All cells of a column. `numbers`: measure those that are not text as well. */
static enum hub_status look(struct hub_value_table *t, unsigned number, bool numbers,
                            struct value_kinds *seen, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * MIB);
    struct hub_value_table_column *column = &t->columns[number];
    column->nulls = 0;
    for (uint32_t row = 0; row < t->rows; row++) {
        struct hub_values values;
        HUB_TRY(t->get(t, row, number, &values, err));
        column->nulls += !values.count && !column->several;
        for (size_t i = 0; i < values.count; i++)
            see(seen, &values.first[i]);
        if (is_array(t) && values.count && (numbers || values.first->kind == HUB_VALUE_TEXT))
            HUB_TRY(measure(column, &values, &text, err));
    }
    return HUB_OK;
}

static enum hub_status look_at(struct hub_value_table *t, unsigned number, struct hub_error *err)
{
    struct hub_value_table_column *column = &t->columns[number];
    struct value_kinds seen = {0};
    HUB_TRY(look(t, number, column->several, &seen, err));
    column->type = type_of(column, &seen);
    if (is_array(t) && column->type == HUB_VALUE_TABLE_TEXT && (seen.ints || seen.large || seen.reals))
        HUB_TRY(look(t, number, true, &seen, err));
    if (is_array(t))
        return fit_array(t, column, &seen, err);
    column->nulls = 0; /* the table says it */
    return HUB_OK;
}

enum hub_status hub_value_table_look(struct hub_value_table *t, struct hub_error *err)
{
    for (unsigned i = 0; i < t->column_count; i++)
        HUB_TRY(look_at(t, i, err));
    return HUB_OK;
}

enum hub_status hub_value_table_check(const struct hub_value_table *t,
                                      const struct hub_value_table_column *column,
                                      const struct hub_values *values, struct hub_error *err)
{
    const struct hub_value *value = values->first;
    bool fits = column->type == HUB_VALUE_TABLE_TEXT || column->type == HUB_VALUE_TABLE_REAL || !is_array(t);
    if (values->count && column->type == HUB_VALUE_TABLE_INT)
        fits = value->kind == HUB_VALUE_INT;
    else if (values->count && column->type == HUB_VALUE_TABLE_UINT)
        fits = value->kind == HUB_VALUE_UINT || (value->kind == HUB_VALUE_INT && value->number >= 0);
    else if (values->count)
        fits = column->type == HUB_VALUE_TABLE_TEXT || value->kind != HUB_VALUE_TEXT ||
               (column->type == HUB_VALUE_TABLE_REAL && hub_value_is_word(value, &(double){0}));
    return fits ? HUB_OK
                : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "it was measured again");
}
