/** Commands and programs that get this dataset from this hub. */
#ifndef HUB_PAGE_RECIPES_H
#define HUB_PAGE_RECIPES_H

#include "server/page/frame.h"

/** All that hold for this dataset and episode, for this field (NULL: none is numeric); `first`: those that get all of it. */
HUB_MUST_USE enum hub_status page_recipes(struct page *page, const json_t *dataset, uint64_t episode,
                                          const char *field, bool first);
/** What can be done with some of its episodes: "3, 7, 19". */
HUB_MUST_USE enum hub_status page_recipes_chosen(struct page *page, const json_t *dataset,
                                                 struct hub_view numbers);

#endif
