/* The numpy header reader: the input is an array; and its first bytes as a type of its own. What is accepted
 * must fit. */
#include "storage/formats/npy.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_byte_source source;
    struct hub_npy npy;
    struct hub_variant variant;
    uint64_t bytes;
    hub_byte_source_memory(&source, data, size);
    (void)!hub_npy_dtype((struct hub_view){(const char *)data, HUB_MIN(size, 8)}, &variant, NULL);
    if (hub_npy_read(&source, 0, size, &npy, NULL))
        return 0;
    if (npy.data_offset > size || npy.data_bytes > size - npy.data_offset ||
        hub_npy_size(npy.item.item_size, npy.shape, npy.rank, &bytes, NULL) || bytes != npy.data_bytes)
        abort();
    if (hub_npy_variant(&npy.item, npy.shape, npy.rank, &variant, NULL))
        return 0;
    if (!hub_variant_valid(&variant) || hub_variant_row_bytes(&variant) != bytes)
        abort();
    HUB_CLEANUP(hub_freep) uint8_t *out = malloc(bytes + 1);
    if (out)
        hub_npy_transpose(&variant, data + npy.data_offset, out);
    return 0;
}
