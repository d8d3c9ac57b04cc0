/** Columns of what episodes are chosen and sorted by, where their table has none of it. */
#ifndef HUB_PAGE_COLUMNS_H
#define HUB_PAGE_COLUMNS_H

#include "server/page/frame.h"

/** Of the API's table of these episodes: "number" and the names. */
struct page_columns {
    json_t *table; /* NULL: there are none */
};

void page_columns_dispose(struct page_columns *columns);
/** For the episodes of a list; none where nothing else is asked for, or it is not to be had. */
HUB_MUST_USE enum hub_status page_columns_fetch(struct page *page, const json_t *list,
                                                struct page_columns *out);
void page_columns_heads(struct page *page, const struct page_columns *columns);
void page_columns_cells(struct page *page, const struct page_columns *columns, uint64_t number);

#endif
