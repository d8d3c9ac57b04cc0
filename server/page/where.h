/** What helps to filter the episodes of a dataset. */
#ifndef HUB_PAGE_WHERE_H
#define HUB_PAGE_WHERE_H

#include "server/page/frame.h"

/** Filters as links, of names that have values here, as the statistics of the dataset say; NULL: there are
 * none. */
void page_where_examples(struct page *page, const json_t *dataset, const json_t *statistics);
/** Whether all values are measured that the episodes of an answer are chosen and sorted by. */
bool page_where_is_measured(const json_t *answer);
/** A note with how many parts are measured, unless all are. */
void page_where_note(struct page *page, const json_t *answer);
/** What stands in the place of an empty table: the filters in use, each with a link that removes it, and the
 * names of the filter that no episode has a value for. */
HUB_MUST_USE enum hub_status page_where_empty(struct page *page, const json_t *dataset, const json_t *list);

#endif
