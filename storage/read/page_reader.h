/**
 * A cut of a piece whose rows are values of Parquet pages: which pages hold its rows, and what their values
 * come to. gather_pages.c reads them, price_pages.c says what that costs; neither looks at other pages. All
 * of it follows from the layout, which is proved: nothing fails here.
 */
#ifndef HUB_READ_PAGE_READER_H
#define HUB_READ_PAGE_READER_H

#include "storage/codec/codec.h"
#include "storage/read/decoded_cache.h"
#include "storage/read/gather.h"

struct page_reader {
    struct hub_gather *g;
    const struct hub_cut *cut;
    const struct hub_column *column;
    const struct hub_page *pages;
    uint32_t page_count;
    struct hub_file *file;
    bool lists;                        /* of varying length */
    uint64_t items;                    /* values of a row, but of lists */
    uint64_t low;                      /* first value of the lowest row */
    bool partial;                      /* rows of the piece are left out: others may want them */
    struct hub_decoded *held[2];       /* the data page and the dictionary, where they are kept ones */
    const uint8_t *dictionary;         /* decoded, once needed ... */
    const struct hub_page_view *views; /* ... and where its BYTE_ARRAY values lie */
};

/** Rows of the cut that have values in a page, and the values of the page from the first to the last of
 * them. */
struct page_part {
    const struct hub_page *page;
    uint64_t first, count;
    uint64_t from, to; /* values of the piece */
};

/** Without a gather, a file or anything decoded. */
struct page_reader hub_page_reader_of(const struct hub_plan *plan, const struct hub_cut *cut);
/** The page that holds a value: the last that begins at or before it. */
uint32_t hub_page_with(const struct page_reader *r, uint64_t value);
/** false: no wanted row has values in this page. */
bool hub_page_part_of(const struct page_reader *r, const struct hub_page *page, struct page_part *part);

/** What `count` values of an encoding that expands come to at most. */
uint64_t hub_page_expanded(const struct hub_column *column, const struct hub_page *page, uint64_t count);
/** Room for `count` values that do not lie in their page as they are. */
uint64_t hub_page_room_to_build(const struct hub_column *column, const struct hub_page *page, uint64_t count,
                                bool views);

/* ---- lists of varying length ---- */

uint64_t hub_cut_last_row(const struct hub_cut *cut);
/** The page in which a row begins: the last before which no later ones do. */
uint32_t hub_page_with_row(const struct page_reader *r, uint64_t row);
/** Has the page values of the row, or of one before? */
bool hub_page_reaches(const struct hub_page *page, uint64_t row);

/* ---- price_pages.c ---- */

/** The price of a cut, as of struct hub_piece_ops. */
void hub_pages_price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price);

#endif
