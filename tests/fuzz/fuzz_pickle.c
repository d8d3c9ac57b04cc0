/* The pickle reader: the input is one pickle. Whatever it builds is walked as metadata and as rows. */
#include "storage/formats/pickle/pickle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf json = HUB_BUF_INIT(64 * KIB);
    struct hub_byte_source source;
    struct hub_pickle p;
    hub_byte_source_memory(&source, data, size);
    hub_pickle_init(&p);
    if (!hub_pickle_read(&p, &source, 0, size, NULL)) {
        (void)!hub_pickle_json(&p, &source, p.root, &json, NULL);
        for (uint32_t i = 0; i < p.value_count; i++) {
            struct hub_pickle_data row;
            if (hub_pickle_array(&p, i, &row, NULL) || hub_variant_row_bytes(&row.variant) > MIB)
                continue;
            HUB_CLEANUP(hub_freep) void *out = malloc((size_t)hub_variant_row_bytes(&row.variant) + 1);
            (void)!hub_pickle_copy(&source, &row, out, NULL);
        }
    }
    hub_pickle_dispose(&p);
    return 0;
}
