/** Curves of an episode, from buckets of the API: a spike of one step among a million is in them. */
#ifndef HUB_PAGE_CURVE_H
#define HUB_PAGE_CURVE_H

#include "server/page/frame.h"

struct page_curve {
    struct hub_view id, path;
    uint64_t episode, steps, at; /* at: the step that is marked */
    bool sum;                    /* the running sum: the return */
    unsigned dims;               /* of a row; the first eight are drawn */
};

/** A figure with title, drawing, legend and what it shows in words. Nothing where the field has no numbers. */
HUB_MUST_USE enum hub_status page_curve_figure(struct page *page, const struct page_curve *curve);

#endif
