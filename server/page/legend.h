/** The words beside a curve: what its lines are, and where it is least and greatest. */
#ifndef HUB_PAGE_LEGEND_H
#define HUB_PAGE_LEGEND_H

#include "server/page/series.h"

enum { PAGE_SERIES = 8, PAGE_SERIES_CLASS = 12 }; /* colours; room for the class of one */

/** The class of the i-th colour: "s1"; `more`: what follows it. */
struct hub_view page_series_class(size_t i, const char *more, char out[PAGE_SERIES_CLASS]);
/** A number within rows of JSON. */
bool page_curve_is_leaf(const struct page_curve *curve);
/** So few numbers that each has a colour of its own, whichever are drawn. */
bool page_curve_is_few(const struct page_curve *curve);
/** Of a field, and of one over it or NULL, as the API answers buckets: each entry shows its line alone. */
void page_legends(struct page *page, const struct page_curve *curve, const json_t *field, const json_t *over);
/** All dimensions of a strip, each a link that adds its curve; scripts say where it is least and greatest. */
void page_dimensions(struct page *page, const struct page_curve *curve, const json_t *whole);
/** "least -1.2, greatest 3; all finite": of the whole episode. */
struct hub_view page_extremes_words(struct page *page, const json_t *field);
/** The same as the caption of a figure; the two lead to their steps. */
void page_extremes_caption(struct page *page, const struct page_curve *curve, const json_t *field);
/** Of several dimensions: each with its own. */
void page_extremes_each(struct page *page, const struct page_curve *curve, const json_t *field);

#endif
