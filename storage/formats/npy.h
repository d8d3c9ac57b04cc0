/**
 * The numpy words shared by several formats: dtype descriptions ("<f4") and the header of a .npy file
 * (versions 1.0 to 3.0), https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. Object,
 * structured and unicode types are named and refused; times are their int64.
 */
#ifndef HUB_FORMATS_NPY_H
#define HUB_FORMATS_NPY_H

#include "storage/formats/source.h"

/** Kind, item size and byte order of "<f4", "|b1", "u1", "S5", "<M8[ns]". HUB_UNSUPPORTED names what it is
 * not. Leaves rank and dims. */
HUB_MUST_USE enum hub_status hub_npy_dtype(struct hub_view text, struct hub_variant *out,
                                           struct hub_error *err);

struct hub_npy {
    struct hub_variant item; /* of one element: rank 0 */
    uint32_t rank;
    uint64_t shape[32];
    bool fortran;
    bool objects;         /* what follows the header is a pickle */
    bool utf32;           /* texts of 4 bytes a character: see hub_npy_texts */
    bool text;            /* items of fixed size are texts, in UTF-8 */
    uint64_t data_offset; /* within the source */
    uint64_t data_bytes;
};

/** The header of the array at `offset`, of `size` bytes in all. Proves that the data fits. Of an array of
 * objects, HUB_UNSUPPORTED, `objects` and where the pickle lies are set; of texts in UTF-32 all but that
 * they can be served. */
HUB_MUST_USE enum hub_status hub_npy_read(struct hub_byte_source *source, uint64_t offset, uint64_t size,
                                          struct hub_npy *out, struct hub_error *err);

/** Bytes of item x shape, or HUB_CORRUPT on overflow. */
HUB_MUST_USE enum hub_status hub_npy_size(uint32_t item_size, const uint64_t *shape, uint32_t rank,
                                          uint64_t *out, struct hub_error *err);

/** The variant of a row that is a whole array of this shape. HUB_UNSUPPORTED over HUB_MAX_RANK dimensions or
 * 1 GiB. */
HUB_MUST_USE enum hub_status hub_npy_variant(const struct hub_variant *item, const uint64_t *shape,
                                             uint32_t rank, struct hub_variant *out, struct hub_error *err);

/** Copy one array from Fortran to C order. `in` and `out` hold the variant's row bytes and do not overlap. */
void hub_npy_transpose(const struct hub_variant *variant, const uint8_t *in, uint8_t *out);

#endif
