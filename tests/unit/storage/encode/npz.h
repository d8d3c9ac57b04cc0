/* Headers and whole members of an npz, for tests. */
#ifndef TEST_ENCODE_NPZ_H
#define TEST_ENCODE_NPZ_H

#include "storage/encode/encode.h"

/* The header of `rows` rows of the variant. */
static inline enum hub_status npy_header(const struct hub_variant *variant, uint64_t rows, bool bare,
                                         struct hub_buf *out)
{
    const struct hub_rows shape = {.variant = *variant, .rows = rows};
    return hub_npy_array_header(HUB_NPY_VALUES, &shape, bare, 0, out, NULL);
}

static inline enum hub_status add_member(struct hub_npz_writer *npz, struct hub_buf *out, const char *name,
                                         struct hub_view npy)
{
    HUB_TRY(hub_npz_writer_open_member(npz, name, npy.size, NULL));
    hub_npz_writer_take(npz, npy.data, npy.size);
    HUB_TRY(hub_buf_add_view(out, npy, NULL));
    return hub_npz_writer_close_member(npz, NULL);
}

#endif
