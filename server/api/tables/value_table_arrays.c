/* Tables of cells as arrays of one type each, arrow and npz: see value_table.h. */
#include "server/api/tables/value_table.h"

#include "storage/encode/representation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TEXT_BYTES (1 * GIB)   /* of one padded array */
#define PADDED_BYTES (1 * MIB) /* most padded bytes built at once, or one row */

/* ---- types ---- */

struct value_kinds {
    bool ints, negative, large, reals, texts, wide; /* wide: some are no doubles */
    bool words;                                     /* NaN and infinities, which attributes spell so */
};

static bool is_word(const struct hub_value *value, double *out)
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
    const bool word = is_word(value, &real);
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

/* Look at all cells of a column. */
static enum hub_status look(struct hub_value_table *t, unsigned number, struct value_kinds *seen,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * MIB);
    struct hub_value_table_column *column = &t->columns[number];
    for (uint32_t row = 0; row < t->rows; row++) {
        struct hub_values values;
        HUB_TRY(t->get(t, row, number, &values, err));
        column->nulls += !values.count && !column->several;
        for (size_t i = 0; i < values.count; i++)
            see(seen, &values.first[i]);
        text.size = 0;
        HUB_TRY(hub_value_table_text(column, &values, &text, err));
        column->longest = HUB_MAX(column->longest, characters(hub_buf_view(&text)));
    }
    column->type = type_of(column, seen);
    return HUB_OK;
}

enum hub_status hub_value_table_prepare_arrow(struct hub_value_table *t, struct hub_error *err)
{
    for (unsigned i = 0; i < t->column_count; i++) {
        struct value_kinds seen = {0};
        HUB_TRY(look(t, i, &seen, err));
        t->columns[i].nulls = 0; /* the array tells */
    }
    return HUB_OK;
}

enum hub_status hub_value_table_begin_npz(struct hub_value_table *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf none = HUB_BUF_INIT(1);
    hub_npz_writer_free(t->zip);
    t->zip = NULL;
    HUB_TRY(hub_npz_writer_begin(&none, &t->zip, err));
    hub_npz_writer_pause(t->zip);
    return HUB_OK;
}

/* There is no null among the integers of an array: with one they are doubles. */
enum hub_status hub_value_table_prepare_npz(struct hub_value_table *t, struct hub_error *err)
{
    for (unsigned i = 0; i < t->column_count; i++) {
        struct hub_value_table_column *column = &t->columns[i];
        struct value_kinds seen = {0};
        HUB_TRY(look(t, i, &seen, err));
        if (column->type == HUB_VALUE_TABLE_TEXT && t->rows &&
            (column->longest > HUB_BODY_STREAM_LIMIT / 16 || column->longest > TEXT_BYTES / 4 / t->rows))
            return hub_fail_about(
                err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "columns", column->name,
                "the texts of '%s' padded to the longest take too much memory: use format=arrow",
                column->name);
        if (!column->nulls || column->type == HUB_VALUE_TABLE_TEXT)
            continue;
        if (seen.wide)
            return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "columns",
                                  column->name,
                                  "'%s' has integers beyond 2^53 and rows without a value, which an array "
                                  "cannot hold: use format=arrow",
                                  column->name);
        column->type = HUB_VALUE_TABLE_REAL;
    }
    return hub_value_table_begin_npz(t, err);
}

static enum hub_field_type field_type(enum hub_value_table_type type)
{
    return type == HUB_VALUE_TABLE_TEXT    ? HUB_FIELD_TEXT
           : type == HUB_VALUE_TABLE_TRUTH ? HUB_FIELD_BOOL
                                           : HUB_FIELD_NUMBER;
}

static struct hub_variant variant_of(enum hub_value_table_type type)
{
    if (type == HUB_VALUE_TABLE_TEXT)
        return (struct hub_variant){.kind = HUB_KIND_VAR};
    if (type == HUB_VALUE_TABLE_TRUTH)
        return (struct hub_variant){.kind = HUB_KIND_BOOL, .item_size = 1};
    return (struct hub_variant){.kind = type == HUB_VALUE_TABLE_INT    ? HUB_KIND_INT
                                        : type == HUB_VALUE_TABLE_UINT ? HUB_KIND_UINT
                                                                       : HUB_KIND_FLOAT,
                                .item_size = 8};
}

/* ---- blocks ---- */

/* Some rows of some columns. */
struct value_block {
    struct {
        struct hub_buf data, offsets, valid;
    } of[HUB_VALUE_TABLE_COLUMNS];
    struct hub_rows rows[HUB_VALUE_TABLE_COLUMNS];
    size_t text_bytes;
};

static void block_free(struct value_block **block)
{
    for (unsigned i = 0; *block && i < HUB_VALUE_TABLE_COLUMNS; i++) {
        hub_buf_dispose(&(*block)->of[i].data);
        hub_buf_dispose(&(*block)->of[i].offsets);
        hub_buf_dispose(&(*block)->of[i].valid);
    }
    free(*block);
}

static double real_of(const struct hub_value *value)
{
    double real;
    if (is_word(value, &real))
        return real;
    return value->kind == HUB_VALUE_REAL   ? value->real
           : value->kind == HUB_VALUE_UINT ? (double)value->large
                                           : (double)value->number;
}

/* Values that were measured in the meantime may have another type. */
static enum hub_status check_type(const struct hub_value_table *t,
                                  const struct hub_value_table_column *column,
                                  const struct hub_values *values, struct hub_error *err)
{
    const struct hub_value *value = values->first;
    bool fits = column->type == HUB_VALUE_TABLE_TEXT || column->type == HUB_VALUE_TABLE_REAL || !t->zip;
    if (values->count && column->type == HUB_VALUE_TABLE_INT)
        fits = value->kind == HUB_VALUE_INT;
    else if (values->count && column->type == HUB_VALUE_TABLE_UINT)
        fits = value->kind == HUB_VALUE_UINT || (value->kind == HUB_VALUE_INT && value->number >= 0);
    else if (values->count)
        fits = column->type == HUB_VALUE_TABLE_TEXT || value->kind != HUB_VALUE_TEXT ||
               (column->type == HUB_VALUE_TABLE_REAL && is_word(value, &(double){0}));
    return fits ? HUB_OK
                : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "it was measured again");
}

static enum hub_status add_cell(struct value_block *b, unsigned place,
                                const struct hub_value_table_column *column, const struct hub_values *values,
                                struct hub_error *err)
{
    struct hub_buf *data = &b->of[place].data;
    const bool there = values->count;
    const uint8_t valid = there || column->several;
    HUB_TRY(hub_buf_add(&b->of[place].valid, &valid, 1, err));
    if (column->type == HUB_VALUE_TABLE_TEXT) {
        const size_t before = data->size;
        HUB_TRY(hub_value_table_text(column, values, data, err));
        const uint64_t end = data->size;
        b->text_bytes += data->size - before;
        return hub_buf_add(&b->of[place].offsets, &end, sizeof end, err);
    }
    if (column->type == HUB_VALUE_TABLE_REAL) {
        const double real = there ? real_of(values->first) : NAN;
        return hub_buf_add(data, &real, sizeof real, err);
    }
    const int64_t number = there ? values->first->number : 0; /* or `large`, in the same place */
    const uint8_t truth = number != 0;
    return column->type == HUB_VALUE_TABLE_TRUTH ? hub_buf_add(data, &truth, 1, err)
                                                 : hub_buf_add(data, &number, sizeof number, err);
}

/* Rows from t->at on of columns [first, first + count): `*rows` of them at most, then as many as there
 * are. */
static enum hub_status make_block(struct hub_value_table *t, unsigned first, unsigned count, uint32_t *rows,
                                  struct value_block **out, struct hub_error *err)
{
    HUB_CLEANUP(block_free) struct value_block *b = NULL;
    const uint32_t most = HUB_MIN(*rows, t->rows - t->at);
    HUB_TRY(hub_new(&b, 1, sizeof *b, err));
    for (unsigned i = 0; i < count; i++) {
        const uint64_t begin = 0;
        b->of[i].data = b->of[i].offsets = b->of[i].valid = HUB_BUF_INIT(HUB_BODY_STREAM_LIMIT);
        HUB_TRY(hub_buf_add(&b->of[i].offsets, &begin, sizeof begin, err));
    }
    for (*rows = 0; *rows < most && b->text_bytes < HUB_BODY_STREAM_BLOCK; ++*rows)
        for (unsigned i = 0; i < count; i++) {
            struct hub_values values;
            HUB_TRY(t->get(t, t->at + *rows, first + i, &values, err));
            HUB_TRY(check_type(t, &t->columns[first + i], &values, err));
            HUB_TRY(add_cell(b, i, &t->columns[first + i], &values, err));
        }
    for (unsigned i = 0; i < count; i++) {
        const bool text = t->columns[first + i].type == HUB_VALUE_TABLE_TEXT;
        b->rows[i] = (struct hub_rows){.variant = variant_of(t->columns[first + i].type),
                                       .rows = *rows,
                                       .data = (uint8_t *)b->of[i].data.data,
                                       .offsets = text ? (uint64_t *)b->of[i].offsets.data : NULL,
                                       .valid = (uint8_t *)b->of[i].valid.data};
    }
    *out = b;
    b = NULL;
    return HUB_OK;
}

/* ---- arrow ---- */

enum hub_status hub_value_table_more_arrow(struct hub_value_table *t, struct hub_buf *out,
                                           struct hub_error *err)
{
    HUB_CLEANUP(block_free) struct value_block *b = NULL;
    const struct hub_block_writer *writer = hub_representation_named(t->form->name)->writer->blocks;
    struct hub_block_column columns[HUB_VALUE_TABLE_COLUMNS];
    const struct hub_block_table table = {.columns = columns, .count = t->column_count, .trail = &t->trail};
    uint32_t rows = HUB_VALUE_TABLE_BLOCK;
    for (unsigned i = 0; i < t->column_count; i++)
        columns[i] = (struct hub_block_column){.name = t->columns[i].name,
                                               .type = field_type(t->columns[i].type),
                                               .variant = variant_of(t->columns[i].type)};
    if (!t->begun)
        HUB_TRY(writer->begin(&table, out, err));
    t->begun = true;
    if (t->at < t->rows) {
        HUB_TRY(make_block(t, 0, t->column_count, &rows, &b, err));
        HUB_TRY(writer->rows(&table, b->rows, rows, out, err));
        t->at += rows;
    }
    t->ended = t->at == t->rows;
    return t->ended ? writer->end(&table, out, err) : HUB_OK;
}

/* ---- npz ---- */

static enum hub_status open_column(const struct hub_value_table *t,
                                   const struct hub_value_table_column *column, struct hub_buf *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf header = HUB_BUF_INIT(4 * KIB);
    const struct hub_variant variant = variant_of(column->type);
    const uint64_t width = HUB_MAX(column->longest, (uint64_t)1);
    const bool text = column->type == HUB_VALUE_TABLE_TEXT;
    char descr[24];
    snprintf(descr, sizeof descr, "<U%" PRIu64, width);
    HUB_TRY(text ? hub_npy_header_of(descr, t->rows, 0, false, &header, err)
                 : hub_npy_header(&variant, t->rows, false, &header, err));
    HUB_TRY(hub_npz_writer_open_member(t->zip, column->name,
                                       header.size + t->rows * (text ? width * 4 : variant.item_size), err));
    hub_npz_writer_take(t->zip, header.data, header.size);
    return hub_buf_add_view(out, hub_buf_view(&header), err);
}

static enum hub_status add_rows(struct hub_value_table *t, const struct hub_value_table_column *column,
                                struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(block_free) struct value_block *b = NULL;
    const size_t from = out->size;
    const uint64_t width = HUB_MAX(column->longest, (uint64_t)1);
    uint32_t rows = (uint32_t)HUB_MIN(PADDED_BYTES / (4 * width) + 1, (uint64_t)HUB_VALUE_TABLE_BLOCK);
    HUB_TRY(make_block(t, t->column, 1, &rows, &b, err));
    if (column->type == HUB_VALUE_TABLE_TEXT && hub_npy_longest(b->rows, true) > width)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING, "its texts became longer");
    if (column->type == HUB_VALUE_TABLE_TEXT)
        HUB_TRY(hub_npy_padded_rows(b->rows, true, width, out, err));
    else
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(&b->of[0].data), err));
    hub_npz_writer_take(t->zip, out->data + from, out->size - from);
    t->at += rows;
    return HUB_OK;
}

enum hub_status hub_value_table_more_npz(struct hub_value_table *t, struct hub_buf *out,
                                         struct hub_error *err)
{
    hub_npz_writer_resume(t->zip, out);
    while (t->column < t->column_count && out->size < HUB_BODY_STREAM_BLOCK) {
        const struct hub_value_table_column *column = &t->columns[t->column];
        if (!t->begun)
            HUB_TRY(open_column(t, column, out, err));
        t->begun = true;
        if (t->at < t->rows)
            HUB_TRY(add_rows(t, column, out, err));
        if (t->at < t->rows)
            continue;
        HUB_TRY(hub_npz_writer_close_member(t->zip, err));
        t->column++;
        t->at = 0;
        t->begun = false;
    }
    t->ended = t->column == t->column_count;
    if (t->ended)
        HUB_TRY(hub_npz_writer_finish(t->zip, err));
    hub_npz_writer_pause(t->zip);
    return HUB_OK;
}
