/** Curves of an episode, from buckets of the API: a spike of one step among a million is in them. */
#ifndef HUB_PAGE_CURVE_H
#define HUB_PAGE_CURVE_H

#include "server/page/frame.h"

struct page_curve {
    struct hub_view id, path, axis, dtype;
    struct hub_view name, shown; /* of the lane, and of all of them, in an address */
    struct hub_view chosen;      /* as `dims=` of the API has it; "": all; "/...": as `leaf=` has it */
    uint64_t episode, steps, at, from, to; /* at: the step that is marked; [from, to): what is drawn */
    struct hub_view over; /* a field of as many numbers and the same axis, drawn over it; "": none */
    struct hub_view offer, offer_href; /* what could be drawn over it, and where it is; "": nothing */
    bool sum;                          /* the running sum: the return */
    bool band;                         /* of truth values or text: runs of equal ones */
    const json_t *field;               /* what the dataset says of it */
    unsigned dims;                     /* of a row; the first eight are drawn if none are chosen */
};

/**
 * A figure with title, drawing, legend and what it shows in words: of the whole episode, whatever is drawn.
 * Row i of a field holds over [i, i + 1), of a `shifted` one over [i - 1, i); of a `state` it stands at i.
 * Nothing where the field has no numbers.
 */
HUB_MUST_USE enum hub_status page_curve_figure(struct page *page, const struct page_curve *curve);

#endif
