/* In place of h5_library.c: what libhdf5 does with broken files is the sandbox's business, not a fuzzer's. */
#include "storage/formats/hdf5/h5_parse.h"

enum hub_status h5_library_rows(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                struct hub_piece *piece, struct hub_error *err)
{
    (void)file, (void)dataset, (void)piece;
    return hub_fail(err, HUB_UNSUPPORTED, "no library here");
}

void h5_library_close(struct hub_h5 *file)
{
    file->library = 0;
}

enum hub_status h5_library_read(struct hub_h5 *file, const struct hub_h5_dataset *dataset, uint64_t first,
                                uint64_t count, void *out, struct hub_error *err)
{
    (void)file, (void)dataset, (void)first, (void)count, (void)out;
    return hub_fail(err, HUB_UNSUPPORTED, "no library here");
}
