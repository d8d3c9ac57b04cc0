/* Rows as bare bytes: little-endian, C order. */
#include "storage/encode/encode.h"

static void swap_bytes(uint8_t *item, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        const uint8_t byte = item[i];
        item[i] = item[size - 1 - i];
        item[size - 1 - i] = byte;
    }
}

static void make_little_endian(struct hub_rows *rows)
{
    struct hub_variant *v = &rows->variant;
    const size_t size = v->kind == HUB_KIND_COMPLEX ? v->item_size / 2 : v->item_size;
    const uint64_t bytes = rows->rows * hub_variant_row_bytes(v);
    if (size > 1) {
        for (uint64_t at = 0; at < bytes; at += size)
            swap_bytes(rows->data + at, size);
    }
    v->big_endian = 0;
}

enum hub_status hub_raw_rows(struct hub_rows *rows, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_variant *v = &rows->variant;
    if (v->kind == HUB_KIND_VAR) {
        if (rows->rows != 1)
            return hub_fail_as(err, HUB_NOT_ACCEPTABLE, "not-acceptable",
                               "rows of varying length are available as raw one at a time: ask with row=");
        return hub_buf_add(out, rows->data + rows->offsets[0], (size_t)(rows->offsets[1] - rows->offsets[0]),
                           err);
    }
    if (v->big_endian && v->kind != HUB_KIND_FIXED)
        make_little_endian(rows);
    return hub_buf_add(out, rows->data, (size_t)(rows->rows * hub_variant_row_bytes(v)), err);
}
