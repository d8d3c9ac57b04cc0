/* Rows as JSON arrays. Text is put together in a small buffer on the stack and handed over by the kilobyte,
 * so that neither a bracket nor a number costs a call with checks. */
#include "storage/text/json.h"
#include "storage/encode/digits.h"
#include "storage/encode/representation.h"
#include "storage/text/base64.h"

#include <inttypes.h>

enum {
    STAGE_BYTES = 4096,
    ITEM_CHARS = 2 * HUB_NUMBER_CHARS + 8, /* a complex number */
    MAX_VALUES = 5000000,                  /* of one answer */
};

struct json_writer {
    const struct hub_rows *rows;
    struct hub_variant item; /* what numbers are */
    enum hub_field_type type;
    enum hub_nonfinite how;
    struct hub_digits digits;
    struct hub_buf *out;
    struct hub_error *err;
    size_t staged;
    char stage[STAGE_BYTES];
};

static enum hub_status flush(struct json_writer *w)
{
    const size_t n = w->staged;
    w->staged = 0;
    return hub_buf_add(w->out, w->stage, n, w->err);
}

/* Make sure that one more item fits the stage. */
static inline enum hub_status room(struct json_writer *w)
{
    return w->staged + ITEM_CHARS > STAGE_BYTES ? flush(w) : HUB_OK;
}

static inline void put_char(struct json_writer *w, char c)
{
    w->stage[w->staged++] = c;
}

static inline void put_text(struct json_writer *w, const char *text, size_t size)
{
    memcpy(w->stage + w->staged, text, size);
    w->staged += size;
}

static inline void put_number(struct json_writer *w, const uint8_t *item)
{
    w->staged += hub_digits(&w->digits, &w->item, item, w->stage + w->staged);
}

/* The text of padded JSON ends at its first NUL; an empty one is null, a malformed one null and counted. */
static enum hub_status put_json(struct json_writer *w, struct hub_view text)
{
    const char *end = text.size ? memchr(text.data, '\0', text.size) : NULL;
    if (end)
        text.size = (size_t)(end - text.data);
    const enum hub_status st =
        text.size ? hub_json_data(text, w->how, &w->digits.nonfinite, w->out, NULL) : HUB_CORRUPT;
    if (st && st != HUB_CORRUPT)
        return hub_fail(w->err, st, "more than %zu bytes of JSON", w->out->limit);
    if (!st)
        return HUB_OK;
    w->digits.nonfinite += text.size != 0;
    return hub_buf_add(w->out, "null", 4, w->err);
}

static enum hub_status put_base64(struct json_writer *w, struct hub_view bytes)
{
    HUB_TRY(hub_buf_add(w->out, "\"", 1, w->err));
    HUB_TRY(hub_base64_encode(bytes, w->out, w->err));
    return hub_buf_add(w->out, "\"", 1, w->err);
}

/* A string, base64 or a JSON value: written past the stage, which is handed over before. */
static enum hub_status put_blob(struct json_writer *w, struct hub_view bytes)
{
    HUB_TRY(flush(w));
    if (w->type == HUB_FIELD_PADDED_JSON)
        return put_json(w, bytes);
    if (w->type != HUB_FIELD_TEXT)
        return put_base64(w, bytes);
    if (!w->rows->offsets)
        bytes.size = hub_variant_text_size(&w->rows->variant, bytes.data);
    return hub_json_add_string(w->out, bytes, w->err);
}

/* How the field type and the elements go together. */
enum json_shape {
    NUMBERS,  /* nested arrays of numbers */
    ITEMS,    /* nested arrays of strings of item_size bytes */
    ROW_BLOB, /* a row is one string or value */
    SEQUENCE, /* a row is an array of numbers, of a length of its own */
};

static enum json_shape shape_of(enum hub_field_type type, const struct hub_variant *v)
{
    if (v->kind == HUB_KIND_VAR && v->sequence)
        return SEQUENCE;
    if (v->kind == HUB_KIND_VAR || type == HUB_FIELD_PADDED_JSON)
        return ROW_BLOB;
    if (v->kind == HUB_KIND_FIXED)
        return ITEMS;
    switch (type) {
    case HUB_FIELD_BYTES:
    case HUB_FIELD_OPAQUE:
    case HUB_FIELD_IMAGE_JPEG:
    case HUB_FIELD_IMAGE_PNG:
        return ROW_BLOB;
    default:
        return NUMBERS;
    }
}

/* Is the value at `item` null? */
static bool is_null(const struct json_writer *w, const uint8_t *item)
{
    return w->rows->valid && !w->rows->valid[(size_t)(item - w->rows->data) / w->rows->variant.item_size];
}

static void put_item(struct json_writer *w, const uint8_t *item)
{
    if (is_null(w, item))
        put_text(w, "null", 4);
    else
        put_number(w, item);
}

/* The part of a row below one axis; `at` moves over its items. */
static enum hub_status put_axis(struct json_writer *w, enum json_shape shape, unsigned axis,
                                const uint8_t **at)
{
    const struct hub_variant *v = &w->rows->variant;
    HUB_TRY(room(w));
    if (axis == v->rank) {
        const uint8_t *item = *at;
        *at += v->item_size;
        if (shape == ITEMS && !is_null(w, item))
            return put_blob(w, (struct hub_view){(const char *)item, v->item_size});
        put_item(w, item);
        return HUB_OK;
    }
    put_char(w, '[');
    const bool numbers = axis + 1U == v->rank && shape == NUMBERS;
    for (uint32_t i = 0; i < v->dims[axis]; i++) {
        if (i)
            put_char(w, ',');
        if (numbers) {
            HUB_TRY(room(w));
            put_item(w, *at);
            *at += v->item_size;
        } else {
            HUB_TRY(put_axis(w, shape, axis + 1, at));
        }
    }
    put_char(w, ']');
    return HUB_OK;
}

static struct hub_view row_view(const struct hub_rows *rows, uint64_t i)
{
    if (rows->offsets)
        return (struct hub_view){(const char *)rows->data + rows->offsets[i],
                                 (size_t)(rows->offsets[i + 1] - rows->offsets[i])};
    const uint64_t size = hub_variant_row_bytes(&rows->variant);
    return (struct hub_view){(const char *)rows->data + i * size, (size_t)size};
}

static enum hub_status put_sequence(struct json_writer *w, struct hub_view row)
{
    put_char(w, '[');
    for (size_t at = 0; at + w->item.item_size <= row.size; at += w->item.item_size) {
        if (at)
            put_char(w, ',');
        HUB_TRY(room(w));
        put_number(w, (const uint8_t *)row.data + at);
    }
    HUB_TRY(room(w));
    put_char(w, ']');
    return HUB_OK;
}

static enum hub_status put_row(struct json_writer *w, enum json_shape shape, uint64_t i)
{
    const struct hub_view row = row_view(w->rows, i);
    const uint8_t *at = (const uint8_t *)row.data;
    if (shape == NUMBERS || shape == ITEMS)
        return put_axis(w, shape, 0, &at);
    if (!w->rows->valid || w->rows->valid[i * hub_variant_row_items(&w->rows->variant)])
        return shape == SEQUENCE ? put_sequence(w, row) : put_blob(w, row);
    put_text(w, "null", 4);
    return HUB_OK;
}

/* Not all of it: the stage stays as it is. */
static void writer_init(struct json_writer *w, enum hub_field_type type, const struct hub_rows *rows,
                        enum hub_nonfinite how, struct hub_buf *out, struct hub_error *err)
{
    static const struct hub_digits digits[] = {
        [HUB_NONFINITE_NULL] = {"null", "null", "null", '[', ',', ']', 0},
        [HUB_NONFINITE_STRING] = {"\"NaN\"", "\"Infinity\"", "\"-Infinity\"", '[', ',', ']', 0},
        [HUB_NONFINITE_LITERAL] = {"NaN", "Infinity", "-Infinity", '[', ',', ']', 0}};
    w->rows = rows;
    w->item = hub_variant_item(&rows->variant);
    w->type = type;
    w->how = how;
    w->digits = digits[how];
    w->out = out;
    w->err = err;
    w->staged = 0;
}

enum hub_status hub_json_rows(enum hub_field_type type, const struct hub_rows *rows, bool bare,
                              enum hub_nonfinite how, uint64_t *nonfinite_count, struct hub_buf *out,
                              struct hub_error *err)
{
    struct json_writer w;
    writer_init(&w, type, rows, how, out, err);
    const enum json_shape shape = shape_of(type, &rows->variant);
    if (!bare)
        put_char(&w, '[');
    for (uint64_t i = 0; i < rows->rows; i++) {
        HUB_TRY(room(&w));
        if (i)
            put_char(&w, ',');
        HUB_TRY(put_row(&w, shape, i));
    }
    HUB_TRY(room(&w));
    if (!bare)
        put_char(&w, ']');
    HUB_TRY(flush(&w));
    *nonfinite_count += w.digits.nonfinite;
    return HUB_OK;
}

/* ---- bounds ---- */

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Characters of the longest number and its comma. */
static uint64_t float_chars(size_t size)
{
    return size == 8 ? 25 : size == 4 ? 20 : 12;
}

static uint64_t number_chars(const struct hub_variant *v)
{
    switch (v->kind) {
    case HUB_KIND_FLOAT:
        return float_chars(v->item_size);
    case HUB_KIND_COMPLEX:
        return 2 * float_chars(v->item_size / 2) + 2;
    case HUB_KIND_BOOL:
        return 6;
    default:
        return v->item_size == 1 ? 5 : v->item_size == 2 ? 7 : v->item_size == 4 ? 12 : 21;
    }
}

/* Brackets and commas of the arrays in one row. */
static uint64_t row_brackets(const struct hub_variant *v)
{
    uint64_t arrays = 1, all = 0;
    for (unsigned i = 0; i < v->rank; i++) {
        all = plus(all, arrays);
        arrays = times(arrays, v->dims[i]);
    }
    return plus(times(all, 3), 5); /* 5: the row may be null */
}

uint64_t hub_json_bound(enum hub_field_type type, const struct hub_variant *variant, uint64_t rows,
                        uint64_t data_bytes)
{
    const uint64_t items = times(rows, hub_variant_row_items(variant));
    const uint64_t brackets = plus(times(rows, row_brackets(variant)), 16);
    switch (shape_of(type, variant)) {
    case NUMBERS:
        return plus(brackets, times(items, number_chars(variant)));
    case SEQUENCE: {
        const struct hub_variant item = hub_variant_item(variant);
        return plus(brackets, times(data_bytes / item.item_size, number_chars(&item)));
    }
    case ITEMS:
    case ROW_BLOB:
        break;
    }
    /* text: a byte may become \u00XX; JSON: a short exponent may become "-Infinity"; base64: four for three,
     * rounded up */
    const uint64_t growth = type == HUB_FIELD_TEXT ? 6 : 2;
    return plus(plus(brackets, times(data_bytes, growth)), times(plus(items, rows), 8));
}

/* ---- the representation ---- */

static enum hub_status check(const struct hub_encoding *e, struct hub_error *err)
{
    uint64_t values = 0;
    for (uint32_t i = 0; i < e->count; i++)
        values += e->fields[i].plan->slice.count * hub_variant_row_items(e->fields[i].plan->variant);
    if (values <= MAX_VALUES)
        return HUB_OK;
    return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE,
                       "%" PRIu64 " values as JSON; at most %d: use format=%s or fewer rows", values,
                       MAX_VALUES, e->single ? "npy" : "npz");
}

static uint64_t memory(const struct hub_encoding *e)
{
    uint64_t bytes = 0;
    for (const struct hub_encoding_field *c = e->fields; c < e->fields + e->count; c++)
        bytes += hub_json_bound(c->type, c->plan->variant, c->plan->slice.count, c->plan->bytes_out);
    return bytes;
}

static uint64_t nanoseconds(const struct hub_encoding *e)
{
    return hub_encoding_bytes(e) * HUB_DIGITS_NS_BYTE;
}

static enum hub_status write_field(struct hub_encoding *e, uint32_t i, struct hub_buf *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    HUB_TRY(e->read(e, i, NULL, &rows, err));
    return hub_json_rows(e->fields[i].type, &rows, e->fields[i].bare, e->nonfinite, &e->nonfinite_count, out,
                         err);
}

static enum hub_status write_json(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    if (e->single)
        return write_field(e, 0, out, err);
    HUB_TRY(hub_buf_add_text(out, "{", err));
    for (uint32_t i = 0; i < e->count; i++) {
        if (i)
            HUB_TRY(hub_buf_add_text(out, ",", err));
        HUB_TRY(hub_json_add_string(out, hub_view_of(e->fields[i].name), err));
        HUB_TRY(hub_buf_add_text(out, ":", err));
        HUB_TRY(write_field(e, i, out, err));
    }
    return hub_buf_add_text(out, "}", err);
}

/* ---- tables ---- */

static enum hub_status put_cell(const struct hub_table_stream *table, const struct hub_stream_column *column,
                                const struct hub_rows *rows, uint64_t i, struct hub_buf *out,
                                struct hub_error *err)
{
    struct json_writer w;
    if (column->verbatim)
        return hub_buf_add_view(out, row_view(rows, i), err);
    writer_init(&w, column->type, rows, table->nonfinite, out, err);
    HUB_TRY(put_row(&w, shape_of(w.type, &rows->variant), i));
    return flush(&w);
}

static enum hub_status begin(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    return hub_buf_addf(out, err, "{%s%s\"columns\":{", table->head ? table->head : "",
                        table->head ? "," : "");
}

static enum hub_status put_verbatim(const struct hub_rows *rows, bool comma, struct hub_buf *out,
                                    struct hub_error *err)
{
    HUB_TRY(hub_buf_reserve(out, (size_t)(rows->offsets[rows->rows] + rows->rows), err));
    char *to = out->data + out->size;
    for (uint64_t i = 0; i < rows->rows; i++, comma = true) {
        if (comma)
            *to++ = ',';
        to = mempcpy(to, rows->data + rows->offsets[i], (size_t)(rows->offsets[i + 1] - rows->offsets[i]));
    }
    out->size = (size_t)(to - out->data);
    return HUB_OK;
}

/* {"columns":{"a":[1,2],"b":[3,4]}} */
static enum hub_status add_column(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_stream_column *column = &table->columns[table->column];
    if (!table->open) {
        HUB_TRY(hub_buf_add_text(out, table->column ? "," : "", err));
        HUB_TRY(hub_json_add_string(out, hub_view_of(column->name), err));
        HUB_TRY(hub_buf_add_text(out, ":[", err));
    }
    table->open = true;
    if (table->at < table->rows) {
        HUB_TRY(hub_table_stream_read(table, table->column, hub_table_stream_block_rows(table, table->column),
                                      NULL, err));
        HUB_TRY(column->verbatim ? put_verbatim(table->part, table->at > 0, out, err) : HUB_OK);
        for (uint64_t i = 0; i < table->read_rows && !column->verbatim; i++) {
            HUB_TRY(hub_buf_add(out, ",", table->at + i > 0, err));
            HUB_TRY(put_cell(table, column, table->part, i, out, err));
        }
        table->at += table->read_rows;
    }
    if (table->at < table->rows)
        return HUB_OK;
    hub_table_stream_next_column(table);
    return hub_buf_add_text(out, "]", err);
}

static enum hub_status end(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    (void)table;
    return hub_buf_add_text(out, "}}\n", err);
}

static const struct hub_stream_writer columns = {
    .cells = HUB_CELLS_JSON, .lists = true, .begin = begin, .column = add_column, .end = end, .growth = 8};
const struct hub_writer hub_write_json = {
    .several = true,
    .check = check,
    .memory = memory,
    .nanoseconds = nanoseconds,
    .write = write_json,
    .table = &columns,
};

/* A line a row. */
static enum hub_status write_lines(struct hub_table_stream *table, struct hub_rows *rows_of, uint64_t rows,
                                   struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf names = HUB_BUF_INIT(1 * MIB);
    size_t ends[HUB_STREAM_COLUMNS];
    for (uint32_t c = 0; c < table->count; c++) { /* {"a": ,"b": */
        HUB_TRY(hub_buf_add_text(&names, c ? "," : "{", err));
        HUB_TRY(hub_json_add_string(&names, hub_view_of(table->columns[c].name), err));
        HUB_TRY(hub_buf_add_text(&names, ":", err));
        ends[c] = names.size;
    }
    for (uint64_t i = 0; i < rows; i++) {
        for (uint32_t c = 0; c < table->count; c++) {
            const size_t from = c ? ends[c - 1] : 0;
            HUB_TRY(hub_buf_add(out, names.data + from, ends[c] - from, err));
            HUB_TRY(put_cell(table, &table->columns[c], &rows_of[c], i, out, err));
        }
        HUB_TRY(hub_buf_add_text(out, "}\n", err));
    }
    return HUB_OK;
}

static const struct hub_stream_writer lines = {
    .cells = HUB_CELLS_JSON, .lists = true, .rows = write_lines, .growth = 8};
const struct hub_writer hub_write_jsonl = {.several = true,
                                           .memory = hub_encoding_table_memory,
                                           .nanoseconds = nanoseconds,
                                           .write = hub_encoding_write_table,
                                           .table = &lines};
