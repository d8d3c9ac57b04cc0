/** The lanes of an episode: fields over its steps. `lanes=FIELD[|OVER][:DIMS|:/POINTER],...` chooses them,
 * `from=` and `to=` the window. */
#ifndef HUB_PAGE_LANES_H
#define HUB_PAGE_LANES_H

#include "server/page/frame.h"

struct page_lanes {
    struct page *page;
    struct hub_view id;
    uint64_t episode, steps;
    uint64_t at, from, to;            /* the step that is marked; the steps that are drawn, [from, to) */
    const json_t *dataset, *document; /* documents of the API; of the dataset and of the episode */
};

/** Where the clock of the page goes, and what it has to know. Above all that follows it. */
void page_lanes_timeline(const struct page_lanes *lanes);
/** Choice of the fields, then a figure for each. */
HUB_MUST_USE enum hub_status page_lanes_section(const struct page_lanes *lanes);
/** This page with a lane for the number that a JSON pointer names in rows of a field. "": no room. */
struct hub_view page_lanes_leaf(const struct page_lanes *lanes, const json_t *field, struct hub_view pointer);
/** Append the path of a field as `lanes=` has it. */
HUB_MUST_USE enum hub_status page_lanes_add_name(struct hub_buf *out, struct hub_view path);
/** The field of a document by its path; NULL: it has none. */
const json_t *page_field_of(const json_t *document, struct hub_view path);

#endif
