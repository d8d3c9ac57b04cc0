/** The pages of web/guide, as web/tool/guide.c writes them at build time. */
#ifndef HUB_PAGE_GUIDE_H
#define HUB_PAGE_GUIDE_H

#include "storage/base/buf.h"

/** From a heading to the next one. */
struct guide_section {
    struct hub_view anchor, title; /* plain text */
    struct hub_view html;          /* with its heading */
    struct hub_view words;         /* plain text below the heading, for the search */
};

struct guide_page {
    struct hub_view name;                 /* "/~guide/NAME" */
    struct hub_view lead;                 /* plain text: what the page is about */
    const struct guide_section *sections; /* the first is the page's own: its title is that of the page */
    unsigned count;
};

extern const struct guide_page guide_pages[];
extern const unsigned guide_page_count;

#endif
