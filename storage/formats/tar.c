/* Tar archives among the files of a job: see tar.h. */
#include "storage/formats/tar.h"

/* Headers come through the window, so that neighbours cost one read. */
static enum hub_status read_source(void *user, uint64_t offset, void *out, size_t size, size_t *got,
                                   struct hub_error *err)
{
    struct hub_byte_source *source = user;
    const uint8_t *at;
    *got = 0;
    if (size <= HUB_BYTE_SOURCE_WINDOW) {
        HUB_TRY(hub_byte_source_peek(source, offset, size, &at, got, err));
        memcpy(out, at, *got);
        return HUB_OK;
    }
    HUB_TRY(hub_byte_source_read(source, offset, out, size, err));
    *got = size;
    return HUB_OK;
}

void hub_tar_init(struct hub_tar *tar, struct hub_byte_source *source)
{
    hub_tar_begin(tar, read_source, source, source->size);
}
