/**
 * Exact-length decoders over foreign bytes. Every function writes exactly the expected number of bytes or
 * fails with HUB_CORRUPT; none reads past its input or allocates more than it says. Pure, safe from any
 * thread.
 */
#ifndef HUB_CODEC_CODEC_H
#define HUB_CODEC_CODEC_H

#include "storage/model/layout.h"

/** zlib stream (RFC 1950), by libdeflate; a decompressor is kept per thread. */
HUB_MUST_USE enum hub_status hub_inflate(const void *in, size_t in_size, void *out, size_t out_size,
                                         struct hub_error *err);
HUB_MUST_USE enum hub_status hub_gunzip(const void *in, size_t in_size, void *out, size_t out_size,
                                        struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unlzf(const void *in, size_t in_size, void *out, size_t out_size,
                                       struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unsnappy(const void *in, size_t in_size, void *out, size_t out_size,
                                          struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unzstd(const void *in, size_t in_size, void *out, size_t out_size,
                                        struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unlz4(const void *in, size_t in_size, void *out, size_t out_size,
                                       struct hub_error *err);
HUB_MUST_USE enum hub_status hub_unlz4_frame(const void *in, size_t in_size, void *out, size_t out_size,
                                             struct hub_error *err);
/** HDF5 shuffle undone: bytes that do not fill an element stay at the tail. in and out must not overlap. */
void hub_unshuffle(const uint8_t *in, uint8_t *out, size_t size, uint32_t element);
/** HDF5 Fletcher-32 of `size` bytes as the library stores it. */
uint32_t hub_fletcher32(const void *data, size_t size);

/**
 * One HDF5 chunk: the pipeline run backwards, skipping the filters of `mask`.
 * @param scratch   at least max(out_size, in.size) + 64 bytes, twice; may be NULL when the pipeline (less the
 * mask) is empty
 */
HUB_MUST_USE enum hub_status hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask,
                                              struct hub_view in, void *out, size_t out_size, void *scratch,
                                              struct hub_error *err);

/**
 * Values of one Parquet data page, levels and dictionary resolved. Fixed: `count` values of `item_size`
 * bytes (low bytes of the physical value) go to `out`; BYTE_ARRAY, and FIXED where asked so: (offset,
 * length) pairs go to `views`. `valid` (one byte a value, may be NULL) is 0 for nulls, whose values are
 * zero, NaN for floats.
 */
struct hub_page_view {
    uint32_t offset, length;
    bool in_dictionary; /* in its data, else in the page's */
    bool built;         /* in the job's `built` */
};
struct hub_page_job {
    const struct hub_column *column;
    const struct hub_page *page;
    const uint8_t *data;                          /* page->decoded bytes, decompressed */
    const struct hub_page *dictionary;            /* NULL: none */
    const uint8_t *dictionary_data;               /* decompressed PLAIN values */
    const struct hub_page_view *dictionary_views; /* BYTE_ARRAY: of hub_page_index */
    uint32_t item_size;                           /* 0: views */
    bool is_float;
    uint32_t skip, count; /* values skip .. skip+count-1 of the page */
    /* Room for values that do not lie in the page as they are: DELTA_BYTE_ARRAY needs its longest value and
     * the views' bytes, BYTE_STREAM_SPLIT the views' bytes. More than that is HUB_CORRUPT. */
    uint8_t *built;
    size_t built_size;
};
HUB_MUST_USE enum hub_status hub_page_values(const struct hub_page_job *job, void *out,
                                             struct hub_page_view *views, uint8_t *valid,
                                             struct hub_error *err);
static inline const uint8_t *hub_page_bytes(const struct hub_page_job *job, const struct hub_page_view *view)
{
    return (view->built ? job->built : view->in_dictionary ? job->dictionary_data : job->data) + view->offset;
}
/** Both levels of each of the page's values; `skip` and `count` do not matter. */
HUB_MUST_USE enum hub_status hub_page_levels(const struct hub_page_job *job, uint8_t *reps, uint8_t *defs,
                                             struct hub_error *err);
/** Where the values of a decompressed BYTE_ARRAY dictionary lie: dictionary->values entries go to `out`, once
 * for all pages. None is longer than `longest`, else HUB_CORRUPT. */
HUB_MUST_USE enum hub_status hub_page_index(const struct hub_page *dictionary, const uint8_t *data,
                                            uint32_t longest, struct hub_page_view *out,
                                            struct hub_error *err);
/** Bytes of all BYTE_ARRAY values of a page together, and of the longest; `skip`, `count` and `built` do not
 * matter. */
HUB_MUST_USE enum hub_status hub_page_total(const struct hub_page_job *job, uint64_t *bytes,
                                            uint32_t *longest, struct hub_error *err);
/** Do the levels of a decompressed page say, in one run, that all its values are there? */
bool hub_page_is_full(const struct hub_column *column, const struct hub_page *page, const uint8_t *data);
/** Decompress a page body (v1: levels and values together; v2: level runs are copied as they are). */
HUB_MUST_USE enum hub_status hub_page_unpack(const struct hub_column *column, const struct hub_page *page,
                                             const void *in, void *out, struct hub_error *err);
/** Levels of a run (RLE / bit-packed hybrid) into one byte each. `used`: bytes consumed. */
HUB_MUST_USE enum hub_status hub_rle_levels(const void *in, size_t in_size, unsigned bit_width,
                                            uint32_t count, uint8_t *out, size_t *used,
                                            struct hub_error *err);

#endif
