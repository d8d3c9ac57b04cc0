/* Block decoders and the chunk pipeline. Input: codec (1), declared length (2), pipeline bytes (chunks and
 * filters of hdf5plugin only: 2), stored bytes. */
#include "storage/codec/codec.h"

#include <stdlib.h>

static void fuzz_chunk(const uint8_t *data, size_t size, size_t out_size)
{
    static const uint32_t ids[4] = {HUB_FILTER_DEFLATE, HUB_FILTER_SHUFFLE, HUB_FILTER_FLETCHER32,
                                    HUB_FILTER_LZF};
    if (size < 2)
        return;
    struct hub_pipeline pipeline = {.count = 1 + data[0] % 3};
    for (uint32_t i = 0; i < pipeline.count; i++) {
        pipeline.filters[i].id = ids[data[0] >> (2 * i + 2) & 3];
        if (pipeline.filters[i].id == HUB_FILTER_SHUFFLE)
            pipeline.filters[i].param = 1 + data[1] % 16;
    }
    const size_t half = HUB_MAX(size - 2, out_size) + 64;
    uint8_t *out = malloc(out_size + 1), *scratch = malloc(2 * half);
    if (out && scratch)
        (void)!hub_chunk_decode(&pipeline, data[1] >> 5, (struct hub_view){(const char *)data + 2, size - 2},
                                out, out_size, scratch, NULL);
    free(out);
    free(scratch);
}

/* One filter of hdf5plugin, as the last to be undone or as an inner one. */
static void fuzz_plugin(const uint8_t *data, size_t size, size_t out_size)
{
    static const uint32_t ids[6] = {HUB_FILTER_BLOSC,          HUB_FILTER_LZ4,
                                    HUB_FILTER_ZSTD,           HUB_FILTER_BITSHUFFLE,
                                    HUB_FILTER_BITSHUFFLE_LZ4, HUB_FILTER_BITSHUFFLE_ZSTD};
    if (size < 2)
        return;
    const bool inner = data[0] & 0x80;
    const uint32_t id = ids[data[0] % 6];
    const struct hub_filter filter = {id, hub_filter_find(id)->by_element ? 1u + data[1] % 16 : 0};
    struct hub_pipeline pipeline = {.count = 1, .filters = {filter}};
    if (inner)
        pipeline = (struct hub_pipeline){2, 0, {{HUB_FILTER_FLETCHER32, 0}, filter}};
    const size_t half = HUB_MAX(size - 2, out_size) + 64;
    uint8_t *out = malloc(out_size + 1), *scratch = malloc(2 * half);
    if (out && scratch)
        (void)!hub_chunk_decode(&pipeline, 0, (struct hub_view){(const char *)data + 2, size - 2}, out,
                                out_size, scratch, NULL);
    free(out);
    free(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static enum hub_status (*const decoders[6])(const void *, size_t, void *, size_t, struct hub_error *) = {
        hub_inflate, hub_gunzip, hub_unlzf, hub_unsnappy, hub_unzstd, hub_unlz4};
    if (size < 3)
        return 0;
    const size_t out_size = data[1] | (size_t)data[2] << 8;
    const unsigned which = data[0] % 8;
    if (which == 6) {
        fuzz_chunk(data + 3, size - 3, out_size);
        return 0;
    }
    if (which == 7) {
        fuzz_plugin(data + 3, size - 3, out_size);
        return 0;
    }
    uint8_t *out = malloc(out_size ? out_size : 1);
    if (out)
        (void)!decoders[which](data + 3, size - 3, out, out_size, NULL);
    free(out);
    return 0;
}
