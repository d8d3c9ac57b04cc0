/* The tar indexer: the input is an archive. Header checksums are mended first, else no variation would get
 * past them. Members that look like arrays are read as such. */
#include "storage/formats/npy.h"
#include "storage/formats/tar.h"

#include <stdio.h>
#include <stdlib.h>

static void mend(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 512 <= size; at += 512) {
        unsigned sum = 8 * ' ';
        if (memcmp(data + at + 257, "ustar", 5) != 0)
            continue;
        for (size_t i = 0; i < 512; i++)
            sum += i >= 148 && i < 156 ? 0 : data[at + i];
        snprintf((char *)data + at + 148, 8, "%06o", sum);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HUB_CLEANUP(hub_freep) uint8_t *copy = malloc(size + 1);
    struct hub_byte_source source;
    struct hub_tar tar;
    struct hub_tar_member m;
    bool end = false;
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    mend(copy, size);
    hub_byte_source_memory(&source, copy, size);
    hub_tar_init(&tar, &source);
    while (!hub_tar_next(&tar, &m, &end, NULL) && !end) {
        struct hub_npy npy;
        if (m.offset > size || m.size > size - m.offset)
            abort();
        if (hub_view_ends(m.name, ".npy"))
            (void)!hub_npy_read(&source, m.offset, m.size, &npy, NULL);
    }
    hub_tar_dispose(&tar);
    return 0;
}
