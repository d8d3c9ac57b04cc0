/** Curves of an episode, from buckets of the API: a spike of one step among a million is in them. */
#ifndef HUB_PAGE_CURVE_H
#define HUB_PAGE_CURVE_H

#include "server/page/series.h"

/**
 * A figure with title, drawing, legend and what it shows in words: of the whole episode, whatever is drawn.
 * Row i of a field holds over [i, i + 1), of a `shifted` one over [i - 1, i); of a `state` it stands at i.
 * Nothing where the field has no numbers.
 */
HUB_MUST_USE enum hub_status page_curve_figure(struct page *page, const struct page_curve *curve);

#endif
