/**
 * Filters of HDF5 chunks that we can undo: the one list. Layouts are proven, plans priced and chunks decoded
 * by it. A row's NAME is HUB_FILTER_NAME; what undoes it is `hub_undo_...` of storage/codec.
 */
#ifndef HUB_MODEL_FILTERS_H
#define HUB_MODEL_FILTERS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
#define HUB_FILTERS(ROW) \
    /*  name        number of HDF5  stored bytes  by element  ns a byte  and a stored one  undone by */ \
    ROW(DEFLATE,    1,              RESIZES,      false,      0.5,       3.0,              deflate) \
    ROW(SHUFFLE,    2,              KEEPS,        true,       0.25,      0,                shuffle) \
    ROW(FLETCHER32, 3,              SUMS,         false,      0.25,      0,                fletcher32) \
    ROW(LZF,        32000,          RESIZES,      false,      0.8,       0,                lzf) \
    ROW(BLOSC,      32001,          RESIZES,      false,      0.3,       0.6,              blosc) \
    ROW(LZ4,        32004,          RESIZES,      false,      0.3,       0,                lz4) \
    ROW(ZSTD,       32015,          RESIZES,      false,      0.3,       0.7,              zstd) \
    /* one number, three ways of storing: the compressor is the upper half */ \
    ROW(BITSHUFFLE, 32008,          KEEPS,        true,       0.45,      0,                bitshuffle) \
    ROW(BITSHUFFLE_LZ4,  32008 | 2 << 16, RESIZES, true,      0.6,       0,                bitshuffle_lz4) \
    ROW(BITSHUFFLE_ZSTD, 32008 | 3 << 16, RESIZES, true,      0.5,       0.4,              bitshuffle_zstd)
/* clang-format on */

#define HUB_FILTER_ID(name, number, ...) HUB_FILTER_##name = (number),
enum hub_filter_id { HUB_FILTERS(HUB_FILTER_ID) };
#undef HUB_FILTER_ID

struct hub_filter_kind {
    uint32_t id;
    /** What it does to the number of bytes: anything; nothing; a sum of 4 bytes behind them, stripped in
     * place. */
    enum hub_filter_effect { HUB_FILTER_RESIZES, HUB_FILTER_KEEPS, HUB_FILTER_SUMS } effect;
    bool by_element; /* has the element's size as its parameter; others have none */
    /** Of a processor, to undo it: for each byte that comes out, and for each that was stored. Deflate's are
     * many for data that hardly compress, and few for zeros. */
    double ns_byte, ns_stored;
};

/** NULL: not one of ours. */
const struct hub_filter_kind *hub_filter_find(uint32_t id);

#endif
