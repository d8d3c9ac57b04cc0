/*
 * B-trees of version 2, walked whole: link and attribute names, chunks of datasets with several unlimited
 * axes, huge objects.
 *
 *   header "BTHD", 0, type, node size u32, record size u16, depth u16, split u8, merge u8, root,
 *          records in root u16, records
 *   inner  "BTIN", 0, type, records, then for each child: address, records in it, [records below it]
 *   leaf   "BTLF", 0, type, records
 *
 * The widths of the counts beside a child follow from the node size: see the specification, III.A.2.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_DEPTH = 16, NODE_OVERHEAD = 10, MAX_NODE = 16 * 1024 * 1024 };

struct btree2 {
    struct hub_h5 *file;
    uint8_t type;
    uint32_t node_size;
    uint16_t record_size, depth;
    unsigned count_bytes;                /* of the count of records in a child */
    unsigned total_bytes[MAX_DEPTH + 1]; /* of the count of records below a child at this level */
    uint64_t left;                       /* records the header promised */
    h5_record_fn fn;
    void *user;
};

static unsigned bytes_for(uint64_t limit)
{
    unsigned n = 1;
    while (limit >>= 8)
        n++;
    return n;
}

/* Bytes of what names a child of a node at `level`. */
static unsigned pointer_bytes(const struct btree2 *t, unsigned level)
{
    return t->file->offset_size + t->count_bytes + (level > 1 ? t->total_bytes[level - 1] : 0);
}

/* How many records fit nodes of each level, hence how wide the counts are. */
static enum hub_status plan_levels(struct btree2 *t, struct hub_error *err)
{
    uint64_t most = (t->node_size - NODE_OVERHEAD) / t->record_size, below = most;
    t->count_bytes = bytes_for(most);
    for (unsigned level = 1; level <= t->depth; level++) {
        const unsigned pointer = pointer_bytes(t, level);
        if (t->node_size < NODE_OVERHEAD + pointer)
            return hub_fail(err, HUB_CORRUPT, "tree nodes of %u bytes", t->node_size);
        most = (t->node_size - (NODE_OVERHEAD + pointer)) / (t->record_size + pointer);
        if (below > UINT64_MAX / (most + 2))
            return hub_fail(err, HUB_CORRUPT, "a tree of depth %u", t->depth);
        below = (most + 1) * below + most;
        t->total_bytes[level] = bytes_for(below);
    }
    return HUB_OK;
}

static enum hub_status take_records(struct btree2 *t, struct hub_cursor *c, uint64_t records,
                                    struct hub_error *err)
{
    for (uint64_t i = 0; i < records; i++) {
        const uint8_t *bytes = hub_cursor_bytes(c, t->record_size);
        if (!bytes || t->left == 0)
            return hub_fail(err, HUB_CORRUPT, "a tree holds more records than it states");
        t->left--;
        struct hub_cursor record = hub_cursor_of(bytes, t->record_size);
        HUB_TRY(t->fn(t->user, &record, err));
    }
    return HUB_OK;
}

static enum hub_status walk_node(struct btree2 *t, uint64_t address, uint64_t records, unsigned level,
                                 struct hub_error *err);

/* Children come behind the records; they are visited after them, for order does not matter to any caller. */
static enum hub_status walk_children(struct btree2 *t, struct hub_cursor *c, uint64_t records, unsigned level,
                                     struct hub_error *err)
{
    for (uint64_t i = 0; i <= records; i++) {
        const uint64_t child = h5_offset(t->file, c), count = hub_cursor_uint(c, t->count_bytes);
        if (level > 1)
            hub_cursor_skip(c, t->total_bytes[level - 1]);
        if (c->failed)
            return hub_fail(err, HUB_CORRUPT, "a tree node is cut short");
        HUB_TRY(walk_node(t, child, count, level - 1, err));
    }
    return HUB_OK;
}

static enum hub_status walk_node(struct btree2 *t, uint64_t address, uint64_t records, unsigned level,
                                 struct hub_error *err)
{
    uint64_t offset = 0;
    HUB_TRY(h5_count_node(t->file, err));
    HUB_TRY(h5_locate(t->file, address, t->node_size, &offset, err));
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc(t->node_size);
    HUB_TRY(hub_allocated(bytes, err));
    HUB_TRY(h5_get_raw(t->file, offset, bytes, t->node_size, err));
    struct hub_cursor c = hub_cursor_of(bytes, t->node_size);
    if (memcmp(bytes, level ? "BTIN" : "BTLF", 4) != 0 || bytes[5] != t->type)
        return hub_fail(err, HUB_CORRUPT, "no tree node at address %" PRIu64, address);
    hub_cursor_skip(&c, 6);
    const uint64_t used =
        6 + records * t->record_size + (level ? (records + 1) * pointer_bytes(t, level) : 0);
    HUB_TRY(h5_verify(t->file, "tree node", address, used, err));
    HUB_TRY(take_records(t, &c, records, err));
    return level ? walk_children(t, &c, records, level, err) : HUB_OK;
}

enum hub_status h5_btree2_walk(struct hub_h5 *file, uint64_t header, uint8_t type, uint16_t *record_size,
                               h5_record_fn fn, void *user, struct hub_error *err)
{
    uint8_t bytes[16 + 8 + 2 + 8];
    const size_t size = 16u + file->offset_size + 2 + file->length_size;
    HUB_TRY(h5_get(file, header, bytes, size, err));
    struct hub_cursor c = hub_cursor_of(bytes, size);
    hub_cursor_skip(&c, 5);
    struct btree2 t = {.file = file, .type = hub_cursor_u8(&c), .fn = fn, .user = user};
    t.node_size = hub_cursor_u32(&c);
    t.record_size = hub_cursor_u16(&c);
    t.depth = hub_cursor_u16(&c);
    hub_cursor_skip(&c, 2);
    const uint64_t root = h5_offset(file, &c), records = hub_cursor_u16(&c);
    t.left = h5_length(file, &c);
    if (memcmp(bytes, "BTHD", 4) != 0 || bytes[4] != 0)
        return hub_fail(err, HUB_CORRUPT, "no tree at address %" PRIu64, header);
    HUB_TRY(h5_verify(file, "tree header", header, size, err));
    if (t.type != type)
        return hub_fail(err, HUB_CORRUPT, "a tree of type %u instead of %u", t.type, type);
    if (t.record_size == 0 || t.node_size < (uint32_t)NODE_OVERHEAD + t.record_size ||
        t.node_size > MAX_NODE || t.depth > MAX_DEPTH)
        return hub_fail(err, HUB_CORRUPT, "a tree with records of %u, nodes of %u bytes and depth %u",
                        t.record_size, t.node_size, t.depth);
    HUB_TRY(plan_levels(&t, err));
    if (record_size)
        *record_size = t.record_size;
    return root == H5_UNDEFINED || t.left == 0 ? HUB_OK : walk_node(&t, root, records, t.depth, err);
}
