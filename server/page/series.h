/** A field of an episode as a lane shows it: what curve.c draws and legend.c puts in words. */
#ifndef HUB_PAGE_SERIES_H
#define HUB_PAGE_SERIES_H

#include "server/page/frame.h"

struct page_curve {
    struct hub_view id, path, axis, dtype;
    struct hub_view name, shown;   /* of the lane, and of all of them, in an address */
    struct hub_view all;           /* the lane's name with all that its legend has */
    struct hub_view before, after; /* the lanes around it, in an address, with the commas */
    struct hub_view chosen;        /* as `dims=` of the API has it; "": all; "/...": as `leaf=` has it */
    uint64_t episode, steps, at, from, to; /* at: the step that is marked; [from, to): what is drawn */
    struct hub_view over; /* a field of as many numbers and the same axis, drawn over it; "": none */
    struct hub_view offer, offer_href; /* what could be drawn over it, and where it is; "": nothing */
    bool sum;                          /* the running sum: the return */
    bool band;                         /* of truth values or text: runs of equal ones */
    const json_t *field;               /* what the dataset says of it */
    unsigned dims;                     /* of a row; the first eight are drawn if none are chosen */
};

#endif
