/** What helps to filter the episodes of a dataset. */
#ifndef HUB_PAGE_WHERE_H
#define HUB_PAGE_WHERE_H

#include "server/page/frame.h"

/** Links to filters by names that have values here, by the statistics of the dataset; NULL: no statistics. */
void page_where_examples(struct page *page, const json_t *dataset, const json_t *statistics);
/** In the place of an empty table: which names of the filter no episode has, and the filters in use, each
 * with a link that removes it. */
HUB_MUST_USE enum hub_status page_where_empty(struct page *page, const json_t *dataset,
                                              const json_t *statistics);

#endif
