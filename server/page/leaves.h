/** Rows of JSON, as a tree whose numbers open as curves. */
#ifndef HUB_PAGE_LEAVES_H
#define HUB_PAGE_LEAVES_H

#include "server/page/lanes.h"

/** What a row of a field holds, folded: each number in it is a link that adds the curve of what has its place
 * in every row. Nothing for a row that is neither an object nor a list. */
void page_leaves(const struct page_lanes *lanes, const json_t *field, const json_t *row);

#endif
