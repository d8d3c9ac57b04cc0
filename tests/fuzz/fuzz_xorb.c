/* Xorbs as a client sends them: framed block by block, then every chunk decoded. */
#include "storage/xet/xorb.h"

#include <stdlib.h>

/* What was framed lies within the input, in order and within the bounds. */
static void check(const struct hub_xorb_scan *scan, size_t size)
{
    uint32_t end = 0, raw = 0;
    if (scan->count == 0 || scan->count > HUB_XORB_CHUNKS || hub_xorb_scan_size(scan) > size)
        abort();
    for (uint32_t i = 0; i < scan->count; i++) {
        const struct hub_xorb_chunk chunk = scan->chunks[i];
        if (chunk.end <= end || chunk.raw_end <= raw || chunk.raw_end - raw > HUB_XORB_CHUNK_BYTES)
            abort();
        end = chunk.end;
        raw = chunk.raw_end;
    }
    if (raw > HUB_XORB_RAW_BYTES)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan = {0};
    const size_t half = size / 2;
    if (hub_xorb_scan_add(&scan, (struct hub_view){(const char *)data, half}, NULL) ||
        hub_xorb_scan_add(&scan, (struct hub_view){(const char *)data + half, size - half}, NULL) ||
        hub_xorb_scan_end(&scan, NULL))
        return 0;
    check(&scan, size);
    uint8_t *scratch = malloc(HUB_XORB_SCRATCH);
    uint32_t at = 0, raw = 0;
    for (uint32_t i = 0; i < scan.count && scratch; i++) {
        const size_t bytes = scan.chunks[i].raw_end - raw;
        uint8_t *out = malloc(bytes);
        if (out)
            (void)!hub_xorb_chunk_decode((struct hub_view){(const char *)data + at, scan.chunks[i].end - at},
                                         out, bytes, scratch, NULL);
        free(out);
        at = scan.chunks[i].end;
        raw = scan.chunks[i].raw_end;
    }
    free(scratch);
    return 0;
}
