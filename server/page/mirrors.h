/** Where datasets come from: tables of mirrors and upstreams, and the origin of one dataset in words. */
#ifndef HUB_PAGE_MIRRORS_H
#define HUB_PAGE_MIRRORS_H

#include "server/page/frame.h"

/** A table of the rules that keep copies, and one of those that fetch what is read; none without rules. */
void page_mirrors(struct page *page, const json_t *rules);
/** Of a dataset that was copied, or that an upstream has: from where, when it was checked, what changed. */
HUB_MUST_USE enum hub_status page_origin(struct page *page, const json_t *dataset);

#endif
