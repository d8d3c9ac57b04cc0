/**
 * The values that a Parquet data page stores, nulls left out: a decoder over the section behind the levels,
 * which takes them in order and in batches. All encodings of hub_encoding_suits. Bytes of a file may say
 * anything: every function but hub_values_width returns HUB_CORRUPT where the page holds fewer values than
 * are taken, or values that cannot be. The decoder borrows the job and what that points to. Single-threaded.
 */
#ifndef HUB_CODEC_PAGE_VALUES_H
#define HUB_CODEC_PAGE_VALUES_H

#include "storage/codec/decode.h"

enum { HUB_VALUES_AT_ONCE = 512 }; /* the largest `count` of every call */

/** Which of the parts are in use depends on the encoding. */
struct hub_value_decoder {
    const struct hub_page_job *job;
    struct hub_cursor plain;          /* PLAIN values; the bytes of DELTA_LENGTH and DELTA_BYTE_ARRAY */
    struct hub_rle rle;               /* dictionary indices, booleans */
    struct hub_delta delta, prefixes; /* numbers or lengths; DELTA_BYTE_ARRAY: what a value shares */
    uint64_t bit;                     /* of plain booleans */
    uint64_t stream, next;            /* BYTE_STREAM_SPLIT: bytes of a stream, the next value */
    struct hub_page_view last;        /* DELTA_BYTE_ARRAY: the value before, in job->built ... */
    size_t used;                      /* ... where this much is taken */
    unsigned width;
};

/** Bytes of a stored value; 0: they are not all of one size, or are bits. */
unsigned hub_values_width(const struct hub_column *column);
/** A decoder at the first of `values`, the section. HUB_UNSUPPORTED: the encoding does not suit the type. */
HUB_MUST_USE enum hub_status hub_values_open(const struct hub_page_job *job, struct hub_cursor values,
                                             struct hub_value_decoder *v, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_values_skip(struct hub_value_decoder *v, uint32_t count,
                                             struct hub_error *err);
/** The low `item_size` bytes of each, one after another. */
HUB_MUST_USE enum hub_status hub_values_take(struct hub_value_decoder *v, uint8_t *out, uint32_t count,
                                             struct hub_error *err);
/** Where the bytes of each lie. What does not lie in the page or its dictionary goes to the job's `built`. */
HUB_MUST_USE enum hub_status hub_values_views(struct hub_value_decoder *v, struct hub_page_view *out,
                                              uint32_t count, struct hub_error *err);
/** The lengths of BYTE_ARRAY values alone: nothing is built. */
HUB_MUST_USE enum hub_status hub_values_lengths(struct hub_value_decoder *v, uint64_t *out, uint32_t count,
                                                struct hub_error *err);

#endif
