/* Shards as a client sends them. */
#include "storage/xet/shard.h"
#include "storage/xet/xorb.h"

#include <stdlib.h>

/* The terms of the files are one after another, and no more than came. */
static void check(const struct hub_shard *shard, size_t size)
{
    uint32_t term = 0;
    for (uint32_t i = 0; i < shard->file_count; i++) {
        const struct hub_shard_file *file = &shard->files[i];
        uint64_t bytes = 0;
        if (file->first_term != term || file->term_count > shard->term_count - term)
            abort();
        for (; term < file->first_term + file->term_count; term++) {
            if (shard->terms[term].first >= shard->terms[term].end ||
                shard->terms[term].end > HUB_XORB_CHUNKS)
                abort();
            bytes += shard->terms[term].bytes;
        }
        if (bytes != file->size)
            abort();
    }
    if (term != shard->term_count || (shard->file_count + (uint64_t)term) * HUB_SHARD_RECORD > size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_shard_scan_dispose) struct hub_shard_scan scan = {0};
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard = {0};
    const size_t half = size / 2;
    if (hub_shard_scan_add(&scan, (struct hub_view){(const char *)data, half}, NULL) ||
        hub_shard_scan_add(&scan, (struct hub_view){(const char *)data + half, size - half}, NULL) ||
        hub_shard_scan_end(&scan, &shard, NULL))
        return 0;
    check(&shard, size);
    return 0;
}
