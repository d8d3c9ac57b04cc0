/** Posters in rows: an episode's in the table of its dataset, a dataset's in the catalogue. */
#ifndef HUB_PAGE_POSTERS_H
#define HUB_PAGE_POSTERS_H

#include "server/page/frame.h"

enum { PAGE_POSTER_PIXELS = 256 * 1024 /* bytes that a PNG is made of, for a poster */ };

/** The camera that stands in the rows of a dataset's episodes. */
struct page_row_camera {
    struct hub_view name; /* "": there is none */
    bool is_video;
};
struct page_row_camera page_row_camera(const json_t *dataset);
/** A cell with the middle of an episode. */
void page_row_poster(struct page *page, const struct page_row_camera *camera, const json_t *episode);
/** A cell for a dataset of a list, empty where it has no camera; and whether any of a list has one. */
void page_dataset_poster(struct page *page, const json_t *dataset);
bool page_any_camera(const json_t *list);
/** The script that draws them, where a page has any. */
void page_posters(struct page *page);

#endif
