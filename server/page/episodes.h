/** What several views show of episodes: their table, how they ended, cameras without a video. */
#ifndef HUB_PAGE_EPISODES_H
#define HUB_PAGE_EPISODES_H

#include "server/page/frame.h"

/**
 * @param carried  the query that links into episodes take along ("?where=..."), so that the next one is the
 * list's next
 * @param sorted   its heads are links, its rows can be marked
 * @param dataset  whose camera stands in the rows
 */
void page_episodes_table(struct page *page, const json_t *dataset, const json_t *list,
                         struct hub_view carried, bool sorted);

/** How an episode ended, in a word or two. */
const char *page_outcome_of(const json_t *episode);

/** The tile of a camera whose video cannot be shown, with the reason; `item` is of the API's list. */
void page_video_missing(struct page *page, const json_t *item, struct hub_view label);

#endif
