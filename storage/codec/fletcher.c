/*
 * Fletcher's checksum as HDF5 keeps it behind a chunk: over big-endian 16-bit words (an odd last byte is a
 * high one), both sums folded to 16 bits with end-around carry.
 */
#include "storage/codec/decode.h"

static uint64_t fold(uint64_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

uint32_t hub_fletcher32(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t first = 0, second = 0;
    size_t words = size / 2;
    while (words) {
        /* 2^16 words add less than 2^33 to a folded first sum and less than 2^49 to the second */
        const size_t run = HUB_MIN(words, 65536);
        for (size_t i = 0; i < run; i++, p += 2) {
            first += (uint64_t)(p[0] << 8 | p[1]);
            second += first;
        }
        first = fold(first);
        second = fold(second);
        words -= run;
    }
    if (size % 2) {
        first = fold(first + (uint64_t)(p[0] << 8));
        second = fold(second + first);
    }
    return (uint32_t)(second << 16 | first);
}

/* HDF5 1.6.2 and older on little-endian machines swapped the bytes of both sums: the library reads both, and
 * so do we. */
static bool checksum_holds(uint32_t stored, uint32_t computed)
{
    const uint32_t swapped = (computed & 0x00ff00ff) << 8 | (computed >> 8 & 0x00ff00ff);
    return stored == computed || stored == swapped;
}

/* In place: the bytes stay where they are. */
enum hub_status hub_undo_fletcher32(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                                    bool exact, struct hub_error *err)
{
    (void)param, (void)out, (void)capacity, (void)exact;
    uint32_t stored;
    if (stage->size < sizeof stored)
        return hub_fail(err, HUB_CORRUPT, "chunk of %zu bytes has no checksum", stage->size);
    stage->size -= sizeof stored;
    memcpy(&stored, stage->data + stage->size, sizeof stored);
    if (!checksum_holds(stored, hub_fletcher32(stage->data, stage->size)))
        return hub_fail(err, HUB_CORRUPT, "chunk fails its checksum (fletcher32)");
    return HUB_OK;
}
