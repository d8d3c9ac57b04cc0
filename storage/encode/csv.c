/* Rows as text with commas between (RFC 4180, but lines end with LF alone, which cut, awk and read expect): a
 * line of names, then a line a row. A field of one more dimension is a column an element, name_0 and so on,
 * and none where rows have no elements. A null is an empty cell, an empty text ""; where a line has one cell
 * only, so is a null, for readers pass over empty lines. */
#include "storage/encode/digits.h"
#include "storage/encode/representation.h"

static bool is_plain(struct hub_view text)
{
    bool special = false;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        special |= c == ',' || c == '"' || c == '\r' || c == '\n';
    }
    return text.size > 0 && !special;
}

static enum hub_status add_text(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    if (is_plain(text))
        return hub_item_add_utf8(text, out, err);
    HUB_TRY(hub_buf_add_text(out, "\"", err));
    while (text.size) {
        const char *quote = memchr(text.data, '"', text.size);
        const size_t n = quote ? (size_t)(quote - text.data) + 1 : text.size;
        HUB_TRY(hub_item_add_utf8((struct hub_view){text.data, n}, out, err));
        if (quote)
            HUB_TRY(hub_buf_add_text(out, "\"", err));
        text = (struct hub_view){text.data + n, text.size - n};
    }
    return hub_buf_add_text(out, "\"", err);
}

static uint64_t cells_of(const struct hub_variant *variant)
{
    return variant->rank ? variant->dims[0] : 1;
}

static enum hub_status add_name(const struct hub_stream_column *column, struct hub_buf *out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(192 * KIB);
    if (!column->variant.rank)
        return add_text(hub_view_of(column->name), out, err);
    HUB_TRY(hub_buf_add_text(&name, column->name, err));
    HUB_TRY(hub_buf_add(&name, "_", 1, err));
    HUB_TRY(add_text(hub_buf_view(&name), &text, err)); /* in quotes, perhaps: the number stands within */
    const size_t quote = text.data[0] == '"';
    for (uint64_t i = 0; i < cells_of(&column->variant); i++) {
        HUB_TRY(hub_buf_reserve(out, 1 + text.size + HUB_NUMBER_CHARS, err));
        char *to = out->data + out->size;
        *to = ',';
        to = mempcpy(to + (i > 0), text.data, text.size - quote);
        to += hub_number_u64(i, to);
        to = mempcpy(to, "\"", quote);
        out->size = (size_t)(to - out->data);
    }
    return HUB_OK;
}

static enum hub_status begin(struct hub_table_stream *table, struct hub_buf *out, struct hub_error *err)
{
    bool any = false;
    for (uint32_t c = 0; c < table->count; c++) {
        const bool has = cells_of(&table->columns[c].variant);
        HUB_TRY(hub_buf_add_text(out, any && has ? "," : "", err));
        any |= has;
        HUB_TRY(add_name(&table->columns[c], out, err));
    }
    return hub_buf_add_text(out, "\n", err);
}

static enum hub_status add_texts(const struct hub_rows *rows, uint64_t row, struct hub_buf *out,
                                 struct hub_error *err)
{
    const uint64_t cells = cells_of(&rows->variant);
    if (rows->offsets) /* the usual one a row */
        return rows->valid && !rows->valid[row]
                   ? HUB_OK
                   : add_text((struct hub_view){(const char *)rows->data + rows->offsets[row],
                                                (size_t)(rows->offsets[row + 1] - rows->offsets[row])},
                              out, err);
    for (uint64_t i = row * cells; i < (row + 1) * cells; i++) {
        HUB_TRY(hub_buf_add_text(out, i > row * cells ? "," : "", err));
        if (!hub_item_null(rows, i))
            HUB_TRY(add_text(hub_item_text(rows, i), out, err));
    }
    return HUB_OK;
}

static const struct hub_digits words = {"NaN", "inf", "-inf", '\0', '+', 'j', 0};

/* The usual cells: doubles that are all there. Each is followed by a comma, the last one's is taken back. */
static char *put_doubles(const uint8_t *items, uint64_t cells, char *to)
{
    struct hub_digits digits = words;
    for (uint64_t i = 0; i < cells; i++) {
        double value;
        memcpy(&value, items + i * sizeof value, sizeof value);
        to += isfinite(value) ? hub_number_double(value, to) : hub_digits_nonfinite(&digits, value, to);
        *to++ = ',';
    }
    return to - (cells > 0);
}

static enum hub_status add_numbers(const struct hub_rows *rows, uint64_t row, struct hub_buf *out,
                                   struct hub_error *err)
{
    struct hub_digits digits = words;
    const struct hub_variant *v = &rows->variant;
    const uint64_t cells = cells_of(v);
    const size_t size = v->item_size;
    HUB_TRY(hub_buf_reserve(out, (size_t)cells * HUB_DIGITS_CHARS, err));
    char *to = out->data + out->size;
    if (v->kind == HUB_KIND_FLOAT && size == sizeof(double) && !v->big_endian && !rows->valid) {
        to = put_doubles(rows->data + row * cells * size, cells, to);
        out->size = (size_t)(to - out->data);
        return HUB_OK;
    }
    for (uint64_t i = row * cells; i < (row + 1) * cells; i++) {
        if (i > row * cells)
            *to++ = ',';
        if (!rows->valid || rows->valid[i])
            to += hub_digits(&digits, v, rows->data + i * size, to);
    }
    out->size = (size_t)(to - out->data);
    return HUB_OK;
}

static enum hub_status add_rows(struct hub_table_stream *table, struct hub_rows *columns, uint64_t rows,
                                struct hub_buf *out, struct hub_error *err)
{
    for (uint64_t i = 0; i < rows; i++) {
        const size_t begin = out->size;
        bool any = false;
        for (uint32_t c = 0; c < table->count; c++) {
            const bool has = cells_of(&table->columns[c].variant);
            if (any && has)
                HUB_TRY(hub_buf_add(out, ",", 1, err));
            any |= has;
            HUB_TRY(table->columns[c].type == HUB_FIELD_TEXT ? add_texts(&columns[c], i, out, err)
                                                             : add_numbers(&columns[c], i, out, err));
        }
        if (out->size == begin)
            HUB_TRY(hub_buf_add(out, "\"\"", 2, err));
        HUB_TRY(hub_buf_add(out, "\n", 1, err));
    }
    return HUB_OK;
}

static enum hub_fit fit(enum hub_field_type type, const struct hub_variant *variant)
{
    if (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG)
        return HUB_FIT_DECODED;
    const bool table = type == HUB_FIELD_NUMBER || type == HUB_FIELD_BOOL || type == HUB_FIELD_TEXT;
    const bool sequence = type != HUB_FIELD_TEXT && variant->kind == HUB_KIND_VAR;
    return table && variant->rank < 2 && !sequence ? HUB_FIT_ROWS : HUB_FIT_NONE;
}

static const char *media_type(const struct hub_encoding *e)
{
    (void)e;
    return "text/csv; charset=utf-8; header=present";
}

static uint64_t nanoseconds(const struct hub_encoding *e)
{
    return hub_encoding_bytes(e) * HUB_DIGITS_NS_BYTE;
}

static const struct hub_stream_writer table = {
    .cells = HUB_CELLS_TEXT,
    .begin = begin,
    .rows = add_rows,
    .growth =
        13, /* a byte of text that becomes U+FFFD: 3; a float16 of 2 bytes, up to 25 characters and a comma */
};
const struct hub_writer hub_write_csv = {
    .several = true,
    .fit = fit,
    .media_type = media_type,
    .nanoseconds = nanoseconds,
    .memory = hub_encoding_table_memory,
    .write = hub_encoding_write_table,
    .table = &table,
};
