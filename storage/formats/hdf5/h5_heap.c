/*
 * Global heap collections, where variable-length items lie:
 *
 *   "GCOL", 1, 3 zeros, bytes, then objects up to the end or to index 0, which is free space
 *   object: index u16, references u16, 4 zeros, bytes, data padded to 8
 *
 * The library reads these without enough checks, which is where most damaged files crash it; so it never does
 * here. Recent collections are kept as tables.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_INDEX = 0xFFFF };

static enum hub_status keep(struct h5_collection *c, uint32_t index, struct hub_extent extent,
                            struct hub_error *err)
{
    if (index >= c->count) {
        uint32_t count = HUB_MAX(c->count, 16u);
        while (count <= index)
            count *= 2;
        struct hub_extent *grown = realloc(c->objects, count * sizeof *grown);
        HUB_TRY(hub_allocated(grown, err));
        memset(grown + c->count, 0, (count - c->count) * sizeof *grown);
        c->objects = grown;
        c->count = count;
    }
    if (c->objects[index].offset)
        return hub_fail(err, HUB_CORRUPT, "heap object %u occurs twice", index);
    c->objects[index] = extent;
    return HUB_OK;
}

/* Of a collection and of an object, padded like their data. */
static unsigned head_bytes(const struct hub_h5 *file)
{
    return (8u + file->length_size + 7) & ~7u;
}

static enum hub_status parse_objects(struct hub_h5 *file, uint64_t at, uint64_t end,
                                     struct h5_collection *out, struct hub_error *err)
{
    const unsigned head = head_bytes(file);
    while (end - at >= head) {
        uint8_t bytes[16];
        HUB_TRY(h5_get_raw(file, at, bytes, head, err));
        struct hub_cursor c = hub_cursor_of(bytes, head);
        const uint32_t index = hub_cursor_u16(&c);
        hub_cursor_skip(&c, 6);
        const uint64_t size = h5_length(file, &c);
        if (index == 0)
            return HUB_OK;
        at += head;
        if (size > end - at || size > UINT32_MAX)
            return hub_fail(err, HUB_CORRUPT, "heap object %u is longer than its heap", index);
        HUB_TRY(keep(out, index, (struct hub_extent){.offset = at, .length = (uint32_t)size}, err));
        at += HUB_MIN((size + 7) / 8 * 8, end - at);
    }
    return HUB_OK;
}

static enum hub_status parse_collection(struct hub_h5 *file, uint64_t address, struct h5_collection *out,
                                        struct hub_error *err)
{
    uint8_t bytes[16];
    const unsigned head = head_bytes(file);
    HUB_TRY(h5_count_node(file, err));
    HUB_TRY(h5_get(file, address, bytes, head, err));
    struct hub_cursor c = hub_cursor_of(bytes + 8, head - 8);
    const uint64_t size = h5_length(file, &c);
    if (memcmp(bytes, "GCOL", 4) != 0 || bytes[4] != 1 || size < head)
        return hub_fail(err, HUB_CORRUPT, "no heap at address %" PRIu64, address);
    uint64_t start;
    HUB_TRY(h5_locate(file, address, size, &start, err));
    return parse_objects(file, start + head, start + size, out, err);
}

enum hub_status h5_heap_find(struct hub_h5 *file, uint64_t collection, uint32_t index, struct hub_extent *out,
                             struct hub_error *err)
{
    *out = (struct hub_extent){0};
    if (index == 0 || collection == 0 || collection == H5_UNDEFINED)
        return HUB_OK;
    struct h5_collection *slot = &file->heaps[(collection / 64) % H5_HEAPS];
    if (slot->address != collection) {
        free(slot->objects);
        *slot = (struct h5_collection){0};
        const enum hub_status st = parse_collection(file, collection, slot, err);
        if (st) {
            free(slot->objects);
            *slot = (struct h5_collection){0};
            return st;
        }
        slot->address = collection;
    }
    if (index > MAX_INDEX || index >= slot->count || slot->objects[index].offset == 0)
        return hub_fail(err, HUB_CORRUPT, "heap at address %" PRIu64 " has no object %u", collection, index);
    *out = slot->objects[index];
    return HUB_OK;
}

/* Text ends at the first NUL, as the library hands it out. */
static enum hub_status cut_text(struct hub_h5 *file, struct hub_extent *text, struct hub_error *err)
{
    char block[1024];
    for (uint32_t at = 0; at < text->length; at += sizeof block) {
        const uint32_t n = HUB_MIN((uint32_t)sizeof block, text->length - at);
        HUB_TRY(h5_get_raw(file, text->offset + at, block, n, err));
        const char *end = memchr(block, '\0', n);
        if (end)
            text->length = at + (uint32_t)(end - block);
    }
    return HUB_OK;
}

enum hub_status h5_heap_item(struct hub_h5 *file, const struct hub_h5_type *type, const uint8_t *reference,
                             struct hub_extent *out, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(reference, 8u + file->offset_size);
    const uint64_t bytes = (uint64_t)hub_cursor_u32(&c) * type->vlen_item;
    const uint64_t address = h5_offset(file, &c);
    const uint32_t index = hub_cursor_u32(&c);
    *out = (struct hub_extent){0};
    if (bytes == 0)
        return HUB_OK;
    HUB_TRY(h5_heap_find(file, address, index, out, err));
    if (bytes > out->length)
        return hub_fail(err, HUB_CORRUPT, "an item of %" PRIu64 " bytes in a heap object of %u", bytes,
                        out->length);
    out->length = (uint32_t)bytes;
    return type->field == HUB_FIELD_TEXT ? cut_text(file, out, err) : HUB_OK;
}

void h5_heap_dispose(struct hub_h5 *file)
{
    for (uint32_t i = 0; file->heaps && i < H5_HEAPS; i++)
        free(file->heaps[i].objects);
}
