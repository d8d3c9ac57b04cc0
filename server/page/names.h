/** The names that a filter of episodes asks for. */
#ifndef HUB_PAGE_NAMES_H
#define HUB_PAGE_NAMES_H

#include "storage/query/where.h"

enum { PAGE_NAMES = 8, PAGE_NAME_BYTES = 2200 /* quotes may be doubled */ };

/** As the filter spells them, each once; at most so many. */
struct page_names {
    char spelled[PAGE_NAMES][PAGE_NAME_BYTES];
    bool plain[PAGE_NAMES]; /* a word alone, which an attribute may be called too */
    unsigned count;
};

/** Add those of `where`; none of one that cannot be read. */
HUB_MUST_USE enum hub_status page_names_of_where(struct hub_view where, struct page_names *names,
                                                 struct hub_error *err);
/** Add the one of `sort`, which may have a '-' before it. */
HUB_MUST_USE enum hub_status page_names_of_sort(struct hub_view sort, struct page_names *names,
                                                struct hub_error *err);

#endif
