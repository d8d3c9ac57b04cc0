/*
 * Fractal heaps: where dense links and attributes lie. An id names a managed object (offset in the heap's own
 * space), a huge one (through a tree of its own) or a tiny one (in the id itself). Blocks double in size from
 * row to row.
 *
 *   direct block   "FHDB", 0, heap, offset, [checksum], objects
 *   indirect block "FHIB", 0, heap, offset, child addresses
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>

enum { MAX_ROWS = 64, MAX_NESTING = 8 };

static unsigned log2_of(uint64_t value)
{
    unsigned n = 0;
    while (value >>= 1)
        n++;
    return n;
}

static bool power_of_two(uint64_t value)
{
    return value && !(value & (value - 1));
}

enum hub_status h5_fractal_open(struct hub_h5 *file, uint64_t address, struct h5_fractal *out,
                                struct hub_error *err)
{
    uint8_t bytes[22 + 3 * 8 + 12 * 8];
    const unsigned o = file->offset_size, l = file->length_size;
    const size_t size = 22u + 12u * l + 3u * o;
    HUB_TRY(h5_get(file, address, bytes, size, err));
    struct hub_cursor c = hub_cursor_of(bytes, size);
    struct h5_fractal h = {.address = address};
    hub_cursor_skip(&c, 5);
    h.id_length = hub_cursor_u16(&c);
    h.filter_length = hub_cursor_u16(&c);
    h.flags = hub_cursor_u8(&c);
    h.max_managed = hub_cursor_u32(&c);
    h5_length(file, &c); /* next huge id */
    h.huge_tree = h5_offset(file, &c);
    hub_cursor_skip(&c, l + o + 8u * l); /* free space; sizes and counts of what is there */
    h.width = hub_cursor_u16(&c);
    h.start_size = h5_length(file, &c);
    h.max_direct = h5_length(file, &c);
    h.max_bits = hub_cursor_u16(&c);
    hub_cursor_skip(&c, 2);
    h.root = h5_offset(file, &c);
    h.root_rows = hub_cursor_u16(&c);
    if (memcmp(bytes, "FRHP", 4) != 0 || c.failed)
        return hub_fail(err, HUB_CORRUPT, "no fractal heap at address %" PRIu64, address);
    HUB_TRY(h5_verify(file, "heap header", address, size + (h.filter_length ? l + 4u + h.filter_length : 0),
                      err));
    if (!power_of_two(h.width) || !power_of_two(h.start_size) || !power_of_two(h.max_direct) ||
        h.max_direct < h.start_size || h.max_direct > UINT32_MAX || h.max_bits == 0 || h.max_bits > 64 ||
        h.id_length < 1 || h.id_length > 64)
        return hub_fail(err, HUB_CORRUPT, "a fractal heap of impossible geometry");
    if (h.filter_length)
        return hub_fail(err, HUB_UNSUPPORTED, "a filtered fractal heap");
    h.offset_bytes = (uint8_t)((h.max_bits + 7) / 8);
    h.length_bytes =
        (uint8_t)HUB_MIN((log2_of(h.max_direct) + 7) / 8, log2_of(HUB_MAX(h.max_managed, 1)) / 8 + 1);
    *out = h;
    return HUB_OK;
}

static uint64_t row_block(const struct h5_fractal *h, unsigned row)
{
    return row < 2 ? h->start_size : h->start_size << (row - 1);
}

static enum hub_status read_object(struct hub_h5 *file, uint64_t address, uint64_t size, struct hub_buf *out,
                                   struct hub_error *err)
{
    uint64_t offset = 0;
    HUB_TRY(h5_locate(file, address, size, &offset, err));
    out->size = 0;
    if (size > out->limit)
        return hub_fail(err, HUB_TOO_BIG, "a heap object of %" PRIu64 " bytes", size);
    HUB_TRY(hub_buf_reserve(out, (size_t)size, err));
    HUB_TRY(h5_get_raw(file, offset, out->data, (size_t)size, err));
    out->size = (size_t)size;
    return HUB_OK;
}

/* Which entry of an indirect block of `rows` rows covers heap offset `at` (within the block): its number,
 * start and block size. */
static bool find_entry(const struct h5_fractal *h, unsigned rows, uint64_t at, uint64_t *entry,
                       uint64_t *start, unsigned *row)
{
    uint64_t begin = 0;
    for (unsigned r = 0; r < rows && r < MAX_ROWS; r++) {
        const uint64_t block = row_block(h, r);
        if (block > UINT64_MAX / 2 / h->width)
            return false;
        if (at - begin < block * h->width) {
            const uint64_t column = (at - begin) / block;
            *entry = (uint64_t)r * h->width + column;
            *start = begin + column * block;
            *row = r;
            return true;
        }
        begin += block * h->width;
    }
    return false;
}

/* The direct block that holds heap offset `at`: its address, start and size. */
static enum hub_status find_block(struct hub_h5 *file, const struct h5_fractal *h, uint64_t at,
                                  uint64_t *address, uint64_t *start, uint64_t *size, struct hub_error *err)
{
    uint64_t block = h->root, base = 0;
    unsigned rows = h->root_rows;
    const unsigned direct_rows = log2_of(h->max_direct) - log2_of(h->start_size) + 2;
    if (rows == 0) {
        *address = block;
        *start = 0;
        *size = h->start_size;
        return HUB_OK;
    }
    for (unsigned nesting = 0; nesting < MAX_NESTING; nesting++) {
        uint64_t entry, begin;
        unsigned row;
        uint8_t bytes[8], head[4];
        if (!find_entry(h, rows, at - base, &entry, &begin, &row))
            return hub_fail(err, HUB_CORRUPT, "a heap object is beyond its heap");
        HUB_TRY(h5_count_node(file, err));
        HUB_TRY(h5_get(file, block, head, sizeof head, err));
        if (memcmp(head, "FHIB", 4) != 0)
            return hub_fail(err, HUB_CORRUPT, "no heap block at address %" PRIu64, block);
        HUB_TRY(h5_verify(
            file, "heap block", block,
            5u + file->offset_size + h->offset_bytes + (uint64_t)rows * h->width * file->offset_size, err));
        const uint64_t table = block + 5 + file->offset_size + h->offset_bytes;
        HUB_TRY(h5_get(file, table + entry * file->offset_size, bytes, file->offset_size, err));
        struct hub_cursor c = hub_cursor_of(bytes, file->offset_size);
        block = h5_offset(file, &c);
        base += begin;
        if (row < direct_rows) {
            *address = block;
            *start = base;
            *size = row_block(h, row);
            return HUB_OK;
        }
        rows = log2_of(row_block(h, row)) - log2_of(h->start_size * h->width) + 1;
    }
    return hub_fail(err, HUB_CORRUPT, "a fractal heap is nested too deeply");
}

static enum hub_status get_managed(struct hub_h5 *file, const struct h5_fractal *h, struct hub_cursor *c,
                                   struct hub_buf *out, struct hub_error *err)
{
    const uint64_t at = hub_cursor_uint(c, h->offset_bytes), size = hub_cursor_uint(c, h->length_bytes);
    uint64_t address = 0, start = 0, block = 0;
    uint8_t head[4];
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a heap id is cut short");
    HUB_TRY(find_block(file, h, at, &address, &start, &block, err));
    if (at < start || at - start > block || size > block - (at - start))
        return hub_fail(err, HUB_CORRUPT, "a heap object is beyond its block");
    HUB_TRY(h5_get(file, address, head, sizeof head, err));
    if (memcmp(head, "FHDB", 4) != 0)
        return hub_fail(err, HUB_CORRUPT, "no heap block at address %" PRIu64, address);
    if (h->flags & 2)
        HUB_TRY(h5_verify_around(file, "heap block", address, block,
                                 (size_t)5 + file->offset_size + h->offset_bytes, err));
    return read_object(file, address + (at - start), size, out, err);
}

struct huge {
    struct hub_h5 *file;
    uint64_t id, address, size;
    bool found;
};

/* Record of the tree of huge objects: address, length, id */
static enum hub_status match_huge(void *user, struct hub_cursor *record, struct hub_error *err)
{
    struct huge *w = user;
    const uint64_t address = h5_offset(w->file, record), size = h5_length(w->file, record),
                   id = h5_length(w->file, record);
    if (record->failed)
        return hub_fail(err, HUB_CORRUPT, "a record of a huge object is too short");
    if (id == w->id) {
        w->address = address;
        w->size = size;
        w->found = true;
    }
    return HUB_OK;
}

static enum hub_status get_huge(struct hub_h5 *file, const struct h5_fractal *h, struct hub_cursor *c,
                                struct hub_buf *out, struct hub_error *err)
{
    struct huge w = {.file = file};
    if (hub_cursor_left(c) >= (size_t)file->offset_size + file->length_size) {
        w.address = h5_offset(file, c);
        w.size = h5_length(file, c);
    } else {
        w.id = hub_cursor_uint(c, HUB_MIN((unsigned)hub_cursor_left(c), file->length_size));
        HUB_TRY(h5_btree2_walk(file, h->huge_tree, 1, NULL, match_huge, &w, err));
        if (!w.found)
            return hub_fail(err, HUB_CORRUPT, "a huge object is not in its index");
    }
    return read_object(file, w.address, w.size, out, err);
}

enum hub_status h5_fractal_get(struct hub_h5 *file, const struct h5_fractal *heap, const uint8_t *id,
                               struct hub_buf *out, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(id, heap->id_length);
    const uint8_t flags = hub_cursor_u8(&c);
    switch (flags & 0xF0) {
    case 0x00:
        return get_managed(file, heap, &c, out, err);
    case 0x10:
        return get_huge(file, heap, &c, out, err);
    case 0x20: {
        const size_t size = (flags & 15u) + 1;
        const uint8_t *bytes = hub_cursor_bytes(&c, size);
        out->size = 0;
        return bytes ? hub_buf_add(out, bytes, size, err)
                     : hub_fail(err, HUB_CORRUPT, "a heap id is cut short");
    }
    default:
        return hub_fail(err, HUB_UNSUPPORTED, "heap id of kind 0x%02x", flags);
    }
}
