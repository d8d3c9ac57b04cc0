/* Rows as items: see encode.h. */
#include "storage/encode/encode.h"

#include "storage/text/utf8.h"

uint64_t hub_item_count(const struct hub_rows *rows)
{
    const struct hub_variant *v = &rows->variant;
    return rows->rows * (v->kind == HUB_KIND_FIXED ? hub_variant_row_items(v) : 1);
}

bool hub_item_null(const struct hub_rows *rows, uint64_t i)
{
    const struct hub_variant *v = &rows->variant;
    return rows->valid && !rows->valid[v->kind == HUB_KIND_FIXED ? i : i * hub_variant_row_items(v)];
}

struct hub_view hub_item_at(const struct hub_rows *rows, uint64_t i)
{
    const struct hub_variant *v = &rows->variant;
    if (hub_item_null(rows, i))
        return (struct hub_view){"", 0};
    if (rows->offsets)
        return (struct hub_view){(const char *)rows->data + rows->offsets[i],
                                 (size_t)(rows->offsets[i + 1] - rows->offsets[i])};
    const size_t size = v->kind == HUB_KIND_FIXED ? v->item_size : (size_t)hub_variant_row_bytes(v);
    return (struct hub_view){(const char *)rows->data + i * size, size};
}

struct hub_view hub_item_text(const struct hub_rows *rows, uint64_t i)
{
    struct hub_view text = hub_item_at(rows, i);
    if (!rows->offsets && text.size)
        text.size = hub_variant_text_size(&rows->variant, text.data);
    return text;
}

enum hub_status hub_item_add_utf8(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    if (hub_utf8_valid(text))
        return hub_buf_add_view(out, text, err);
    while (text.size) {
        uint32_t code;
        const size_t n = hub_utf8_decode(text, &code);
        HUB_TRY(n ? hub_buf_add(out, text.data, n, err) : hub_buf_add_text(out, "\xEF\xBF\xBD", err));
        text = (struct hub_view){text.data + HUB_MAX(n, (size_t)1), text.size - HUB_MAX(n, (size_t)1)};
    }
    return HUB_OK;
}
