/**
 * Decoded Parquet pages kept between reads, for all threads: a slice takes a small part of a page, and decoding the
 * whole of it costs many times the slice. The pages are those of one opened layout, so that they last as long as the
 * state of the files it describes. Internal to storage/read.
 */
#ifndef HUB_READ_KEPT_H
#define HUB_READ_KEPT_H

#include "storage/base/lru.h"
#include "storage/model/layout.h"

struct hub_kept_page {
    struct hub_lru_item item; /* first */
    bool full;                /* its levels say at once that no value is null */
    uint8_t data[];           /* page->decoded bytes */
};

/** The page, with a reference for the caller, or NULL. */
struct hub_kept_page *hub_kept_get(const struct hub_layout *layout, const struct hub_page *page);
/** Memory for a page to be kept, the caller's until hub_kept_add; NULL: it is too large, or there is no memory. */
struct hub_kept_page *hub_kept_new(const struct hub_layout *layout, const struct hub_page *page);
/** Keep a page that has been decoded; returns the one to use, another thread's where that was faster. */
struct hub_kept_page *hub_kept_add(struct hub_kept_page *page);
/** Give up a reference, or the memory of one that was not added. Of NULL: nothing. */
void hub_kept_put(struct hub_kept_page *page);

#endif
