/* Opening a layout blob in place: the tables are found and bounded here, everything in them is proved in
 * layout_check.c. */
#include "storage/model/layout.h"

#include "storage/base/order.h"
#include "storage/model/layout_table.h"

const uint32_t hub_layout_entry_bytes[HUB_T_COUNT] = {
    [HUB_T_VARIANTS] = sizeof(struct hub_variant), [HUB_T_PIPELINES] = sizeof(struct hub_pipeline),
    [HUB_T_GRIDS] = sizeof(struct hub_grid),       [HUB_T_ARRAYS] = sizeof(struct hub_array),
    [HUB_T_PIECES] = sizeof(struct hub_piece),     [HUB_T_CHUNKS] = sizeof(struct hub_chunk),
    [HUB_T_EXTENTS] = sizeof(struct hub_extent),   [HUB_T_COLUMNS] = sizeof(struct hub_column),
    [HUB_T_PAGES] = sizeof(struct hub_page),       [HUB_T_STRIDES] = sizeof(int64_t),
    [HUB_T_WINDOWS] = sizeof(struct hub_window),   [HUB_T_BYTES] = 1,
};

/* Where table `t` begins, or NULL when it does not lie inside the blob. */
static const void *find_table(const struct hub_layout_head *head, size_t size, unsigned t)
{
    const uint64_t offset = head->table[t].offset,
                   bytes = (uint64_t)head->table[t].count * hub_layout_entry_bytes[t];
    if (head->table[t].zero || offset % 8 || offset < sizeof *head || offset > size || bytes > size - offset)
        return NULL;
    return (const uint8_t *)head + offset;
}

/* The same of the windows when they lie elsewhere. */
static const void *find_apart(const struct hub_layout_head *head, const struct hub_view *windows)
{
    const uint64_t bytes = (uint64_t)head->table[HUB_T_WINDOWS].count * sizeof(struct hub_window);
    const bool fits = !head->table[HUB_T_WINDOWS].zero && bytes == windows->size;
    return fits && (uintptr_t)windows->data % 8 == 0 ? windows->data : NULL;
}

static enum hub_status find_tables(const void *data, size_t size, const struct hub_view *windows,
                                   struct hub_layout *out, struct hub_error *err)
{
    const struct hub_layout_head *head = data;
    if (!data || (uintptr_t)data % 8)
        return hub_fail(err, HUB_CORRUPT, "layout is not aligned");
    if (size < sizeof *head || size > HUB_MAX_LAYOUT_BYTES)
        return hub_fail(err, HUB_CORRUPT, "layout of %zu bytes", size);
    if (memcmp(head->magic, HUB_LAYOUT_MAGIC, 4) != 0 || !head->apart != !windows || head->size != size)
        return hub_fail(err, HUB_CORRUPT, "not a layout");

    const void *tables[HUB_T_COUNT];
    struct hub_layout layout = {.head = head, .size = size};
    for (unsigned t = 0; t < HUB_T_COUNT; t++) {
        tables[t] = windows && t == HUB_T_WINDOWS ? find_apart(head, windows) : find_table(head, size, t);
        if (!tables[t])
            return hub_fail(err, HUB_CORRUPT, "layout: table %u is out of bounds", t);
        layout.counts[t] = head->table[t].count;
    }
    layout.variants = tables[HUB_T_VARIANTS];
    layout.pipelines = tables[HUB_T_PIPELINES];
    layout.grids = tables[HUB_T_GRIDS];
    layout.arrays = tables[HUB_T_ARRAYS];
    layout.pieces = tables[HUB_T_PIECES];
    layout.chunks = tables[HUB_T_CHUNKS];
    layout.extents = tables[HUB_T_EXTENTS];
    layout.columns = tables[HUB_T_COLUMNS];
    layout.pages = tables[HUB_T_PAGES];
    layout.strides = tables[HUB_T_STRIDES];
    layout.windows = tables[HUB_T_WINDOWS];
    layout.bytes = tables[HUB_T_BYTES];
    *out = layout;
    return HUB_OK;
}

enum hub_status hub_layout_open(const void *data, size_t size, struct hub_layout *out, struct hub_error *err)
{
    return find_tables(data, size, NULL, out, err);
}

/* ---- windows apart ---- */

enum hub_status hub_layout_join(const void *data, size_t size, struct hub_view windows,
                                struct hub_layout *out, struct hub_error *err)
{
    return find_tables(data, size, &windows, out, err);
}

uint32_t hub_layout_apart(const void *data, size_t size)
{
    const struct hub_layout_head *head = data;
    return size >= sizeof *head ? head->apart : 0;
}

enum hub_status hub_layout_cut(const struct hub_layout *layout, uint32_t apart, struct hub_buf *out,
                               struct hub_error *err)
{
    const uint8_t *blob = (const uint8_t *)layout->head;
    const size_t at = (size_t)layout->head->table[HUB_T_WINDOWS].offset,
                 bytes = layout->counts[HUB_T_WINDOWS] * sizeof *layout->windows;
    struct hub_layout_head head = *layout->head;
    head.apart = apart;
    head.size -= bytes;
    head.table[HUB_T_WINDOWS].offset = 0;
    for (unsigned t = 0; t < HUB_T_COUNT; t++)
        if (head.table[t].offset > at)
            head.table[t].offset -= bytes;
    HUB_TRY(hub_buf_add(out, &head, sizeof head, err));
    HUB_TRY(hub_buf_add(out, blob + sizeof head, at - sizeof head, err));
    return hub_buf_add(out, blob + at + bytes, layout->size - at - bytes, err);
}

/* ---- reading ---- */

const struct hub_window *hub_layout_window(const struct hub_layout *layout, uint32_t episode)
{
    const uint32_t count = layout->counts[HUB_T_WINDOWS];
    /* mostly every episode has one */
    if (episode < count && layout->windows[episode].episode == episode)
        return &layout->windows[episode];
    return count ? bsearch(&episode, layout->windows, count, sizeof *layout->windows, hub_by_u32) : NULL;
}

const char *hub_layout_refusal(const struct hub_layout *layout, const struct hub_window *window)
{
    return window->array == HUB_NONE ? (const char *)layout->bytes + window->first : NULL;
}

const char *hub_layout_unreadable(const struct hub_layout *layout)
{
    for (uint32_t i = 0; i < layout->counts[HUB_T_WINDOWS]; i++)
        if (layout->windows[i].array != HUB_NONE)
            return NULL;
    return layout->counts[HUB_T_WINDOWS] ? hub_layout_refusal(layout, layout->windows) : NULL;
}
