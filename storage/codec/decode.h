/** Decoders with a ceiling instead of an exact length, for pipelines whose inner lengths nobody states. */
#ifndef HUB_CODEC_DECODE_H
#define HUB_CODEC_DECODE_H

#include "storage/base/cursor.h"
#include "storage/codec/codec.h"

/** At most `capacity` bytes; how many goes to `out_size`, which may be NULL: then it must be `capacity`. */
HUB_MUST_USE enum hub_status hub_inflate_upto(const void *in, size_t in_size, void *out, size_t capacity,
                                              size_t *out_size, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unlzf_upto(const void *in, size_t in_size, void *out, size_t capacity,
                                            size_t *out_size, struct hub_error *err);

/** A chunk on its way through its filters. */
struct hub_stage {
    const uint8_t *data;
    size_t size;
};

/** Undo one filter: from the stage into `out`, which becomes the stage; or in place, and `out` stays as it
 * is. At most `capacity` bytes; `exact`: all of them must come out. */
typedef enum hub_status (*hub_undo_fn)(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                                       bool exact, struct hub_error *err);

#define HUB_DECLARE_UNDO(name, number, effect, by_element, ns_byte, ns_stored, undo)                         \
    enum hub_status hub_undo_##undo(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,  \
                                    bool exact, struct hub_error *err);
HUB_FILTERS(HUB_DECLARE_UNDO)
#undef HUB_DECLARE_UNDO

/** RLE / bit-packed hybrid of Parquet, read a batch at a time. */
struct hub_rle {
    const uint8_t *at, *end;
    unsigned width;     /* bits of a value, 0 to 32; 0: every value is 0 and nothing is stored */
    uint32_t left;      /* values of the run not taken yet */
    uint32_t value;     /* of a repeated run */
    const uint8_t *run; /* of a packed run: its bytes; NULL: repeated */
    uint64_t bit;       /* of a packed run: next value's first bit */
};

struct hub_rle hub_rle_of(const void *data, size_t size, unsigned width);
/** The next `count` values, or HUB_CORRUPT when the data ends before. `out` NULL: they are skipped. */
HUB_MUST_USE enum hub_status hub_rle_take(struct hub_rle *rle, uint32_t *out, uint32_t count,
                                          struct hub_error *err);
/** Are the next `count` values all `value`, in one repeated run? Then they are passed over: levels without
 * nulls cost nothing. */
bool hub_rle_repeats(struct hub_rle *rle, uint32_t value, uint32_t count);

/** DELTA_BINARY_PACKED of Parquet, read a batch at a time. */
struct hub_delta {
    struct hub_cursor in;     /* behind the miniblock that is read */
    uint64_t value, smallest; /* the last one taken; the smallest difference of the block */
    uint64_t bit;             /* of the next one, in `run` */
    const uint8_t *run, *widths;
    uint32_t left;                 /* values not taken yet */
    uint32_t per_mini, minis;      /* values of a miniblock, miniblocks of a block */
    uint32_t mini, in_mini, width; /* the next miniblock of the block; of this one: values left, their bits */
    bool first;                    /* the value of the head was not taken yet */
};

HUB_MUST_USE enum hub_status hub_delta_open(const void *data, size_t size, struct hub_delta *out,
                                            struct hub_error *err);
/** The next `count` values, modulo 2^64, or HUB_CORRUPT when there are fewer. `out` NULL: they are skipped.
 * */
HUB_MUST_USE enum hub_status hub_delta_take(struct hub_delta *delta, uint64_t *out, uint32_t count,
                                            struct hub_error *err);
/** What follows behind all values; none is decoded for that. */
HUB_MUST_USE enum hub_status hub_delta_end(const struct hub_delta *delta, struct hub_cursor *after,
                                           struct hub_error *err);

#endif
