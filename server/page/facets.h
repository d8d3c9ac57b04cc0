/** Filters of the catalogue: values with their datasets, robots before licenses, and namespaces. */
#ifndef HUB_PAGE_FACETS_H
#define HUB_PAGE_FACETS_H

#include "server/page/frame.h"

/** The names that the page asks the API to count, between commas. */
#define PAGE_FACETS "robot,task,camera,env,format,status,problems,namespace,kind,author,algorithm,license"

/** Each counted within all other filters; folded on narrow screens under the number of filters in use. */
void page_facets(struct page *page, const json_t *facets, unsigned in_use);
/** Which words a value of a filter is shown as. */
struct hub_view page_facet_words(const char *name, struct hub_view value);

#endif
