/* First and last rows: see ends.h. */
#include "storage/measure/ends.h"

/* Integers that a double may not hold keep their digits. */
static void take_value(const struct hub_block *b, const struct hub_row_end *end, struct hub_value *out)
{
    const uint32_t c = end->component;
    if (end->of_row ? c >= b->dims : b->dims != 1)
        return;
    *out = hub_value_real(b->values[c]);
    if (!hub_numbers_wide(b->variant) || (b->valid && !b->valid[c]))
        return;
    const uint64_t key = hub_wide_key(b->variant, b->raw + (size_t)c * b->variant->item_size);
    *out = b->variant->kind == HUB_KIND_INT
               ? (struct hub_value){.kind = HUB_VALUE_INT, .number = hub_wide_signed(key)}
               : hub_value_uint(key);
}

enum hub_status hub_measure_ends(struct hub_measured_part *part, const struct hub_layout *layout,
                                 const struct hub_row_end *end, struct hub_value *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_source_dispose)
    struct hub_row_source source = {.host = part->host, .layout = layout, .files = &part->files};
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++) {
        const struct hub_window *window = &layout->windows[i];
        struct hub_error why = {0};
        struct hub_block b;
        if (!hub_source_dims(layout, window) || !window->count || window->episode >= part->episodes)
            continue;
        const uint64_t row = end->last ? window->count - 1 : 0;
        source.end = window->first + row + 1;
        const enum hub_status st = hub_source_get(&source, window, row, 1, &b, &why);
        if (!st)
            take_value(&b, end, &out[window->episode]);
        else if (!hub_measure_is_verdict(st))
            return hub_pass(st, &why, err);
        HUB_TRY(hub_measure_breathe(part, err));
    }
    return HUB_OK;
}
