/*
 * Bitshuffle, filter 32008: a block of elements is stored as the first bit of all, then the second, and so
 * on; plain, or each block compressed by LZ4 or Zstandard behind a header, all big-endian:
 *
 *   header: bytes u64, block bytes u32; then for each block its stored bytes u32, and those
 *
 * Elements that fill no eight stay as they are, at the end. https://github.com/kiyo-masui/bitshuffle
 */
#include "storage/codec/decode.h"

#include <stdlib.h>

enum { TARGET_BLOCK = 8192, LEAST_BLOCK = 128, EIGHT = 8 };
#define MAX_BLOCK (8 * MIB) /* of memory, twice; what the library writes has blocks of some 8 KiB */

typedef enum hub_status (*decompress_fn)(const void *in, size_t in_size, void *out, size_t out_size,
                                         struct hub_error *err);

/* Eight rows of eight bits, one a byte, turned over. */
static uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00AA00AA00AA00AA);
    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000CCCC0000CCCC);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000F0F0F0F0);
    return x ^ t ^ t << 28;
}

/* The eight rows of bits of each byte become that byte of all elements;
 * those are woven by the byte shuffle. */
static void weave_bits(const uint8_t *in, uint8_t *planes, uint8_t *out, size_t elements, uint32_t element)
{
    for (uint32_t byte = 0; byte < element; byte++)
        hub_unshuffle(in + byte * elements, planes + byte * elements, elements, EIGHT);
    for (size_t at = 0; at < elements * element; at += EIGHT) {
        uint64_t x;
        memcpy(&x, planes + at, EIGHT);
        x = transpose(x);
        memcpy(planes + at, &x, EIGHT);
    }
    hub_unshuffle(planes, out, elements * element, element);
}

static enum hub_status damaged(struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "damaged bitshuffle data, or not of the declared length");
}

struct blocks {
    uint32_t element;
    size_t block, size; /* bytes of one, of all */
    decompress_fn decompress;
    uint8_t *room; /* memory for two */
};

/* The blocks behind the cursor. */
static enum hub_status undo_blocks(const struct blocks *b, struct hub_cursor *c, uint8_t *out,
                                   struct hub_error *err)
{
    const uint32_t element = b->element;
    const size_t size = b->size;
    const decompress_fn decompress = b->decompress;
    uint8_t *room = b->room;
    const size_t tail = size / element % EIGHT * element;
    for (size_t done = 0, block; done < size - tail; done += block) {
        block = HUB_MIN(b->block, size - tail - done);
        const size_t stored = decompress ? hub_cursor_be32(c) : block;
        const uint8_t *in = hub_cursor_bytes(c, stored);
        if (!in)
            return damaged(err);
        if (decompress) {
            HUB_TRY(decompress(in, stored, room, block, err));
            in = room;
        }
        weave_bits(in, room + (decompress ? block : 0), out + done, block / element, element);
    }
    const uint8_t *rest = hub_cursor_bytes(c, tail);
    if (rest && tail)
        memcpy(out + size - tail, rest, tail);
    return rest ? HUB_OK : damaged(err);
}

static enum hub_status undo(struct hub_stage *stage, uint32_t element, uint8_t *out, size_t capacity,
                            bool exact, decompress_fn decompress, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(stage->data, stage->size);
    const uint64_t usual = HUB_MAX(TARGET_BLOCK / element / EIGHT * EIGHT, LEAST_BLOCK) * (uint64_t)element;
    const uint64_t size = decompress ? hub_cursor_be64(&c) : stage->size,
                   block = decompress ? hub_cursor_be32(&c) / element * (uint64_t)element : usual;
    if (c.failed || size > capacity || (exact && size != capacity) || size % element || block == 0 ||
        block / element % EIGHT)
        return damaged(err);
    const size_t whole = (size_t)HUB_MIN(block, size);
    if (whole > MAX_BLOCK)
        return hub_fail(err, HUB_UNSUPPORTED, "bitshuffle blocks of more than 8 MiB");
    HUB_CLEANUP(hub_freep) uint8_t *room = malloc(2 * whole + 1);
    HUB_TRY(hub_allocated(room, err));
    const struct blocks blocks = {element, (size_t)block, (size_t)size, decompress, room};
    HUB_TRY(undo_blocks(&blocks, &c, out, err));
    *stage = (struct hub_stage){out, (size_t)size};
    return HUB_OK;
}

enum hub_status hub_undo_bitshuffle(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                                    bool exact, struct hub_error *err)
{
    return undo(stage, param, out, capacity, exact, NULL, err);
}

enum hub_status hub_undo_bitshuffle_lz4(struct hub_stage *stage, uint32_t param, uint8_t *out,
                                        size_t capacity, bool exact, struct hub_error *err)
{
    return undo(stage, param, out, capacity, exact, hub_unlz4, err);
}

enum hub_status hub_undo_bitshuffle_zstd(struct hub_stage *stage, uint32_t param, uint8_t *out,
                                         size_t capacity, bool exact, struct hub_error *err)
{
    return undo(stage, param, out, capacity, exact, hub_unzstd, err);
}
