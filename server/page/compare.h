/** Episodes beside each other: what compare.c finds and compare_lanes.c draws. */
#ifndef HUB_PAGE_COMPARE_H
#define HUB_PAGE_COMPARE_H

#include "server/page/frame.h"

enum { COMPARE_SIDES = 6, COMPARE_NAME = 320 };

struct side {
    struct hub_view requested, id; /* borrowed from the request */
    uint64_t number, steps;
    double shift; /* steps from the left edge of the drawing to the episode's first */
    char name[COMPARE_NAME], class[4];
    json_t *dataset, *document, *media, *values; /* values: of the field that is drawn */
};

struct compare {
    struct page page;
    struct side sides[COMPARE_SIDES];
    unsigned count;
    double span;       /* steps that the drawing could be wide */
    uint64_t from, to; /* of these: what is drawn */
    uint64_t at;       /* the step that is marked */
};

/** The first field of that role; NULL: there is none. */
const json_t *compare_first_of(const json_t *dataset, const char *role);
/** Where the clock of the page goes. Above all that follows it. */
void compare_timeline(struct compare *c);
/** Overlaid fields of the episodes, chosen by `lanes=`; with `diff` the difference of the first two. */
HUB_MUST_USE enum hub_status compare_lanes(struct compare *c);

#endif
