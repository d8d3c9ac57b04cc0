/** The spaces of a dataset, as nested lists. */
#ifndef HUB_PAGE_SPACES_H
#define HUB_PAGE_SPACES_H

#include "server/page/frame.h"

void page_space_tree(struct page *page, const char *name, const json_t *space);

#endif
