/*
 * Chunk indexes of layout version 4 (files written with libver='latest'): single chunk, implicit, fixed
 * array, extensible array, B-tree of version 2. All become the same dense table. Array entries: address, and
 * with filters stored size and mask.
 *
 *   "FAHD", "FADB":                 header, data block (paged over 2^bits entries; a bitmap says which pages
 *                                   were written)
 *   "EAHD", "EAIB", "EASB", "EADB": header, index block, super blocks, data blocks of doubling sizes
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { INDEX_SINGLE = 1, INDEX_IMPLICIT, INDEX_FIXED, INDEX_EXTENSIBLE, INDEX_TREE };

struct entries {
    struct hub_h5 *file;
    const struct hub_h5_dataset *dataset;
    struct h5_grid *grid;
    uint32_t axis;       /* extensible: the unlimited axis, counted first */
    uint64_t total;      /* entries worth visiting */
    unsigned entry;      /* bytes of one */
    unsigned page_items; /* entries of a page */
    bool filtered;
};

static bool at_edge(const struct h5_grid *g, const struct hub_h5_dataset *d, const uint64_t *scaled)
{
    for (uint32_t i = 0; i < g->rank; i++)
        if ((scaled[i] + 1) * g->chunk[i] > d->dims[i])
            return true;
    return false;
}

/* Put a chunk, with the mask of filters that were left out on edge chunks (layout flag 1). */
static enum hub_status put(struct entries *w, const uint64_t *scaled, uint64_t address, uint64_t size,
                           uint32_t mask, struct hub_error *err)
{
    if (w->dataset->pipeline.count && w->dataset->layout_flags & 1 && at_edge(w->grid, w->dataset, scaled)) {
        mask = (1u << w->dataset->pipeline.count) - 1;
        size = w->grid->chunk_bytes;
    }
    return h5_grid_put(w->file, w->grid, scaled, address, size, mask, err);
}

/* The chunk of entry `number`: row-major over the maximal extent, the unlimited axis first. */
static bool chunk_at(const struct entries *w, uint64_t number, uint64_t *scaled)
{
    const struct h5_grid *g = w->grid;
    for (uint32_t i = g->rank; i-- > 0;) {
        /* order of axes in the index: axis, 0, 1, ... without axis */
        const uint32_t k = i == 0 ? w->axis : i <= w->axis ? i - 1 : i;
        if (i == 0) {
            scaled[k] = number;
            break;
        }
        if (g->max_along[k] == 0)
            return false;
        scaled[k] = number % g->max_along[k];
        number /= g->max_along[k];
    }
    return true;
}

/* Entries first .. first+count-1 lie at an address. */
static enum hub_status take(struct entries *w, uint64_t address, uint64_t first, uint64_t count,
                            struct hub_error *err)
{
    if (first >= w->total)
        return HUB_OK;
    count = HUB_MIN(count, w->total - first);
    for (uint64_t i = 0; i < count; i++) {
        uint8_t bytes[24];
        HUB_TRY(h5_get(w->file, address + i * w->entry, bytes, w->entry, err));
        struct hub_cursor c = hub_cursor_of(bytes, w->entry);
        const uint64_t at = h5_offset(w->file, &c);
        const uint64_t size =
            w->filtered ? hub_cursor_uint(&c, w->entry - w->file->offset_size - 4) : w->grid->chunk_bytes;
        const uint32_t mask = w->filtered ? hub_cursor_u32(&c) : 0;
        uint64_t scaled[HUB_MAX_RANK];
        if (at != H5_UNDEFINED && chunk_at(w, first + i, scaled))
            HUB_TRY(put(w, scaled, at, size, mask, err));
    }
    return HUB_OK;
}

/* Entries worth visiting: those up to the last chunk of the current extent. */
static bool count_entries(struct entries *w)
{
    const struct h5_grid *g = w->grid;
    uint64_t inner = 1;
    for (uint32_t i = 0; i < g->rank; i++) {
        if (i == w->axis)
            continue;
        if (g->max_along[i] == UINT64_MAX || (g->max_along[i] && inner > UINT64_MAX / g->max_along[i]))
            return false;
        inner *= g->max_along[i];
    }
    if (inner && g->along[w->axis] > UINT64_MAX / inner)
        return false;
    w->total = inner * g->along[w->axis];
    return true;
}

static enum hub_status check_entry(struct entries *w, uint8_t client, uint8_t entry, struct hub_error *err)
{
    const unsigned o = w->file->offset_size;
    w->filtered = client == 1;
    w->entry = entry;
    if (client > 1 || (client == 0 ? entry != o : entry < o + 5 || entry > o + 12) || entry > 24)
        return hub_fail(err, HUB_CORRUPT, "chunk entries of %u bytes", entry);
    if (w->total > 4 * (uint64_t)H5_MAX_CHUNKS)
        return hub_fail(err, HUB_TOO_BIG, "a chunk index of %" PRIu64 " entries", w->total);
    return HUB_OK;
}

static bool bit(const uint8_t *bits, uint64_t i)
{
    return bits[i / 8] >> (7 - i % 8) & 1;
}

/* Pages of a block lie one behind the other, each with a checksum, whether they were written or not. `bits`
 * says which were. */
static enum hub_status take_pages(struct entries *w, uint64_t address, uint64_t bits, uint64_t first,
                                  uint64_t count, struct hub_error *err)
{
    const uint64_t pages = (count + w->page_items - 1) / w->page_items;
    for (uint64_t i = 0; i < pages && first + i * w->page_items < w->total; i++) {
        uint8_t byte;
        HUB_TRY(h5_get(w->file, bits + i / 8, &byte, 1, err));
        if (!bit(&byte, i % 8))
            continue;
        const uint64_t page = address + i * ((uint64_t)w->page_items * w->entry + 4),
                       items = HUB_MIN(count - i * w->page_items, w->page_items);
        HUB_TRY(h5_verify(w->file, "chunk index page", page, items * w->entry, err));
        HUB_TRY(take(w, page, first + i * w->page_items, items, err));
    }
    return HUB_OK;
}

/* A block of this kind, whose checksum stands behind `size` bytes. */
static enum hub_status expect(struct hub_h5 *file, uint64_t address, const char *magic, uint64_t size,
                              struct hub_error *err)
{
    uint8_t head[4];
    HUB_TRY(h5_count_node(file, err));
    HUB_TRY(h5_get(file, address, head, sizeof head, err));
    if (memcmp(head, magic, 4) != 0)
        return hub_fail(err, HUB_CORRUPT, "no %s block at address %" PRIu64, magic, address);
    return h5_verify(file, "chunk index", address, size, err);
}

static enum hub_status walk_fixed(struct entries *w, uint64_t address, struct hub_error *err)
{
    const unsigned o = w->file->offset_size;
    uint8_t bytes[8 + 8 + 8];
    const size_t size = 8u + w->file->length_size + o;
    HUB_TRY(expect(w->file, address, "FAHD", size, err));
    HUB_TRY(h5_get(w->file, address, bytes, size, err));
    struct hub_cursor c = hub_cursor_of(bytes + 5, size - 5);
    const uint8_t client = hub_cursor_u8(&c), entry = hub_cursor_u8(&c), page_bits = hub_cursor_u8(&c);
    const uint64_t count = h5_length(w->file, &c), block = h5_offset(w->file, &c);
    HUB_TRY(check_entry(w, client, entry, err));
    if (page_bits == 0 || page_bits > 31)
        return hub_fail(err, HUB_CORRUPT, "index pages of 2^%u entries", page_bits);
    if (block == H5_UNDEFINED)
        return HUB_OK;
    w->page_items = 1u << page_bits;
    const uint64_t start = block + 6 + o;
    if (count > UINT64_MAX / 2 / w->entry)
        return hub_fail(err, HUB_CORRUPT, "a chunk index of %" PRIu64 " entries", count);
    const uint64_t pages = count <= w->page_items ? 0 : (count + w->page_items - 1) / w->page_items;
    HUB_TRY(expect(w->file, block, "FADB", 6u + o + (pages ? (pages + 7) / 8 : count * w->entry), err));
    if (pages == 0)
        return take(w, start, 0, count, err);
    return take_pages(w, start + (pages + 7) / 8 + 4, start, 0, count, err);
}

/* The shape of an extensible array, from its header. */
struct extensible {
    uint8_t max_bits, index_items, block_items, min_pointers, page_bits;
    unsigned offset_bytes;
    uint64_t index_block;
};

static enum hub_status take_data_block(struct entries *w, const struct extensible *x, uint64_t address,
                                       uint64_t first, uint64_t items, uint64_t bits, struct hub_error *err)
{
    if (address == H5_UNDEFINED || first >= w->total)
        return HUB_OK;
    const unsigned head = 6u + w->file->offset_size + x->offset_bytes;
    const uint64_t start = address + head;
    HUB_TRY(expect(w->file, address, "EADB", head + (items <= w->page_items ? items * w->entry : 0), err));
    if (items <= w->page_items)
        return take(w, start, first, items, err);
    return take_pages(w, start + 4, bits, first, items, err);
}

static enum hub_status get_address(struct hub_h5 *file, uint64_t at, uint64_t *out, struct hub_error *err)
{
    uint8_t bytes[8];
    HUB_TRY(h5_get(file, at, bytes, file->offset_size, err));
    struct hub_cursor c = hub_cursor_of(bytes, file->offset_size);
    *out = h5_offset(file, &c);
    return HUB_OK;
}

/* Super block u holds 2^(u/2) data blocks of 2^((u+1)/2) * block_items entries. */
static enum hub_status take_super_block(struct entries *w, const struct extensible *x, uint64_t address,
                                        uint64_t first, uint64_t blocks, uint64_t items,
                                        struct hub_error *err)
{
    if (address == H5_UNDEFINED)
        return HUB_OK;
    const uint64_t bits = address + 6 + w->file->offset_size + x->offset_bytes;
    const uint64_t bit_bytes = items > w->page_items ? (items / w->page_items + 7) / 8 : 0;
    const uint64_t table = bits + blocks * bit_bytes;
    HUB_TRY(expect(w->file, address, "EASB", table - address + blocks * w->file->offset_size, err));
    for (uint64_t i = 0; i < blocks && first + i * items < w->total; i++) {
        uint64_t block;
        HUB_TRY(get_address(w->file, table + i * w->file->offset_size, &block, err));
        HUB_TRY(take_data_block(w, x, block, first + i * items, items, bits + i * bit_bytes, err));
    }
    return HUB_OK;
}

static enum hub_status parse_extensible(struct entries *w, uint64_t address, struct extensible *x,
                                        struct hub_error *err)
{
    uint8_t bytes[12 + 6 * 8 + 8];
    const size_t size = 12u + 6u * w->file->length_size + w->file->offset_size;
    HUB_TRY(expect(w->file, address, "EAHD", size, err));
    HUB_TRY(h5_get(w->file, address, bytes, size, err));
    struct hub_cursor c = hub_cursor_of(bytes + 5, size - 5);
    const uint8_t client = hub_cursor_u8(&c), entry = hub_cursor_u8(&c);
    x->max_bits = hub_cursor_u8(&c);
    x->index_items = hub_cursor_u8(&c);
    x->block_items = hub_cursor_u8(&c);
    x->min_pointers = hub_cursor_u8(&c);
    x->page_bits = hub_cursor_u8(&c);
    hub_cursor_skip(&c, 6u * w->file->length_size);
    x->index_block = h5_offset(w->file, &c);
    x->offset_bytes = (x->max_bits + 7u) / 8;
    const bool powers = x->block_items && !(x->block_items & (x->block_items - 1)) && x->min_pointers > 1 &&
                        !(x->min_pointers & (x->min_pointers - 1));
    if (!powers || x->max_bits > 63 || x->page_bits > 31)
        return hub_fail(err, HUB_CORRUPT, "an extensible array of impossible geometry");
    w->page_items = 1u << x->page_bits;
    return check_entry(w, client, entry, err);
}

/* Its checksum stands behind this many bytes. */
static uint64_t index_block_bytes(const struct entries *w, const struct extensible *x)
{
    const unsigned first = (unsigned)__builtin_ctz(x->block_items),
                   direct = (unsigned)__builtin_ctz(x->min_pointers);
    const unsigned blocks = 1u + x->max_bits - HUB_MIN(first, (unsigned)x->max_bits);
    const uint64_t addresses = 2u * (x->min_pointers - 1u) + (blocks > 2 * direct ? blocks - 2 * direct : 0);
    return 6u + w->file->offset_size + (uint64_t)x->index_items * w->entry + addresses * w->file->offset_size;
}

/* Index block: its own entries, addresses of the data blocks of the first super blocks, then of the other
 * super blocks. */
static enum hub_status walk_extensible(struct entries *w, uint64_t address, struct hub_error *err)
{
    struct extensible x = {0};
    HUB_TRY(parse_extensible(w, address, &x, err));
    if (x.index_block == H5_UNDEFINED)
        return HUB_OK;
    HUB_TRY(expect(w->file, x.index_block, "EAIB", index_block_bytes(w, &x), err));
    uint64_t at = x.index_block + 6 + w->file->offset_size, first = x.index_items;
    HUB_TRY(take(w, at, 0, x.index_items, err));
    at += (uint64_t)x.index_items * w->entry;
    const unsigned direct = 2 * (unsigned)__builtin_ctz(x.min_pointers);
    for (unsigned u = 0; first < w->total && u <= x.max_bits; u++) {
        const uint64_t blocks = UINT64_C(1) << (u / 2), items = (uint64_t)x.block_items << ((u + 1) / 2);
        uint64_t child;
        for (uint64_t i = 0; u < direct && i < blocks && first + i * items < w->total; i++) {
            HUB_TRY(get_address(w->file, at + i * w->file->offset_size, &child, err));
            HUB_TRY(take_data_block(w, &x, child, first + i * items, items, 0, err));
        }
        if (u >= direct) {
            HUB_TRY(get_address(w->file, at, &child, err));
            HUB_TRY(take_super_block(w, &x, child, first, blocks, items, err));
        }
        at += (u < direct ? blocks : 1) * w->file->offset_size;
        first += blocks * items;
    }
    return HUB_OK;
}

static enum hub_status walk_implicit(struct entries *w, uint64_t address, struct hub_error *err)
{
    if (w->total > 4 * (uint64_t)H5_MAX_CHUNKS)
        return hub_fail(err, HUB_TOO_BIG, "a chunk index of %" PRIu64 " entries", w->total);
    for (uint64_t i = 0; i < w->total; i++) {
        uint64_t scaled[HUB_MAX_RANK];
        if (chunk_at(w, i, scaled))
            HUB_TRY(h5_grid_put(w->file, w->grid, scaled, address + i * w->grid->chunk_bytes,
                                w->grid->chunk_bytes, 0, err));
    }
    return HUB_OK;
}

/* Record: address, [stored size, mask], position in chunks u64 along each axis */
static enum hub_status take_record(void *user, struct hub_cursor *record, struct hub_error *err)
{
    struct entries *w = user;
    const unsigned places = 8 * w->grid->rank, o = w->file->offset_size,
                   whole = (unsigned)hub_cursor_left(record);
    const uint64_t address = h5_offset(w->file, record);
    uint64_t size = w->grid->chunk_bytes, scaled[HUB_MAX_RANK];
    uint32_t mask = 0;
    if (w->filtered) {
        size = whole > o + 4 + places ? hub_cursor_uint(record, whole - o - 4 - places) : 0;
        mask = hub_cursor_u32(record);
    }
    for (uint32_t i = 0; i < w->grid->rank; i++)
        scaled[i] = hub_cursor_u64(record);
    if (record->failed)
        return hub_fail(err, HUB_CORRUPT, "a chunk record is too short");
    return put(w, scaled, address, size, mask, err);
}

enum hub_status h5_index_chunks(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                struct h5_grid *grid, struct hub_error *err)
{
    struct entries w = {
        .file = file, .dataset = dataset, .grid = grid, .filtered = dataset->pipeline.count > 0};
    for (uint32_t i = 0; dataset->index == INDEX_EXTENSIBLE && i < grid->rank; i++)
        if (grid->max_along[i] == UINT64_MAX)
            w.axis = i;
    if (dataset->index != INDEX_TREE && dataset->index != INDEX_SINGLE && !count_entries(&w))
        return hub_fail(err, HUB_CORRUPT, "a chunk index that does not match the extent");
    switch (dataset->index) {
    case INDEX_SINGLE: {
        const uint64_t origin[HUB_MAX_RANK] = {0};
        const bool sized = dataset->layout_flags & 2;
        return put(&w, origin, dataset->data, sized ? dataset->single_size : grid->chunk_bytes,
                   sized ? dataset->single_mask : 0, err);
    }
    case INDEX_IMPLICIT:
        return walk_implicit(&w, dataset->data, err);
    case INDEX_FIXED:
        return walk_fixed(&w, dataset->data, err);
    case INDEX_EXTENSIBLE:
        return walk_extensible(&w, dataset->data, err);
    case INDEX_TREE:
        return h5_btree2_walk(file, dataset->data, w.filtered ? 11 : 10, NULL, take_record, &w, err);
    default:
        return hub_fail(err, HUB_UNSUPPORTED, "chunk index of kind %u", dataset->index);
    }
}
