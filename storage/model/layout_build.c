/* Building a layout: growing tables, equal geometry interned through a small hash, written out as one blob at
 * the end. */
#include "storage/base/order.h"
#include "storage/model/layout_table.h"

#include <assert.h>
#include <stdlib.h>

struct record_table {
    uint8_t *data;
    uint32_t count, capacity;
    uint32_t *slots; /* interned tables only: index + 1, or 0 */
    uint32_t slot_count;
};

struct hub_layout_builder {
    struct record_table tables[HUB_T_COUNT];
    size_t size, limit;
};

enum hub_status hub_layout_builder_new(size_t limit_bytes, struct hub_layout_builder **out,
                                       struct hub_error *err)
{
    struct hub_layout_builder *b = calloc(1, sizeof *b);
    HUB_TRY(hub_allocated(b, err));
    b->limit = HUB_MIN(limit_bytes, HUB_MAX_LAYOUT_BYTES);
    b->size = sizeof(struct hub_layout_head) + HUB_T_COUNT * 8;
    *out = b;
    return HUB_OK;
}

void hub_layout_builder_free(struct hub_layout_builder *b)
{
    if (!b)
        return;
    for (unsigned t = 0; t < HUB_T_COUNT; t++) {
        free(b->tables[t].data);
        free(b->tables[t].slots);
    }
    free(b);
}

static enum hub_status append(struct hub_layout_builder *b, unsigned t, const void *entries, uint32_t count,
                              uint32_t *index, struct hub_error *err)
{
    struct record_table *table = &b->tables[t];
    const size_t entry = hub_layout_entry_bytes[t], bytes = count * entry;
    if (bytes > b->limit || b->size > b->limit - bytes || count >= HUB_NONE - table->count)
        return hub_fail(err, HUB_TOO_BIG,
                        "too many pieces: their positions take more than %zu MiB; write larger chunks",
                        b->limit / MIB);
    if (!table->data || table->count + count > table->capacity) {
        const uint64_t want = HUB_MAX((uint64_t)table->count + count, (uint64_t)table->capacity * 2);
        const uint32_t capacity = (uint32_t)HUB_MIN(HUB_MAX(want, 8), HUB_NONE);
        uint8_t *data = realloc(table->data, capacity * entry);
        HUB_TRY(hub_allocated(data, err));
        table->data = data;
        table->capacity = capacity;
    }
    if (bytes)
        memcpy(table->data + table->count * entry, entries, bytes);
    if (index)
        *index = table->count;
    table->count += count;
    b->size += bytes;
    return HUB_OK;
}

static uint32_t hash_of(const void *data, size_t size)
{
    const uint64_t h = hub_hash(HUB_HASH_START, data, size);
    return (uint32_t)(h ^ h >> 32);
}

static enum hub_status grow_slots(struct record_table *table, size_t entry, struct hub_error *err)
{
    const uint32_t slot_count = table->slot_count ? table->slot_count * 2 : 16;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    HUB_TRY(hub_allocated(slots, err));
    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t at = hash_of(table->data + i * entry, entry) & (slot_count - 1);
        while (slots[at])
            at = (at + 1) & (slot_count - 1);
        slots[at] = i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    return HUB_OK;
}

static enum hub_status intern(struct hub_layout_builder *b, unsigned t, const void *entry, uint32_t *index,
                              struct hub_error *err)
{
    struct record_table *table = &b->tables[t];
    const size_t bytes = hub_layout_entry_bytes[t];
    if (table->count >= table->slot_count / 2)
        HUB_TRY(grow_slots(table, bytes, err));
    uint32_t at = hash_of(entry, bytes) & (table->slot_count - 1);
    for (; table->slots[at]; at = (at + 1) & (table->slot_count - 1)) {
        const uint32_t i = table->slots[at] - 1;
        if (memcmp(table->data + i * bytes, entry, bytes) == 0) {
            *index = i;
            return HUB_OK;
        }
    }
    HUB_TRY(append(b, t, entry, 1, index, err));
    table->slots[at] = *index + 1;
    return HUB_OK;
}

enum hub_status hub_layout_variant(struct hub_layout_builder *b, const struct hub_variant *variant,
                                   uint32_t *index, struct hub_error *err)
{
    struct hub_variant v = *variant;
    if (v.item_size <= 1 || v.kind == HUB_KIND_FIXED)
        v.big_endian = 0; /* one spelling of what has no byte order */
    for (unsigned i = v.rank; i < HUB_MAX_RANK; i++)
        v.dims[i] = 0;
    if (!hub_variant_valid(&v))
        return hub_fail(err, HUB_INVALID, "layout: impossible element type or shape");
    return intern(b, HUB_T_VARIANTS, &v, index, err);
}

enum hub_status hub_layout_pipeline(struct hub_layout_builder *b, const struct hub_pipeline *pipeline,
                                    uint32_t *index, struct hub_error *err)
{
    if (pipeline->count > HUB_MAX_FILTERS)
        return hub_fail(err, HUB_INVALID, "layout: %u filters", pipeline->count);
    return intern(b, HUB_T_PIPELINES, pipeline, index, err);
}

enum hub_status hub_layout_grid(struct hub_layout_builder *b, const struct hub_grid *grid, uint32_t *index,
                                struct hub_error *err)
{
    return intern(b, HUB_T_GRIDS, grid, index, err);
}

enum hub_status hub_layout_column(struct hub_layout_builder *b, const struct hub_column *column,
                                  uint32_t *index, struct hub_error *err)
{
    return intern(b, HUB_T_COLUMNS, column, index, err);
}

enum hub_status hub_layout_chunks(struct hub_layout_builder *b, const struct hub_chunk *chunks,
                                  uint32_t count, uint32_t *index, struct hub_error *err)
{
    return append(b, HUB_T_CHUNKS, chunks, count, index, err);
}

enum hub_status hub_layout_extents(struct hub_layout_builder *b, const struct hub_extent *extents,
                                   uint32_t count, uint32_t *index, struct hub_error *err)
{
    return append(b, HUB_T_EXTENTS, extents, count, index, err);
}

enum hub_status hub_layout_pages(struct hub_layout_builder *b, const struct hub_page *pages, uint32_t count,
                                 uint32_t *index, struct hub_error *err)
{
    return append(b, HUB_T_PAGES, pages, count, index, err);
}

enum hub_status hub_layout_strides(struct hub_layout_builder *b, const int64_t *strides, uint32_t count,
                                   uint32_t *index, struct hub_error *err)
{
    return append(b, HUB_T_STRIDES, strides, count, index, err);
}

enum hub_status hub_layout_bytes(struct hub_layout_builder *b, const void *data, uint32_t size,
                                 uint32_t *offset, struct hub_error *err)
{
    return append(b, HUB_T_BYTES, data, size, offset, err);
}

enum hub_status hub_layout_array(struct hub_layout_builder *b, uint32_t variant, uint32_t *index,
                                 struct hub_error *err)
{
    if (variant >= b->tables[HUB_T_VARIANTS].count)
        return hub_fail(err, HUB_INVALID, "layout: array of an unknown variant");
    const struct hub_array array = {.variant = variant, .first_piece = b->tables[HUB_T_PIECES].count};
    return append(b, HUB_T_ARRAYS, &array, 1, index, err);
}

enum hub_status hub_layout_array_of(struct hub_layout_builder *b, const struct hub_variant *variant,
                                    uint32_t *index, struct hub_error *err)
{
    uint32_t number;
    HUB_TRY(hub_layout_variant(b, variant, &number, err));
    return hub_layout_array(b, number, index, err);
}

void hub_layout_scalar(struct hub_layout_builder *b, uint32_t array)
{
    const struct record_table *arrays = &b->tables[HUB_T_ARRAYS];
    assert(array < arrays->count);
    ((struct hub_array *)(void *)arrays->data)[array].flags = HUB_ARRAY_SCALAR;
}

enum hub_status hub_layout_piece(struct hub_layout_builder *b, const struct hub_piece *piece,
                                 struct hub_error *err)
{
    const struct record_table *arrays = &b->tables[HUB_T_ARRAYS];
    if (!arrays->count)
        return hub_fail(err, HUB_INVALID, "layout: piece before any array");
    struct hub_array *array = (struct hub_array *)(void *)arrays->data + (arrays->count - 1);
    if (piece->rows > HUB_MAX_ROWS || array->rows > HUB_MAX_ROWS - piece->rows)
        return hub_fail(err, HUB_TOO_BIG, "layout: more than 2^48 rows");
    struct hub_piece own = *piece;
    own.first_row = array->rows;
    HUB_TRY(append(b, HUB_T_PIECES, &own, 1, NULL, err));
    array->rows += own.rows;
    array->piece_count++;
    return HUB_OK;
}

enum hub_status hub_layout_add_window(struct hub_layout_builder *b, const struct hub_window *window,
                                      struct hub_error *err)
{
    return append(b, HUB_T_WINDOWS, window, 1, NULL, err);
}

enum hub_status hub_layout_refuse(struct hub_layout_builder *b, uint32_t episode, struct hub_view why,
                                  struct hub_error *err)
{
    const struct record_table *windows = &b->tables[HUB_T_WINDOWS], *bytes = &b->tables[HUB_T_BYTES];
    struct hub_window own = {.episode = episode, .array = HUB_NONE, .count = why.size};
    const struct hub_window *last =
        windows->count ? (struct hub_window *)(void *)windows->data + (windows->count - 1) : NULL;
    uint32_t first;
    if (last && last->array == HUB_NONE && last->count == why.size && /* most are refused for one reason */
        memcmp(bytes->data + last->first, why.data, why.size) == 0) {
        own.first = last->first;
        return hub_layout_add_window(b, &own, err);
    }
    HUB_TRY(hub_layout_bytes(b, why.data, (uint32_t)why.size, &first, err));
    HUB_TRY(hub_layout_bytes(b, "", 1, NULL, err));
    own.first = first;
    return hub_layout_add_window(b, &own, err);
}

enum hub_status hub_layout_refuse_all(struct hub_layout_builder *b, struct hub_view why,
                                      struct hub_error *err)
{
    for (unsigned t = 0; t < HUB_T_COUNT; t++)
        if (t != HUB_T_WINDOWS) {
            b->size -= b->tables[t].count * (size_t)hub_layout_entry_bytes[t];
            b->tables[t].count = 0;
        }
    HUB_TRY(hub_layout_bytes(b, why.data, (uint32_t)why.size, NULL, err));
    HUB_TRY(hub_layout_bytes(b, "", 1, NULL, err));
    struct hub_window *windows = (struct hub_window *)(void *)b->tables[HUB_T_WINDOWS].data;
    for (uint32_t i = 0; i < b->tables[HUB_T_WINDOWS].count; i++)
        windows[i] = (struct hub_window){windows[i].episode, HUB_NONE, 0, why.size};
    return HUB_OK;
}

static enum hub_status sort_windows(const struct record_table *table, struct hub_error *err)
{
    struct hub_window *windows = (struct hub_window *)(void *)table->data;
    bool sorted = true;
    for (uint32_t i = 1; i < table->count; i++)
        sorted = sorted && windows[i - 1].episode < windows[i].episode;
    if (sorted)
        return HUB_OK;
    qsort(windows, table->count, sizeof *windows, hub_by_u32);
    for (uint32_t i = 1; i < table->count; i++)
        if (windows[i - 1].episode == windows[i].episode)
            return hub_fail(err, HUB_INVALID, "layout: two windows of episode %u", windows[i].episode);
    return HUB_OK;
}

enum hub_status hub_layout_finish(struct hub_layout_builder *b, void **data, size_t *size,
                                  struct hub_error *err)
{
    HUB_TRY(sort_windows(&b->tables[HUB_T_WINDOWS], err));
    struct hub_layout_head head = {.magic = HUB_LAYOUT_MAGIC};
    size_t end = sizeof head;
    for (unsigned t = 0; t < HUB_T_COUNT; t++) {
        head.table[t].offset = end;
        head.table[t].count = b->tables[t].count;
        end += (b->tables[t].count * (size_t)hub_layout_entry_bytes[t] + 7) & ~(size_t)7;
    }
    head.size = end;
    if (end > HUB_MAX_LAYOUT_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "layout of %zu bytes", end);
    uint8_t *blob = calloc(1, end);
    HUB_TRY(hub_allocated(blob, err));
    memcpy(blob, &head, sizeof head);
    for (unsigned t = 0; t < HUB_T_COUNT; t++)
        if (b->tables[t].count)
            memcpy(blob + head.table[t].offset, b->tables[t].data,
                   b->tables[t].count * (size_t)hub_layout_entry_bytes[t]);
    *data = blob;
    *size = end;
    return HUB_OK;
}
