/** Drawings made here, from documents of the API. */
#ifndef HUB_PAGE_SVG_H
#define HUB_PAGE_SVG_H

#include "server/page/frame.h"

/**
 * A figure of a histogram of ~statistics ({"edges", "counts"}).
 * @param key  each bar opens the episodes between its edges by this name of `where`; NULL: bars open nothing
 */
void page_histogram_figure(struct page *page, const json_t *field, const json_t *histogram, const char *title,
                           const char *key);

/** A figure of how many episodes ended how, each opening them. */
void page_outcome_figure(struct page *page, const json_t *outcome);

/** A figure of the most frequent tasks or splits of ~statistics, each opening its episodes by this parameter of their list. */
void page_values_figure(struct page *page, const json_t *values, const char *title, const char *key,
                        uint64_t episodes);

/** The sparkline of an episode's reward: 32 bytes in Base64; nothing where there is none. */
void page_sparkline(struct page_out *out, struct hub_view base64);

#endif
