/** What several views show of episodes: their table, how they ended, cameras without a video. */
#ifndef HUB_PAGE_EPISODES_H
#define HUB_PAGE_EPISODES_H

#include "server/page/columns.h"

/**
 * @param carried  the query that links into episodes take along ("?where=..."), so that the next one is the
 * list's next
 * @param dataset  whose camera stands in the rows
 * @param more     columns of what it is chosen by: its heads are links then, its rows can be marked; or NULL
 *
 * A column that is empty in all rows is left out.
 */
void page_episodes_table(struct page *page, const json_t *dataset, const json_t *list,
                         struct hub_view carried, const struct page_columns *more);

/** How an episode ended, in a word or two. */
const char *page_outcome_of(const json_t *episode);

/** The tile of a camera whose video cannot be shown, with the reason; `item` is of the API's list. */
void page_video_missing(struct page *page, const json_t *item, struct hub_view label);

#endif
