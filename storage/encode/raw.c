/* Rows as bare bytes: little-endian, C order. */
#include "storage/encode/representation.h"

static void swap_bytes(uint8_t *item, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        const uint8_t byte = item[i];
        item[i] = item[size - 1 - i];
        item[size - 1 - i] = byte;
    }
}

/* Numbers of `size` bytes, or halves of a complex one. */
static void make_little_endian(uint8_t *data, uint64_t bytes, const struct hub_variant *number)
{
    const size_t size = number->kind == HUB_KIND_COMPLEX ? number->item_size / 2 : number->item_size;
    if (size > 1)
        for (uint64_t at = 0; at + size <= bytes; at += size)
            swap_bytes(data + at, size);
}

void hub_rows_little_endian(struct hub_rows *rows)
{
    struct hub_variant *v = &rows->variant;
    const bool var = v->kind == HUB_KIND_VAR;
    const struct hub_variant number = hub_variant_item(v);
    if (v->big_endian && v->kind != HUB_KIND_FIXED)
        make_little_endian(rows->data,
                           var ? rows->offsets[rows->rows] : rows->rows * hub_variant_row_bytes(v), &number);
    v->big_endian = 0;
}

enum hub_status hub_raw_rows(struct hub_rows *rows, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_variant *v = &rows->variant;
    const bool var = v->kind == HUB_KIND_VAR;
    if (var && rows->rows != 1)
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "rows of varying length are available as raw one at a time: use row=");
    hub_rows_little_endian(rows);
    const uint8_t *data = rows->data + (var ? rows->offsets[0] : 0);
    const uint64_t bytes = var ? rows->offsets[1] - rows->offsets[0] : rows->rows * hub_variant_row_bytes(v);
    return hub_buf_add(out, data, (size_t)bytes, err);
}

/* ---- the representation ---- */

static enum hub_fit fit(enum hub_field_type type, const struct hub_variant *variant)
{
    if (type == HUB_FIELD_TEXT)
        return hub_encode_as_item(type, variant) ? HUB_FIT_ONE_ROW : HUB_FIT_NONE;
    return hub_encode_as_bytes(type, variant) ? HUB_FIT_ONE_ROW : HUB_FIT_ROWS;
}

/* A stored picture that was asked for by ?format=raw is one nevertheless; an Accept gets the type it
 * names. */
static const char *media_type(const struct hub_encoding *e)
{
    const enum hub_field_type type = e->fields[0].type;
    if (e->by_name && (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG))
        return type == HUB_FIELD_IMAGE_JPEG ? "image/jpeg" : "image/png";
    return e->as->media_type;
}

static uint64_t length(const struct hub_encoding *e)
{
    const struct hub_plan *plan = e->fields[0].plan;
    const enum hub_field_type type = e->fields[0].type;
    const bool padded = type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG || type == HUB_FIELD_TEXT;
    return padded || plan->variant->kind == HUB_KIND_VAR ? UINT64_MAX : plan->bytes_out;
}

static enum hub_status write_raw(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    HUB_TRY(e->read(e, 0, NULL, &rows, err));
    return e->fields[0].type == HUB_FIELD_TEXT ? hub_buf_add_view(out, hub_item_text(&rows, 0), err)
                                               : hub_raw_rows(&rows, out, err);
}

const struct hub_writer hub_write_raw = {
    .fit = fit,
    .media_type = media_type,
    .memory = hub_encoding_bytes,
    .length = length,
    .write = write_raw,
};
