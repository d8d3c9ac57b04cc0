/** How whole a dataset is, in words. */
#ifndef HUB_PAGE_PROBLEMS_H
#define HUB_PAGE_PROBLEMS_H

#include "server/page/frame.h"

/** The status of an item or a document: "ready, 4 problems" where these cost data or loading. */
struct hub_view page_status_words(struct page *page, const json_t *dataset);
/** Written, or being read: it becomes ready by itself. */
bool page_is_pending(const json_t *dataset);
/** Its class in the style sheet: "flawed" for such a one, else the status. */
struct hub_view page_status_class(const json_t *dataset);
/** Why it cannot be read, what is lost in one sentence, then its problems; first those that cost data. */
void page_problems(struct page *page, const json_t *dataset);
/** ", rows of N cannot be read", behind how many episodes were measured; "" where all could be. */
struct hub_view page_unreadable_words(struct page *page, const json_t *coverage);
/** What its own library is called. */
struct hub_view page_library_of(const json_t *dataset);

#endif
