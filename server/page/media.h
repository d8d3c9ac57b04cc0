/** What the cameras saw of an episode, beside each other: videos, and fields whose rows are pictures. */
#ifndef HUB_PAGE_MEDIA_H
#define HUB_PAGE_MEDIA_H

#include "server/page/frame.h"

struct page_media {
    struct page *page;
    struct hub_view id;
    uint64_t number, steps, at;
    const json_t *dataset, *document, *media; /* of the API; media: the list, or NULL */
};

/** Whether there are any. */
bool page_has_media(const struct page_media *media);
/** One that cannot be shown has its place, and the reason in it. */
void page_media(const struct page_media *media);

#endif
