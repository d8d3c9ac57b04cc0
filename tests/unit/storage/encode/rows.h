/* Rows built from plain C arrays, for the encoders' tests. */
#ifndef TEST_ENCODE_ROWS_H
#define TEST_ENCODE_ROWS_H

#include "storage/encode/encode.h"

/* `dims` ends at its first zero. */
static inline struct hub_rows fixed_rows(enum hub_kind kind, uint32_t item_size,
                                         const uint32_t dims[HUB_MAX_RANK], uint64_t count, const void *data)
{
    struct hub_rows rows = {.variant = {.kind = (uint8_t)kind, .item_size = item_size}, .rows = count};
    for (unsigned i = 0; i < HUB_MAX_RANK && dims && dims[i]; i++) {
        rows.variant.dims[i] = dims[i];
        rows.variant.rank++;
    }
    rows.data = (uint8_t *)(uintptr_t)data;
    return rows;
}

static inline struct hub_rows var_rows(uint64_t count, const char *data, uint64_t *offsets)
{
    return (struct hub_rows){.variant = {.kind = HUB_KIND_VAR},
                             .rows = count,
                             .data = (uint8_t *)(uintptr_t)data,
                             .offsets = offsets};
}

#endif
