/**
 * What the files share that prove a layout: what it is proved against, and the tests that each makes. See
 * layout_check.c.
 */
#ifndef HUB_MODEL_LAYOUT_PROOF_H
#define HUB_MODEL_LAYOUT_PROOF_H

#include "storage/model/layout_table.h"

#include <inttypes.h>

struct layout_check {
    const struct hub_layout *layout;
    const uint64_t *file_sizes;
    uint32_t file_count;
    uint64_t side_size;
    uint64_t chunks_seen, extents_seen, pages_seen;
    struct hub_error *err;
};

/** Refuse the layout: what is wrong, and its number in its table or its row. */
static inline enum hub_status hub_layout_disprove(const struct layout_check *c, const char *what,
                                                  uint64_t number)
{
    return hub_fail(c->err, HUB_CORRUPT, "layout: %s (%" PRIu64 ")", what, number);
}

/** Are `count` entries from `first` inside table t? */
static inline bool hub_layout_has(const struct layout_check *c, unsigned t, uint64_t first, uint64_t count)
{
    const uint64_t have = c->layout->counts[t];
    return first <= have && count <= have - first;
}

static inline bool hub_range_fits(uint64_t offset, uint64_t length, uint64_t size)
{
    return offset <= size && length <= size - offset;
}

/** Rows of varying length hold whole numbers, if they hold numbers. */
static inline bool hub_layout_whole_items(const struct hub_variant *v, uint64_t bytes)
{
    return !v->sequence || bytes % v->item_size == 0;
}

/** A column of Parquet: its codec, its type, its levels, its dictionary. */
HUB_MUST_USE enum hub_status hub_layout_check_column(const struct layout_check *c, uint32_t number);
/** A piece whose rows are values of pages. */
HUB_MUST_USE enum hub_status hub_layout_check_pages(struct layout_check *c, const struct hub_piece *p,
                                                    const struct hub_variant *v, uint64_t file_size);

#endif
