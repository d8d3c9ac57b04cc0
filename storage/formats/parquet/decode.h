/**
 * What inspection must know about the values behind the pages: that every row of a list column has the same
 * shape, how many nulls there are, the numbers of small bookkeeping columns, and the first bytes of the first
 * string. Pages are decoded one at a time into buffers that are kept from page to page.
 */
#ifndef HUB_FORMATS_PARQUET_DECODE_H
#define HUB_FORMATS_PARQUET_DECODE_H

#include "storage/codec/codec.h"
#include "storage/formats/parquet/pages.h"

struct hub_parquet_decoder {
    struct hub_byte_source *source;
    uint64_t summed;  /* bytes that hub_parquet_verify has read */
    uint32_t located; /* values that hub_parquet_extents has found */
    struct hub_buf stored, page, dictionary, views, levels, values, built;
};

void hub_parquet_decoder_init(struct hub_parquet_decoder *d, struct hub_byte_source *source);
void hub_parquet_decoder_dispose(struct hub_parquet_decoder *d);

/** Compare the pages that have a checksum with it, up to 256 MiB of them with one decoder. HUB_CORRUPT. */
HUB_MUST_USE enum hub_status hub_parquet_verify(struct hub_parquet_decoder *d,
                                                const struct hub_parquet_pages *pages, struct hub_error *err);

/** Shape of the rows of a list column, gathered over its row groups. Zeroed before the first. */
struct hub_parquet_shape {
    uint32_t dims[HUB_MAX_RANK]; /* outermost first, `max_rep` of them; meaningless before the first row */
    bool known[HUB_MAX_RANK];
    bool ragged; /* rows differ, or a list is empty or null */
    bool uneven; /* lists within the rows differ */
    uint64_t rows;
    uint64_t gaps; /* entries that stand for a list without elements, or none */
    uint64_t
        *lengths;   /* NULL, or to be filled: items of each row's list; of room for the rows of all groups */
    uint64_t nulls; /* elements that are null */
    uint64_t null_rows; /* lists that are null; of lists of lists also any that holds an empty one */
    uint32_t longest;   /* elements of the longest row */
};

/** Decode the levels of a chunk, and note in the pages of lists which rows they begin with. HUB_CORRUPT when
 * they contradict each other or `rows`. */
HUB_MUST_USE enum hub_status hub_parquet_scan(struct hub_parquet_decoder *d,
                                              const struct hub_parquet_leaf *leaf,
                                              struct hub_parquet_pages *pages, uint64_t rows,
                                              struct hub_parquet_shape *shape, struct hub_error *err);

/** All values of a flat integer, boolean or float column chunk as doubles and as integers (whichever is not
 * NULL); nulls are 0. */
HUB_MUST_USE enum hub_status hub_parquet_numbers(struct hub_parquet_decoder *d,
                                                 const struct hub_parquet_leaf *leaf,
                                                 const struct hub_parquet_pages *pages, int64_t *integers,
                                                 double *reals, struct hub_error *err);

/**
 * Rows [first, first + count) of a column of numbers or strings, lists flattened: of tables that describe,
 * never of data. A null or an empty list has no items. Zeroed before the first row group, which all follow
 * in order.
 */
struct hub_parquet_items {
    uint64_t first_row, row_count; /* wanted, of the whole column */
    uint64_t *starts;              /* row_count + 1: the first item of each row */
    struct hub_buf numbers;        /* doubles; of strings the offset in `text` where each ends, as uint64_t */
    struct hub_buf text;
    uint64_t seen; /* rows, of all row groups so far */
};
HUB_MUST_USE enum hub_status hub_parquet_items(struct hub_parquet_decoder *d,
                                               const struct hub_parquet_leaf *leaf,
                                               const struct hub_parquet_pages *pages,
                                               struct hub_parquet_items *items, struct hub_error *err);
void hub_parquet_items_dispose(struct hub_parquet_items *items);

/** The same of the elements of lists, `room` of them at most, as doubles. */
HUB_MUST_USE enum hub_status hub_parquet_element_numbers(struct hub_parquet_decoder *d,
                                                         const struct hub_parquet_leaf *leaf,
                                                         const struct hub_parquet_pages *pages, uint64_t room,
                                                         double *reals, struct hub_error *err);

/** What a data page holds, until the decoder is used again: both levels of each entry, and its value, which
 * is nothing where there is none. */
struct hub_parquet_entries {
    uint32_t count;
    const uint8_t *reps, *defs;
    const char *values;                /* of the leaf's item */
    const struct hub_page_view *views; /* of strings: hub_page_bytes(&job, &views[i]) */
    struct hub_page_job job;
};
/** The pages behind the dictionary by their number, in order. */
HUB_MUST_USE enum hub_status hub_parquet_load(struct hub_parquet_decoder *d,
                                              const struct hub_parquet_leaf *leaf,
                                              const struct hub_parquet_pages *pages, uint32_t page,
                                              struct hub_parquet_entries *out, struct hub_error *err);

/** For BYTE_ARRAY pages that do not hold their values as they are: how long the longest is, and what the
 * values of each page come to (`longest`, `sum`), so that reading them has a price. Nothing to do for other
 * columns. */
HUB_MUST_USE enum hub_status hub_parquet_measure(struct hub_parquet_decoder *d,
                                                 const struct hub_parquet_leaf *leaf,
                                                 struct hub_parquet_pages *pages, struct hub_error *err);

/** Of pages that were measured, the first `size` bytes of the first string that is not null; `got` is 0 when
 * there is none. */
HUB_MUST_USE enum hub_status hub_parquet_first_bytes(struct hub_parquet_decoder *d,
                                                     const struct hub_parquet_leaf *leaf,
                                                     const struct hub_parquet_pages *pages, void *out,
                                                     size_t size, size_t *got, struct hub_error *err);

#endif
