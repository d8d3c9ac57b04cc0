/* What the cameras saw of an episode: see media.h. */
#include "server/page/media.h"

#include "server/page/camera_words.h"
#include "server/page/episodes.h"
#include "server/page/lanes.h"

#include <math.h>
#include <stdio.h>

enum { FRAMES = 7, MOST_PICTURES = 16, SMALL_SIDE = 256, UNKNOWN_WIDTH = 640, UNKNOWN_HEIGHT = 480 };

/* How wide a picture of this shape is shown: the same height for all of them. */
static struct hub_view shape_class(uint64_t width, uint64_t height)
{
    const double shape = height ? (double)width / (double)height : 4 / 3.0;
    return shape < 0.9    ? HUB_VIEW("tall")
           : shape < 1.2  ? HUB_VIEW("square")
           : shape < 1.55 ? HUB_VIEW("plain")
           : shape < 2.2  ? HUB_VIEW("wide")
                          : HUB_VIEW("widest");
}

/* ---- videos ---- */

/* What is wrong with a video that is shown; "": nothing. At a rate other than that of the steps it may have
 * fewer frames. */
static struct hub_view video_note(const struct page_media *m, const json_t *item)
{
    const struct hub_view problem = page_text(item, "problem");
    const uint64_t frames = page_count(item, "frames");
    const double fps = page_double(m->dataset, "fps");
    if (problem.size || frames >= m->steps || (fps > 0 && fabs(page_rate(item) / fps - 1) > 0.01))
        return problem;
    return page_url(m->page, "%u frames for %u steps: the last %u steps show its last frame", frames,
                    m->steps, m->steps - frames);
}

/* "#t=3.15", the middle of a frame: where a browser without script begins. */
static struct hub_view start_of(const struct page_media *m, const json_t *item)
{
    const double fps = page_double(m->dataset, "fps"), rate = fps > 0 ? fps : page_rate(item);
    char text[40];
    snprintf(text, sizeof text, "#t=%.4f", rate > 0 ? ((double)m->at + 0.5) / rate : 0);
    return m->at && rate > 0 ? page_url(m->page, "%r", hub_view_of(text)) : HUB_VIEW("");
}

static void write_video(const struct page_media *m, const json_t *item)
{
    struct page *page = m->page;
    const struct hub_view camera = page_text(item, "camera"),
                          label = page_text(item, "label").size ? page_text(item, "label") : camera;
    const uint64_t width = page_count(item, "width"), height = page_count(item, "height");
    const struct hub_view about = page_url(page, "%u \xC3\x97 %u, %r, %u frames", width, height,
                                           page_codec(page_text(item, "codecs")), page_count(item, "frames"));
    const struct hub_view file =
        page_url(page, "@/api/v1/datasets/%p/episodes/%u/~media/%s.mp4", m->id, m->number, camera);
    const struct page_watched_video video = {shape_class(width, height),
                                             camera,
                                             label,
                                             page_url(page, "%r%r", file, start_of(m, item)),
                                             file,
                                             page_text(item, "codecs"),
                                             (int64_t)width,
                                             (int64_t)height,
                                             about};
    const struct hub_view note = video_note(m, item);
    page_watched_video_begin(&page->out, &video);
    if (note.size)
        page_episode_video_note(&page->out, &(struct page_episode_video_note){note});
    page_watched_video_end(&page->out, &video);
}

static void write_videos(const struct page_media *m)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(m->media, "items"), i, item)
    {
        if (page_count(item, "frames") && json_object_get(item, "width"))
            write_video(m, item);
        else
            page_video_missing(m->page, item, page_text(item, "label"));
    }
}

/* ---- pictures ---- */

static uint64_t rows_of(const json_t *field)
{
    return (uint64_t)page_double_of(json_array_get(json_object_get(field, "shape"), 0));
}

/* ", CHW: 4 frames side by side": what the numbers of a picture are; nothing of stored files. */
static struct hub_view words_for_layout(struct page *page, const json_t *field)
{
    const json_t *picture = json_object_get(field, "picture");
    const uint64_t frames = page_count(picture, "frames");
    if (!picture)
        return HUB_VIEW("");
    const struct hub_view several =
        frames > 1 ? page_url(page, ": %u frames side by side", frames) : HUB_VIEW("");
    return page_url(page, ", %r%r", page_text(picture, "layout"), several);
}

static struct hub_view address_of_row(const struct page_media *m, struct hub_view path, uint64_t row)
{
    return page_url(m->page, "@/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=image", m->id, m->number,
                    path, row);
}

/* Without script: a few rows of it, evenly spread. */
static void write_strip(const struct page_media *m, struct hub_view path, uint64_t rows)
{
    const uint64_t count = HUB_MIN(rows, (uint64_t)FRAMES);
    page_frames_strip_begin(&m->page->out, NULL);
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t row = count > 1 ? k * (rows - 1) / (count - 1) : 0;
        const struct hub_view at = page_url(m->page, "%u", row);
        page_episode_frame(&m->page->out,
                           &(struct page_episode_frame){page_query(m->page, "at", "at", at, NULL),
                                                        address_of_row(m, path, row), path, row});
    }
    page_frames_strip_end(&m->page->out, NULL);
}

static void write_picture(const struct page_media *m, const json_t *field, const json_t *here)
{
    struct page *page = m->page;
    const json_t *picture = json_object_get(field, "picture");
    const struct hub_view path = page_text(field, "path");
    const uint64_t rows = rows_of(here), now = HUB_MIN(m->at, rows - 1),
                   width = page_count(picture, "width") * page_count(picture, "frames"),
                   height = page_count(picture, "height");
    const bool ranged = json_object_get(picture, "range");
    const struct hub_view pixels = height && width < SMALL_SIDE ? HUB_VIEW(" small-picture") : HUB_VIEW("");
    const struct page_watched_picture shown = {
        page_url(page, "%r%r", shape_class(width, height), pixels),
        page_url(page, "/api/v1/datasets/%p/episodes/%u/%p", m->id, m->number, path),
        (int64_t)rows,
        ranged ? 1 : 0,
        address_of_row(m, path, now),
        path,
        page_picture_label(m->dataset, path),
        (int64_t)(height ? width : UNKNOWN_WIDTH),
        (int64_t)(height ? height : UNKNOWN_HEIGHT),
        (int64_t)now,
        words_for_layout(page, field)};
    page_watched_picture_begin(&page->out, &shown);
    if (ranged)
        page_picture_scale(&page->out, NULL);
    write_strip(m, path, rows);
    page_watched_picture_end(&page->out, &shown);
}

static void write_pictures(const struct page_media *m)
{
    unsigned count = 0;
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(m->dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const json_t *here = page_field_of(m->document, path);
        const struct page_episode_video_missing none = {page_picture_label(m->dataset, path),
                                                        page_picture_problem(field)};
        if ((!page_is_picture(field) && !page_is_unshown(m->dataset, field)) || count++ >= MOST_PICTURES)
            continue;
        if (page_is_picture(field) && here && rows_of(here))
            write_picture(m, field, here);
        else
            page_episode_video_missing(&m->page->out, &none);
    }
}

bool page_has_media(const struct page_media *m)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(m->dataset, "fields"), i, field)
    {
        if (page_is_picture(field) || page_is_unshown(m->dataset, field))
            return true;
    }
    return json_array_size(json_object_get(m->media, "items"));
}

void page_media(const struct page_media *m)
{
    struct page_out *out = &m->page->out;
    page_cameras_style(out, NULL);
    page_hidden_head(out, &(struct page_hidden_head){HUB_VIEW("Cameras")});
    page_watched_begin(out, NULL);
    write_videos(m);
    write_pictures(m);
    page_watched_end(out, NULL);
}
