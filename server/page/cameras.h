/** What the cameras of a dataset saw: a beginning, a middle and an end of an episode each. A camera is a
 * video, or a field whose rows are pictures. */
#ifndef HUB_PAGE_CAMERAS_H
#define HUB_PAGE_CAMERAS_H

#include "server/page/frame.h"

/** Of the first episode of a list. Nothing where there are none. */
HUB_MUST_USE enum hub_status page_cameras(struct page *page, const json_t *dataset, const json_t *episodes);

#endif
