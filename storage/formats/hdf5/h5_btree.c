/*
 * B-trees of version 1: of a group (keys are names, leaves point to symbol nodes) and of a dataset's chunks.
 *
 *   node:      "TREE", type u8, level u8, entries u16, left, right, then key, child, key, child, ..., key
 *   chunk key: stored bytes u32, filter mask u32, element offsets u64 along each axis and within the element
 *   (0)
 *
 * Levels must fall by one on the way down and chunk keys must rise, so no damaged tree makes the walk visit a
 * place twice.
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_LEVEL = 16 }; /* of at least 2 entries a node: far more than any file can hold */

struct btree_node {
    uint8_t *body; /* keys and children */
    size_t size;
    uint8_t level;
    uint16_t entries;
};

/* Read a node whose keys have `key` bytes; `level` is what its parent expects, or -1 for a root. */
static enum hub_status read_node(struct hub_h5 *file, uint64_t address, uint8_t type, size_t key, int level,
                                 struct btree_node *out, struct hub_error *err)
{
    uint8_t head[8];
    HUB_TRY(h5_count_node(file, err));
    HUB_TRY(h5_get(file, address, head, sizeof head, err));
    if (memcmp(head, "TREE", 4) != 0 || head[4] != type)
        return hub_fail(err, HUB_CORRUPT, "no index node at address %" PRIu64, address);
    *out = (struct btree_node){.level = head[5], .entries = (uint16_t)(head[6] | head[7] << 8)};
    if (level < 0 && out->level > MAX_LEVEL)
        return hub_fail(err, HUB_CORRUPT, "an index of %u levels", out->level);
    if (level >= 0 && out->level != level)
        return hub_fail(err, HUB_CORRUPT, "an index node at level %u instead of %d", out->level, level);
    out->size = out->entries * (key + file->offset_size) + key;
    const uint64_t start = address + sizeof head + 2u * file->offset_size;
    uint64_t offset = 0;
    HUB_TRY(h5_locate(file, start, out->size, &offset, err));
    out->body = malloc(out->size);
    HUB_TRY(hub_allocated(out->body, err));
    const enum hub_status st = h5_get_raw(file, offset, out->body, out->size, err);
    if (st)
        free(out->body);
    return st;
}

static enum hub_status walk_groups(struct hub_h5 *file, uint64_t address, int level, h5_address_fn fn,
                                   void *user, struct hub_error *err)
{
    struct btree_node node;
    const size_t key = file->length_size;
    HUB_TRY(read_node(file, address, 0, key, level, &node, err));
    struct hub_cursor c = hub_cursor_of(node.body, node.size);
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; !st && i < node.entries; i++) {
        hub_cursor_skip(&c, key);
        const uint64_t child = h5_offset(file, &c);
        st = node.level ? walk_groups(file, child, node.level - 1, fn, user, err) : fn(user, child, err);
    }
    free(node.body);
    return st;
}

enum hub_status h5_btree_groups(struct hub_h5 *file, uint64_t root, h5_address_fn fn, void *user,
                                struct hub_error *err)
{
    return walk_groups(file, root, -1, fn, user, err);
}

enum hub_status h5_grid_put(struct hub_h5 *file, struct h5_grid *grid, const uint64_t *scaled,
                            uint64_t address, uint64_t size, uint32_t mask, struct hub_error *err)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < grid->rank; i++) {
        if (scaled[i] >= grid->along[i])
            return HUB_OK; /* behind a dataset that was shrunk */
        at = at * grid->along[i] + scaled[i];
    }
    if (address == H5_UNDEFINED)
        return HUB_OK;
    uint64_t offset = 0;
    if (size == 0 || size > UINT32_MAX)
        return hub_fail(err, HUB_CORRUPT, "a chunk of %" PRIu64 " bytes", size);
    HUB_TRY(h5_locate(file, address, size, &offset, err));
    struct hub_chunk *chunk = &grid->chunks[at];
    if (chunk->offset != HUB_ABSENT)
        return hub_fail(err, HUB_CORRUPT, "chunk %" PRIu64 " occurs twice", at);
    *chunk = (struct hub_chunk){.offset = offset, .size = (uint32_t)size, .mask = mask};
    grid->stored++;
    return HUB_OK;
}

/* The last chunk seen, to prove that keys rise. */
struct chunk_walk {
    struct hub_h5 *file;
    struct h5_grid *grid;
    uint64_t last[HUB_MAX_RANK];
    bool any;
};

static bool rises(const struct chunk_walk *w, const uint64_t *scaled)
{
    for (uint32_t i = 0; w->any && i < w->grid->rank; i++)
        if (scaled[i] != w->last[i])
            return scaled[i] > w->last[i];
    return !w->any;
}

static enum hub_status take_chunk(struct chunk_walk *w, const uint64_t *scaled, uint64_t child, uint32_t size,
                                  uint32_t mask, struct hub_error *err)
{
    if (!rises(w, scaled))
        return hub_fail(err, HUB_CORRUPT, "the chunk index is not in order");
    memcpy(w->last, scaled, w->grid->rank * sizeof *scaled);
    w->any = true;
    return h5_grid_put(w->file, w->grid, scaled, child, size, mask, err);
}

static enum hub_status walk_chunks(struct chunk_walk *w, uint64_t address, int level, struct hub_error *err)
{
    struct btree_node node;
    const struct h5_grid *grid = w->grid;
    HUB_TRY(read_node(w->file, address, 1, 8 + 8 * ((size_t)grid->rank + 1), level, &node, err));
    struct hub_cursor c = hub_cursor_of(node.body, node.size);
    enum hub_status st = HUB_OK;
    for (uint32_t i = 0; !st && i < node.entries; i++) {
        const uint32_t size = hub_cursor_u32(&c), mask = hub_cursor_u32(&c);
        uint64_t scaled[HUB_MAX_RANK];
        for (uint32_t k = 0; k < grid->rank && !st; k++) {
            const uint64_t element = hub_cursor_u64(&c);
            scaled[k] = element / grid->chunk[k];
            if (element % grid->chunk[k])
                st = hub_fail(err, HUB_CORRUPT, "a chunk begins at element %" PRIu64 " of axis %u", element,
                              k);
        }
        hub_cursor_skip(&c, 8);
        const uint64_t child = h5_offset(w->file, &c);
        if (!st)
            st = node.level ? walk_chunks(w, child, node.level - 1, err)
                            : take_chunk(w, scaled, child, size, mask, err);
    }
    free(node.body);
    return st;
}

enum hub_status h5_btree_chunks(struct hub_h5 *file, uint64_t root, struct h5_grid *grid,
                                struct hub_error *err)
{
    struct chunk_walk w = {.file = file, .grid = grid};
    return walk_chunks(&w, root, -1, err);
}
