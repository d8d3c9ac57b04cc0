/* Chunk indexes: the first bytes choose kind and extent, the rest is the file with the index at address 0. */
#include "tests/fuzz/h5_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8)
        return 0;
    struct hub_h5 *file = bare_of(data + 8, size - 8);
    const struct h5_grid *grid;
    struct hub_h5_dataset d = {
        .address = 1, .rank = 1u + data[1] % 3, .storage = HUB_H5_CHUNKED, .index = data[0] % 6};
    d.layout_flags = data[6] & 3;
    d.pipeline.count = data[7] & 1;
    d.pipeline.filters[0].id = HUB_FILTER_DEFLATE;
    d.type.size = 1u + data[2] % 8;
    d.chunk_bytes = d.type.size;
    for (uint32_t i = 0; i < d.rank; i++) {
        d.dims[i] = data[3 + i] * 2u;
        d.max_dims[i] = data[6] >> (4 + i) & 1 ? UINT64_MAX : d.dims[i];
        d.chunk[i] = 1 + data[3 + i] / 16u;
        d.chunk_bytes *= d.chunk[i];
    }
    if (h5_grid_of(file, &d, &grid, NULL) == HUB_OK)
        for (uint64_t i = 0; i < grid->count; i++)
            if (grid->chunks[i].offset != HUB_ABSENT &&
                grid->chunks[i].offset + grid->chunks[i].size > size - 8)
                abort();
    hub_h5_close(file);
    return 0;
}
