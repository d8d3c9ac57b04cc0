/** Commands and programs that get this dataset from this hub. */
#ifndef HUB_PAGE_RECIPES_H
#define HUB_PAGE_RECIPES_H

#include "server/page/frame.h"

/** The one that gets all of it. */
void page_recipe_first(struct page *page, const json_t *dataset);
/** All that hold for this dataset and episode, for this field (NULL: none is numeric). */
void page_recipes(struct page *page, const json_t *dataset, uint64_t episode, const char *field);

#endif
