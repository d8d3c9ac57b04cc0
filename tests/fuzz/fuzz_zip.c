/* The zip indexer: the input is an archive. Members that are stored are read as arrays, the others
 * unpacked. */
#include "storage/formats/npy.h"
#include "storage/formats/zip.h"
#include "tests/fuzz/memory_files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_zip_dispose) struct hub_zip zip = {0};
    struct hub_byte_source source;
    hub_byte_source_memory(&source, data, size);
    if (hub_zip_read(&zip, &source, NULL))
        return 0;
    for (uint32_t i = 0; i < zip.count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(64 * KIB);
        const struct hub_zip_member *m = &zip.members[i];
        struct hub_files nowhere = {.side_budget = 0};
        struct hub_npy npy;
        uint64_t offset;
        if (hub_zip_find(&zip, m, &offset, NULL))
            continue;
        if (offset > size || m->stored > size - offset)
            abort();
        if (m->method == HUB_ZIP_STORED)
            (void)!hub_npy_read(&source, offset, m->size, &npy, NULL);
        else
            (void)!hub_zip_unpack(&zip, m, &nowhere, &offset, &head, NULL);
    }
    return 0;
}
