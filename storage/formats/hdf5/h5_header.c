/*
 * Object headers, versions 1 and 2, with their continuation blocks: gathered into one buffer and a table of
 * messages.
 *
 *   version 1: version 1, 0, messages u16, references u32, bytes u32, pad to 8
 *              message: type u16, size u16, flags u8, 3 zeros, body
 *   version 2: "OHDR", 2, flags, [times], [attribute limits], bytes
 *              message: type u8, size u16, flags u8, [order u16], body; then a checksum
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BLOCKS = 4096, MAX_MESSAGES = 1 << 20 };

struct header_block {
    uint64_t address, size;
};

/* One header being read: blocks still to be read and what their messages look like. */
struct header_reader {
    struct hub_h5 *file;
    struct hub_h5_object *object;
    struct header_block *blocks;
    uint32_t block_count, block_capacity;
    uint8_t version;
    bool ordered; /* version 2: messages carry a creation order */
};

const struct hub_h5_message *h5_find(const struct hub_h5_object *object, uint16_t type)
{
    for (uint32_t i = 0; i < object->count; i++)
        if (object->messages[i].type == type)
            return &object->messages[i];
    return NULL;
}

static enum hub_status add_block(struct header_reader *r, uint64_t address, uint64_t size,
                                 struct hub_error *err)
{
    if (r->block_count >= MAX_BLOCKS)
        return hub_fail(err, HUB_CORRUPT, "an object header has more than %d blocks", MAX_BLOCKS);
    HUB_TRY(hub_grow(&r->blocks, r->block_count, &r->block_capacity, sizeof *r->blocks, err));
    for (uint32_t i = 0; i < r->block_count; i++)
        if (r->blocks[i].address == address)
            return hub_fail(err, HUB_CORRUPT, "the blocks of an object header form a cycle at %" PRIu64,
                            address);
    r->blocks[r->block_count++] = (struct header_block){address, size};
    return HUB_OK;
}

static enum hub_status add_message(struct header_reader *r, const struct hub_h5_message *message,
                                   struct hub_error *err)
{
    struct hub_h5_object *o = r->object;
    if (o->count >= MAX_MESSAGES)
        return hub_fail(err, HUB_CORRUPT, "an object header has more than %d messages", MAX_MESSAGES);
    HUB_TRY(hub_grow(&o->messages, o->count, &o->capacity, sizeof *o->messages, err));
    o->messages[o->count++] = *message;
    return HUB_OK;
}

static enum hub_status take_message(struct header_reader *r, const struct hub_h5_message *message,
                                    struct hub_error *err)
{
    if (message->type != H5_MSG_CONTINUE)
        return message->type ? add_message(r, message, err) : HUB_OK;
    struct hub_cursor c = h5_body(r->object, message);
    const uint64_t address = h5_offset(r->file, &c), size = h5_length(r->file, &c);
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "a continuation message is cut short");
    return add_block(r, address, size, err);
}

/* Messages in bytes start .. end of the object's buffer. */
static enum hub_status take_messages(struct header_reader *r, size_t start, size_t end, struct hub_error *err)
{
    const size_t head = r->version == 1 ? 8 : r->ordered ? 6 : 4;
    while (end - start >= head) {
        struct hub_cursor c = hub_cursor_of(r->object->bytes.data + start, head);
        struct hub_h5_message m = {0};
        m.type = r->version == 1 ? hub_cursor_u16(&c) : hub_cursor_u8(&c);
        m.size = hub_cursor_u16(&c);
        m.flags = hub_cursor_u8(&c);
        start += head;
        if (m.size > end - start)
            return hub_fail(err, HUB_CORRUPT, "a header message is longer than its header");
        m.offset = (uint32_t)start;
        HUB_TRY(take_message(r, &m, err));
        start += m.size;
    }
    return HUB_OK;
}

/* Append `size` bytes of the file to the object's buffer. */
static enum hub_status fetch(struct header_reader *r, uint64_t address, uint64_t size, struct hub_error *err)
{
    struct hub_buf *bytes = &r->object->bytes;
    uint64_t offset = 0;
    HUB_TRY(h5_locate(r->file, address, size, &offset, err));
    if (size > bytes->limit - bytes->size)
        return hub_fail(err, HUB_TOO_BIG, "an object header has more than %zu bytes", bytes->limit);
    HUB_TRY(hub_buf_reserve(bytes, (size_t)size, err));
    HUB_TRY(h5_get_raw(r->file, offset, bytes->data + bytes->size, (size_t)size, err));
    bytes->size += (size_t)size;
    return HUB_OK;
}

static enum hub_status read_block(struct header_reader *r, const struct header_block *block,
                                  struct hub_error *err)
{
    const size_t start = r->object->bytes.size;
    const size_t around = r->version == 2 ? 8 : 0; /* "OCHK" and a checksum */
    if (block->size < around)
        return hub_fail(err, HUB_CORRUPT, "a header block is too short");
    HUB_TRY(fetch(r, block->address, block->size, err));
    if (around && memcmp(r->object->bytes.data + start, "OCHK", 4) != 0)
        return hub_fail(err, HUB_CORRUPT, "no header block at %" PRIu64, block->address);
    if (around)
        HUB_TRY(h5_verify(r->file, "header block", block->address, block->size - 4, err));
    return take_messages(r, start + around / 2, r->object->bytes.size - around / 2, err);
}

static enum hub_status read_first(struct header_reader *r, struct hub_error *err)
{
    uint8_t head[34] = {0};
    const uint64_t address = r->object->address, end = r->file->size - r->file->base;
    const size_t got = (size_t)HUB_MIN(sizeof head, address < end ? end - address : 0);
    HUB_TRY(h5_get(r->file, address, head, HUB_MAX(got, 12), err));
    struct hub_cursor c = hub_cursor_of(head, got);
    uint64_t size;
    if (memcmp(head, "OHDR", 4) == 0) {
        hub_cursor_skip(&c, 4);
        const uint8_t version = hub_cursor_u8(&c), flags = hub_cursor_u8(&c);
        if (version != 2)
            return hub_fail(err, HUB_UNSUPPORTED, "object header of version %u", version);
        hub_cursor_skip(&c, (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
        size = hub_cursor_uint(&c, 1u << (flags & 3));
        r->version = 2;
        r->ordered = flags & 4;
    } else {
        if (head[0] != 1)
            return hub_fail(err, HUB_CORRUPT, "no object header at %" PRIu64, address);
        hub_cursor_skip(&c, 8);
        size = hub_cursor_u32(&c);
        hub_cursor_skip(&c, 4);
        r->version = 1;
    }
    if (c.failed)
        return hub_fail(err, HUB_CORRUPT, "the object header at %" PRIu64 " is cut short", address);
    const uint64_t start = address + (uint64_t)(c.at - head);
    HUB_TRY(add_block(r, start, size, err));
    HUB_TRY(fetch(r, start, size, err));
    if (r->version == 2)
        HUB_TRY(h5_verify(r->file, "object header", address, start - address + size, err));
    return take_messages(r, 0, r->object->bytes.size, err);
}

static enum hub_h5_kind kind_of(const struct hub_h5_object *o)
{
    if (h5_find(o, H5_MSG_LAYOUT))
        return HUB_H5_DATASET;
    if (h5_find(o, H5_MSG_SYMBOLS) || h5_find(o, H5_MSG_LINK_INFO) || h5_find(o, H5_MSG_LINK) ||
        h5_find(o, H5_MSG_GROUP_INFO))
        return HUB_H5_GROUP;
    return h5_find(o, H5_MSG_TYPE) ? HUB_H5_TYPE : HUB_H5_OTHER;
}

/* The blocks behind the first. One that is damaged costs what is in it: `why` is the first one's. */
static enum hub_status read_others(struct header_reader *r, struct hub_error *why, struct hub_error *err)
{
    for (uint32_t i = 1; i < r->block_count; i++) {
        const struct header_block block = r->blocks[i];
        struct hub_error here = {0};
        const enum hub_status st = read_block(r, &block, &here);
        if (st && st != HUB_CORRUPT) {
            if (err)
                *err = here;
            return st;
        }
        if (st && !why->detail[0])
            *why = here;
    }
    return HUB_OK;
}

enum hub_status hub_h5_object_load(struct hub_h5 *file, uint64_t address, struct hub_h5_object *object,
                                   struct hub_error *err)
{
    if (++file->objects > H5_MAX_OBJECTS)
        return hub_fail(err, HUB_TOO_BIG, "the file has more than %u objects", H5_MAX_OBJECTS);
    object->address = address;
    object->count = 0;
    object->bytes.size = 0;
    object->bytes.limit = H5_MAX_HEADER;
    object->damaged[0] = '\0';
    struct header_reader r = {.file = file, .object = object};
    struct hub_error why = {0};
    enum hub_status st = read_first(&r, err);
    if (!st)
        st = read_others(&r, &why, err);
    free(r.blocks);
    object->kind = st ? HUB_H5_OTHER : kind_of(object);
    if (st || !why.detail[0])
        return st;
    if (object->kind != HUB_H5_GROUP) { /* of a dataset nothing may be missing */
        object->kind = HUB_H5_OTHER;
        return hub_fail(err, HUB_CORRUPT, "%s", why.detail);
    }
    snprintf(object->damaged, sizeof object->damaged, "%.150s", why.detail);
    return HUB_OK;
}

void hub_h5_object_dispose(struct hub_h5_object *object)
{
    if (!object)
        return;
    hub_buf_dispose(&object->bytes);
    free(object->messages);
    *object = (struct hub_h5_object){0};
}

/* Version 1 has a symbol table entry's name offset before the address; version 3 may name the shared message
 * heap. */
enum hub_status h5_shared_type(struct hub_h5 *file, struct hub_cursor *c, struct hub_buf *out,
                               struct hub_error *err)
{
    const uint8_t version = hub_cursor_u8(c), type = hub_cursor_u8(c);
    if (version < 1 || version > 3)
        return hub_fail(err, HUB_CORRUPT, "shared message of version %u", version);
    if (version == 3 && type != 2)
        return hub_fail(err, HUB_UNSUPPORTED, "a datatype in the shared message heap");
    if (version == 1)
        hub_cursor_skip(c, 6u + file->length_size);
    const uint64_t address = h5_offset(file, c);
    if (c->failed)
        return hub_fail(err, HUB_CORRUPT, "a shared message is cut short");
    HUB_CLEANUP(hub_h5_object_dispose) struct hub_h5_object object = {0};
    HUB_TRY(hub_h5_object_load(file, address, &object, err));
    const struct hub_h5_message *m = h5_find(&object, H5_MSG_TYPE);
    if (!m || m->flags & 2)
        return hub_fail(err, HUB_CORRUPT, "no datatype at %" PRIu64, address);
    return hub_buf_add(out, object.bytes.data + m->offset, m->size, err);
}
