/* Heaps at address 0: a global heap collection and its objects, and a fractal heap with ids taken from the
 * end of the bytes. */
#include "tests/fuzz/h5_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 80)
        return 0;
    struct hub_h5 *file = bare_of(data, size);
    struct hub_extent extent;
    struct h5_fractal heap;
    for (uint32_t i = 0; i < 70; i++) {
        if (h5_heap_find(file, 0, i, &extent, NULL) == HUB_OK &&
            (extent.offset > size || extent.length > size - extent.offset))
            abort();
        if (h5_heap_find(file, 8, i, &extent, NULL) == HUB_OK &&
            (extent.offset > size || extent.length > size - extent.offset))
            abort();
    }
    const struct hub_h5_type text = {.field = HUB_FIELD_TEXT, .vlen_item = 1};
    if (h5_heap_item(file, &text, data + size - 16, &extent, NULL) == HUB_OK &&
        (extent.offset > size || extent.length > size - extent.offset))
        abort();
    struct hub_buf out = HUB_BUF_INIT(1 * MIB);
    if (h5_fractal_open(file, 0, &heap, NULL) == HUB_OK)
        for (size_t at = size - 80; at + heap.id_length <= size; at += 8)
            (void)!h5_fractal_get(file, &heap, data + at, &out, NULL);
    hub_buf_dispose(&out);
    hub_h5_close(file);
    return 0;
}
