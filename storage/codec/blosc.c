/*
 * Blosc of version 1, filter 32001: a header of 16 bytes, then blocks that were shuffled by bytes or bits and
 * compressed by BloscLZ, LZ4, Snappy, zlib or Zstandard. The library believes the lengths in the header: they
 * are held against ours first. https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
 */
#include "storage/codec/decode.h"

#include <blosc.h>

/* The library takes three blocks of memory; what it writes has none over 4 MiB, unless an option says so. */
#define MAX_BLOCK (8 * MIB)

enum hub_status hub_undo_blosc(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                               bool exact, struct hub_error *err)
{
    (void)param;
    size_t size = 0, stored = SIZE_MAX, block = 0;
    if (stage->size >= BLOSC_MIN_HEADER_LENGTH)
        blosc_cbuffer_sizes(stage->data, &size, &stored, &block);
    if (stored > stage->size || stored < BLOSC_MIN_HEADER_LENGTH || size > capacity ||
        (exact && size != capacity))
        return hub_fail(err, HUB_CORRUPT, "damaged blosc data, or not of the declared length");
    if (block > MAX_BLOCK)
        return hub_fail(err, HUB_UNSUPPORTED, "blosc blocks of %zu bytes, more than 8 MiB", block);
    const int made = size ? blosc_decompress_ctx(stage->data, out, size, 1) : 0;
    if (made < 0 || (size_t)made != size)
        return hub_fail(err, HUB_CORRUPT, "damaged blosc data");
    *stage = (struct hub_stage){out, size};
    return HUB_OK;
}
