/* Posters in rows: see posters.h. */
#include "server/page/posters.h"

#include "server/page/camera_words.h"

#include <string.h>

/* A video whose name an address can hold, else stored pictures or few pixels. */
struct page_row_camera page_row_camera(const json_t *dataset)
{
    const json_t *video, *field;
    size_t i;
    json_array_foreach(json_object_get(dataset, "media"), i, video)
    {
        const struct hub_view name = page_text(video, "camera");
        if (!memchr(name.data, '\\', name.size))
            return (struct page_row_camera){name, true};
    }
    json_array_foreach(json_object_get(dataset, "fields"), i, field)
    {
        if (hub_view_is(page_text(field, "type"), "image") && page_pixel_bytes(field) <= PAGE_POSTER_PIXELS)
            return (struct page_row_camera){page_text(field, "path"), false};
    }
    return (struct page_row_camera){HUB_VIEW(""), false};
}

void page_row_poster(struct page *page, const struct page_row_camera *camera, const json_t *episode)
{
    const struct hub_view id = page_id(page);
    const uint64_t number = page_count(episode, "number"), middle = page_count(episode, "steps") / 2;
    page_seen_begin(&page->out, NULL);
    if (camera->is_video)
        page_seen_video(&page->out, &(struct page_seen_video){page_url(
                                        page, "@/api/v1/datasets/%p/episodes/%u/~media/%s.mp4?poster=%u", id,
                                        number, camera->name, middle)});
    else
        page_seen_picture(&page->out, &(struct page_seen_picture){page_url(
                                          page, "@/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=image", id,
                                          number, camera->name, middle)});
    page_seen_end(&page->out, NULL);
}

static bool has_camera(const json_t *dataset)
{
    return hub_view_is(page_text(dataset, "status"), "ready") &&
           json_array_size(json_object_get(json_object_get(dataset, "facts"), "cameras"));
}

bool page_any_camera(const json_t *list)
{
    size_t i;
    const json_t *dataset;
    json_array_foreach(json_object_get(list, "items"), i, dataset)
    {
        if (has_camera(dataset))
            return true;
    }
    return false;
}

void page_dataset_poster(struct page *page, const json_t *dataset)
{
    if (!has_camera(dataset)) {
        page_unseen(&page->out, NULL);
        return;
    }
    page_seen_begin(&page->out, NULL);
    page_seen_dataset(&page->out, &(struct page_seen_dataset){page_url(page, "/api/v1/datasets/%p/~poster",
                                                                       page_text(dataset, "id"))});
    page_seen_end(&page->out, NULL);
}

void page_posters(struct page *page)
{
    page_posters_script(&page->out, NULL);
}
