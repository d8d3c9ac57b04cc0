/*
 * Metadata cache image: metadata that a writer kept together in one block at the end of the file instead of
 * in their places, named by a message of the superblock's extension. Reads see what the block says of a
 * place.
 *
 *   block: "MDCI", 0, flags u8, bytes of the entries, entries u32, the entries, checksum entry: type, flags,
 *   ring, age u8, children, dirty children, parents u16, rank u32, address, bytes,
 *          addresses of the parents, the bytes
 */
#include "storage/base/order.h"
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_IMAGE = 64 * 1024 * 1024, MAX_ENTRIES = 1 << 20 };

struct h5_image_entry {
    uint64_t offset; /* absolute */
    uint64_t size;
    const uint8_t *bytes; /* in the block */
};

/* An offset comes before what ends behind it. */
static int by_end(const void *key, const void *item)
{
    const struct h5_image_entry *e = item;
    return *(const uint64_t *)key < e->offset + e->size ? -1 : 1;
}

static int by_offset(const void *a, const void *b)
{
    const struct h5_image_entry *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static enum hub_status parse_entries(struct hub_h5 *file, struct hub_cursor *c, struct hub_error *err)
{
    struct h5_image *image = &file->image;
    for (uint32_t i = 0; i < image->count && !c->failed; i++) {
        struct h5_image_entry *e = &image->entries[i];
        hub_cursor_skip(c, 8);
        const uint16_t parents = hub_cursor_u16(c);
        hub_cursor_skip(c, 4);
        const uint64_t address = h5_offset(file, c);
        e->size = h5_length(file, c);
        hub_cursor_skip(c, (size_t)parents * file->offset_size);
        if (e->size > hub_cursor_left(c))
            c->failed = true;
        e->bytes = c->failed ? NULL : hub_cursor_bytes(c, (size_t)e->size);
        if (!c->failed)
            HUB_TRY(h5_locate(file, address, e->size, &e->offset, err));
    }
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a metadata cache image is cut short");
    if (image->count)
        qsort(image->entries, image->count, sizeof *image->entries, by_offset);
    for (uint32_t i = 1; i < image->count; i++)
        if (image->entries[i].offset - image->entries[i - 1].offset < image->entries[i - 1].size)
            return hub_fail(err, HUB_CORRUPT, "a metadata cache image contradicts itself");
    return HUB_OK;
}

static enum hub_status load(struct hub_h5 *file, uint64_t address, uint64_t size, struct hub_error *err)
{
    struct h5_image *image = &file->image;
    const unsigned head = 10u + file->length_size;
    if (size < head + 4 || size > MAX_IMAGE)
        return hub_fail(err, HUB_UNSUPPORTED, "a metadata cache image of %" PRIu64 " bytes", size);
    HUB_TRY(h5_verify(file, "metadata cache image", address, size - 4, err));
    image->block = malloc((size_t)size);
    HUB_TRY(hub_allocated(image->block, err));
    HUB_TRY(h5_get(file, address, image->block, (size_t)size, err));
    struct hub_cursor c = hub_cursor_of(image->block, (size_t)size - 4);
    hub_cursor_skip(&c, 6 + file->length_size);
    const uint32_t count = hub_cursor_u32(&c);
    if (memcmp(image->block, "MDCI", 4) != 0 || image->block[4] != 0 || count > MAX_ENTRIES)
        return hub_fail(err, HUB_CORRUPT, "no metadata cache image at address %" PRIu64, address);
    HUB_TRY(hub_new(&image->entries, HUB_MAX(count, 1u), sizeof *image->entries, err));
    image->count = count;
    const enum hub_status st = parse_entries(file, &c, err);
    if (st)
        image->count = 0;
    return st;
}

enum hub_status h5_image_load(struct hub_h5 *file, uint64_t extension, struct hub_error *err)
{
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
    HUB_TRY(hub_h5_object_load(file, extension, &object, err));
    const struct hub_h5_message *m = h5_find(&object, H5_MSG_CACHE_IMAGE);
    if (!m)
        return HUB_OK;
    struct hub_cursor c = h5_body(&object, m);
    hub_cursor_skip(&c, 1);
    const uint64_t address = h5_offset(file, &c), size = h5_length(file, &c);
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "a message about a metadata cache image is cut short");
    return address == H5_UNDEFINED ? HUB_OK : load(file, address, size, err);
}

void h5_image_apply(const struct hub_h5 *file, uint64_t offset, uint8_t *out, size_t size)
{
    const struct h5_image *image = &file->image;
    uint32_t i = hub_lower_bound(&offset, image->entries, image->count, sizeof *image->entries, by_end);
    for (; i < image->count && image->entries[i].offset < offset + size; i++) {
        const struct h5_image_entry *e = &image->entries[i];
        const uint64_t from = HUB_MAX(e->offset, offset), to = HUB_MIN(e->offset + e->size, offset + size);
        memcpy(out + (from - offset), e->bytes + (from - e->offset), (size_t)(to - from));
    }
}

void h5_image_dispose(struct hub_h5 *file)
{
    free(file->image.entries);
    free(file->image.block);
    file->image = (struct h5_image){0};
}
