/* Posters of a dataset: see cameras.h. They are cuts of a frame, or stored pictures; the browser draws. */
#include "server/page/cameras.h"

#include "server/page/camera_words.h"
#include "server/page/episodes.h"
#include "server/page/lanes.h"
#include "server/page/posters.h"
#include "server/page/recipes.h"

enum {
    MOST_CAMERAS = 12,
    MOST_POSTER_BYTES = 150 * 1024, /* of a page */
    UNKNOWN_WIDTH = 640,
    UNKNOWN_HEIGHT = 480,
};

struct cameras {
    struct page *page;
    const json_t *dataset, *document; /* of the dataset and of the episode that is shown */
    struct hub_view id;
    uint64_t number, steps, bytes; /* bytes: of the posters so far */
    unsigned count;
};

/* ---- words ---- */

/* ", 640 x 480" */
static struct hub_view size_words(struct page *page, uint64_t width, uint64_t height)
{
    return width && height ? page_url(page, ", %u \xC3\x97 %u", width, height) : HUB_VIEW("");
}

/* "H.264, 30 Hz" */
static struct hub_view about_words(struct page *page, double rate, struct hub_view coded)
{
    char hertz[PAGE_REAL_BYTES];
    page_real(rate, hertz);
    return rate > 0 ? page_url(page, "%r, %r Hz", page_codec(coded), hub_view_of(hertz)) : page_codec(coded);
}

/* ---- a camera ---- */

static struct hub_view poster_name(struct cameras *c, struct hub_view label, uint64_t step)
{
    return page_url(c->page, "%r, episode %u, step %u", label, c->number, step);
}

/* Without script it is there at once, so it counts. */
static void write_plain(struct cameras *c, const struct page_poster_of_video *poster)
{
    c->bytes += (uint64_t)poster->bytes;
    if (c->bytes <= MOST_POSTER_BYTES)
        page_poster_plain(&c->page->out,
                          &(struct page_poster_plain){page_url(c->page, "%r#t=0.001", poster->src),
                                                      poster->width, poster->height, poster->name});
}

static void write_video_posters(struct cameras *c, const json_t *item, struct hub_view label)
{
    struct page *page = c->page;
    size_t i;
    const json_t *poster;
    json_array_foreach(json_object_get(item, "posters"), i, poster)
    {
        const uint64_t step = page_count(poster, "step");
        const struct page_poster_of_video shown = {
            page_url(page, "@/d/%p/episodes/%u?at=%u", c->id, c->number, step),
            page_url(page, "@/api/v1/datasets/%p/episodes/%u/~media/%s.mp4?poster=%u", c->id, c->number,
                     page_text(item, "camera"), step),
            page_text(item, "codecs"),
            (int64_t)page_count(poster, "bytes"),
            (int64_t)page_count(item, "width"),
            (int64_t)page_count(item, "height"),
            poster_name(c, label, step)};
        page_poster_of_video_begin(&page->out, &shown);
        write_plain(c, &shown);
        page_poster_of_video_end(&page->out, &shown);
    }
}

static void write_video(struct cameras *c, const json_t *item)
{
    struct page *page = c->page;
    const struct hub_view label =
        page_text(item, "label").size ? page_text(item, "label") : page_text(item, "camera");
    if (!json_array_size(json_object_get(item, "posters"))) {
        page_video_missing(page, item, label);
        return;
    }
    const struct page_camera camera = {
        label, size_words(page, page_count(item, "width"), page_count(item, "height")),
        about_words(page, page_rate(item), page_text(item, "codecs"))};
    page_camera_begin(&page->out, &camera);
    write_video_posters(c, item, label);
    page_camera_end(&page->out, &camera);
}

static struct hub_view coding_of(const json_t *field)
{
    const struct hub_view stored = page_text(field, "encoding");
    return stored.size ? stored : page_text(field, "dtype");
}

static void write_picture(struct cameras *c, const json_t *field, const json_t *here)
{
    struct page *page = c->page;
    const json_t *picture = json_object_get(field, "picture");
    const struct hub_view path = page_text(field, "path");
    const uint64_t width = page_count(picture, "width") * HUB_MAX(page_count(picture, "frames"), UINT64_C(1)),
                   height = page_count(picture, "height");
    const uint64_t rows = (uint64_t)page_double_of(json_array_get(json_object_get(here, "shape"), 0)),
                   last = rows ? rows - 1 : 0, shown[] = {0, last / 2, last};
    const struct hub_view label = page_picture_label(c->dataset, path);
    const struct page_camera camera = {label, size_words(page, width, height),
                                       about_words(page, page_double(c->dataset, "fps"), coding_of(field))};
    page_camera_begin(&page->out, &camera);
    for (size_t i = 0; i < HUB_COUNT(shown) && rows; i++) {
        if ((i && shown[i] == shown[i - 1]) || (i && page_pixel_bytes(field) > PAGE_POSTER_PIXELS))
            continue;
        page_poster_of_picture(
            &page->out, &(struct page_poster_of_picture){
                            page_url(page, "@/d/%p/episodes/%u?at=%u", c->id, c->number, shown[i]),
                            page_url(page, "@/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=image", c->id,
                                     c->number, path, shown[i]),
                            (int64_t)(height ? width : UNKNOWN_WIDTH),
                            (int64_t)(height ? height : UNKNOWN_HEIGHT), poster_name(c, label, shown[i])});
    }
    page_camera_end(&page->out, &camera);
}

static bool is_camera(const json_t *dataset, const json_t *field)
{
    return hub_view_is(page_text(field, "type"), "image") || page_is_unshown(dataset, field);
}

static void write_pictures(struct cameras *c)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(c->dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const json_t *here = page_field_of(c->document, path);
        if (!is_camera(c->dataset, field) || c->count++ >= MOST_CAMERAS)
            continue;
        if (here && page_is_picture(field))
            write_picture(c, field, here);
        else
            page_episode_video_missing(
                &c->page->out, &(struct page_episode_video_missing){page_picture_label(c->dataset, path),
                                                                    page_picture_problem(field)});
    }
}

static bool has_pictures(const json_t *dataset)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(dataset, "fields"), i, field)
    {
        if (is_camera(dataset, field))
            return true;
    }
    return false;
}

enum hub_status page_cameras(struct page *page, const json_t *dataset, const json_t *episodes)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *media = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    const int64_t number = page_first_episode(episodes);
    struct cameras c = {.page = page, .dataset = dataset, .id = page_id_of(page, dataset)};
    size_t i;
    const json_t *item;
    if (number < 0)
        return HUB_OK;
    c.number = (uint64_t)number;
    HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes/%u/~media", c.id, c.number),
                              &media));
    const json_t *items = json_object_get(media, "items");
    const bool pictures = has_pictures(dataset);
    if (!json_array_size(items) && !pictures)
        return HUB_OK;
    if (pictures)
        HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes/%u", c.id, c.number),
                                  &document));
    c.document = document;
    page_cameras_style(&page->out, NULL);
    page_hidden_head(&page->out, &(struct page_hidden_head){HUB_VIEW("Cameras")});
    page_cameras_begin(&page->out, NULL);
    json_array_foreach(items, i, item) if (c.count++ < MOST_CAMERAS) write_video(&c, item);
    write_pictures(&c);
    page_cameras_end(&page->out, NULL);
    page_posters(page);
    if (c.count > MOST_CAMERAS)
        page_paragraph(
            &page->out,
            &(struct page_paragraph){HUB_VIEW("muted"), page_url(page, "%u more cameras are in its episodes.",
                                                                 (uint64_t)c.count - MOST_CAMERAS)});
    return HUB_OK;
}
