/** Commands and programs that get this dataset from this hub. */
#ifndef HUB_PAGE_RECIPES_H
#define HUB_PAGE_RECIPES_H

#include "server/page/frame.h"

/** Write the recipes that work for this dataset, episode (-1: none can be read) and field (NULL: none is
 * numeric), and why others are left out; `first`: only those that get the whole dataset. */
HUB_MUST_USE enum hub_status page_recipes(struct page *page, const json_t *dataset, int64_t episode,
                                          const char *field, bool first);
/** The number of the first episode of a list; -1: it has none. */
int64_t page_first_episode(const json_t *list);
/** The first field with numbers that an episode has; NULL: it has none. */
const char *page_first_number(const json_t *dataset, const json_t *episode);
/** What can be done with some of its episodes: "3, 7, 19". */
HUB_MUST_USE enum hub_status page_recipes_chosen(struct page *page, const json_t *dataset,
                                                 struct hub_view numbers);

#endif
