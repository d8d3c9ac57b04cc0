/** Drawings made here, from documents of the API. */
#ifndef HUB_PAGE_SVG_H
#define HUB_PAGE_SVG_H

#include "server/page/frame.h"

/** What is drawn: so many numbers; `mean` and `max` may be NaN. */
struct page_numbers {
    struct hub_view title;
    uint64_t count;
    double mean, max;
};

/**
 * A figure of a histogram of ~statistics ({"edges", "counts"}).
 * @param key  each bar opens the episodes between its edges by this name of `where`; NULL: bars open nothing
 */
void page_histogram_figure(struct page *page, const struct page_numbers *of, const json_t *histogram,
                           const char *key);

/** That of one number of every episode, as ~statistics has it. */
void page_episodes_figure(struct page *page, const json_t *numbers, const char *title, const char *key);

/** A figure of a histogram of few values ([{"value", "count"}]). */
void page_counts_figure(struct page *page, const struct page_numbers *of, const json_t *values);

/** A figure of a grid of ~statistics: two numbers of each episode; nothing if one of them is constant. */
void page_grid_figure(struct page *page, const json_t *grid, const char *title);

/** A figure of how many episodes ended how, each opening them. */
void page_outcome_figure(struct page *page, const json_t *outcome);

/** A figure of the most frequent tasks or splits of ~statistics, each opening its episodes by this parameter
 * of their list. */
void page_values_figure(struct page *page, const json_t *values, const char *title, const char *key,
                        uint64_t episodes);

/** The bars of a histogram as the path of a drawing 12 wide and 9 high; what is counted at all is seen. */
HUB_MUST_USE enum hub_status page_bars_path(const json_t *counts, struct hub_buf *out);

/** The sparkline of an episode's reward: 32 bytes in Base64; nothing where there is none. */
void page_sparkline(struct page_out *out, struct hub_view base64);

#endif
