/** The problems of the hub: the dearest first, those of one kind together, each kind with what helps. */
#ifndef HUB_PAGE_WEIGHED_H
#define HUB_PAGE_WEIGHED_H

#include "server/page/frame.h"

/** Of a list of /api/v1/problems. */
HUB_MUST_USE enum hub_status page_weighed_problems(struct page *page, const json_t *list);

#endif
