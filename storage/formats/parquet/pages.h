/**
 * The pages of one column chunk, found by walking their headers (parquet.thrift PageHeader), as the layout's
 * structs. No page body is read. Unknown encodings are HUB_UNSUPPORTED by name.
 */
#ifndef HUB_FORMATS_PARQUET_PAGES_H
#define HUB_FORMATS_PARQUET_PAGES_H

#include "storage/formats/parquet/footer.h"

enum { HUB_PARQUET_MAX_PAGES = 1000000 };

/** The CRC-32 of a page's stored bytes, where its header has one. */
struct hub_parquet_sum {
    uint32_t page, crc;
};

struct hub_parquet_pages {
    /* `dictionary` is 0 (pages[0] is one) or HUB_NONE: the caller adds its layout's offset */
    struct hub_column column;
    struct hub_page *pages;
    uint32_t count; /* the dictionary counts */
    uint32_t capacity;
    struct hub_parquet_sum *sums;
    uint32_t sum_count, sum_capacity;
};

HUB_MUST_USE enum hub_status hub_parquet_walk(struct hub_byte_source *source,
                                              const struct hub_parquet_leaf *leaf,
                                              const struct hub_parquet_chunk *chunk,
                                              struct hub_parquet_pages *out, struct hub_error *err);
void hub_parquet_pages_dispose(struct hub_parquet_pages *pages);

/** The pages that hold rows: behind the dictionary. */
static inline uint32_t hub_parquet_first_data(const struct hub_parquet_pages *pages)
{
    return pages->column.dictionary == HUB_NONE ? 0 : 1;
}

/** Level entries of all of them. */
static inline uint64_t hub_parquet_entries(const struct hub_parquet_pages *pages)
{
    const struct hub_page *last =
        pages->count > hub_parquet_first_data(pages) ? &pages->pages[pages->count - 1] : NULL;
    return last ? (uint64_t)last->first_value + last->values : 0;
}

#endif
