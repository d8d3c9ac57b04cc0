/*
 * Checksums of metadata, which format versions of HDF5 1.8 and later have: Bob Jenkins' lookup3
 * ("hashlittle") of all bytes before it. https://burtleburtle.net/bob/c/lookup3.c
 */
#include "storage/formats/hdf5/h5_parse.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BLOCK = 12, SLAB_BLOCKS = 256 };

static uint32_t rotate(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static void load(uint32_t s[3], const uint8_t block[BLOCK])
{
    for (unsigned i = 0; i < 3; i++) {
        uint32_t word;
        memcpy(&word, block + 4 * i, 4);
        s[i] += word;
    }
}

static void mix(uint32_t s[3], const uint8_t *blocks, size_t count)
{
    static const uint8_t turns[] = {4, 6, 8, 16, 19, 4};
    for (size_t k = 0; k < count; k++) {
        load(s, blocks + k * BLOCK);
#pragma GCC unroll 6
        for (unsigned i = 0; i < 6; i++) {
            uint32_t *x = &s[i % 3], *y = &s[(i + 1) % 3], *z = &s[(i + 2) % 3];
            *x -= *z;
            *x ^= rotate(*z, turns[i]);
            *z += *y;
        }
    }
}

/* The last 1 to 12 bytes. */
static uint32_t finish(uint32_t s[3], const uint8_t *tail, size_t size)
{
    static const uint8_t turns[] = {14, 11, 25, 16, 4, 14, 24};
    uint8_t block[BLOCK] = {0};
    if (size == 0)
        return s[2];
    memcpy(block, tail, size);
    load(s, block);
    for (unsigned i = 0; i < 7; i++) {
        uint32_t *x = &s[(i + 2) % 3], *y = &s[(i + 1) % 3];
        *x ^= *y;
        *x -= rotate(*y, turns[i]);
    }
    return s[2];
}

static void start(uint32_t s[3], uint64_t size)
{
    s[0] = s[1] = s[2] = 0xDEADBEEF + (uint32_t)size;
}

uint32_t h5_checksum(const void *data, size_t size)
{
    uint32_t s[3];
    const size_t blocks = size ? (size - 1) / BLOCK : 0;
    start(s, size);
    mix(s, data, blocks);
    return finish(s, (const uint8_t *)data + blocks * BLOCK, size - blocks * BLOCK);
}

static enum hub_status sum_up(struct hub_h5 *file, uint64_t offset, uint64_t size, uint32_t *out,
                              struct hub_error *err)
{
    uint8_t bytes[BLOCK * SLAB_BLOCKS];
    uint32_t s[3];
    const uint64_t blocks = size ? (size - 1) / BLOCK : 0;
    start(s, size);
    for (uint64_t done = 0; done < blocks; done += SLAB_BLOCKS) {
        const size_t n = (size_t)HUB_MIN(blocks - done, (uint64_t)SLAB_BLOCKS);
        HUB_TRY(h5_get_raw(file, offset + done * BLOCK, bytes, n * BLOCK, err));
        mix(s, bytes, n);
    }
    const size_t tail = (size_t)(size - blocks * BLOCK);
    HUB_TRY(h5_get_raw(file, offset + blocks * BLOCK, bytes, tail, err));
    *out = finish(s, bytes, tail);
    return HUB_OK;
}

/* Blocks that hold many objects are asked for again and again: those found right are remembered. */
static uint64_t *slot_of(struct hub_h5 *file, uint64_t address)
{
    return &file->verified[(address ^ address >> 9) % H5_VERIFIED];
}

static enum hub_status judge(struct hub_h5 *file, const char *what, uint64_t address, bool right,
                             struct hub_error *err)
{
    if (!right && !file->unverified)
        return hub_fail(err, HUB_CORRUPT,
                        "the checksum of the %s at address %" PRIu64
                        " is wrong: its bytes have changed since they were written",
                        what, address);
    *slot_of(file, address) = address + 1;
    return HUB_OK;
}

enum hub_status h5_verify(struct hub_h5 *file, const char *what, uint64_t address, uint64_t size,
                          struct hub_error *err)
{
    uint64_t offset = 0;
    uint32_t sum = 0, stored = 0;
    if (*slot_of(file, address) == address + 1)
        return HUB_OK;
    if (size > UINT64_MAX - 4)
        return hub_fail(err, HUB_CORRUPT, "a %s of %" PRIu64 " bytes", what, size);
    HUB_TRY(h5_locate(file, address, size + 4, &offset, err));
    HUB_TRY(sum_up(file, offset, size, &sum, err));
    HUB_TRY(h5_get_raw(file, offset + size, &stored, sizeof stored, err));
    return judge(file, what, address, sum == stored, err);
}

enum hub_status h5_verify_around(struct hub_h5 *file, const char *what, uint64_t address, uint64_t size,
                                 size_t at, struct hub_error *err)
{
    uint64_t offset = 0;
    uint32_t stored = 0;
    if (*slot_of(file, address) == address + 1)
        return HUB_OK;
    HUB_TRY(h5_locate(file, address, size, &offset, err));
    if (size > H5_MAX_HEADER || at + sizeof stored > size)
        return hub_fail(err, HUB_UNSUPPORTED, "a %s of %" PRIu64 " bytes", what, size);
    HUB_CLEANUP(hub_freep) uint8_t *bytes = malloc((size_t)size);
    HUB_TRY(hub_allocated(bytes, err));
    HUB_TRY(h5_get_raw(file, offset, bytes, (size_t)size, err));
    memcpy(&stored, bytes + at, sizeof stored);
    memset(bytes + at, 0, sizeof stored);
    return judge(file, what, address, h5_checksum(bytes, (size_t)size) == stored, err);
}
