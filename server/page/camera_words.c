/* What is said of cameras: see camera_words.h. */
#include "server/page/camera_words.h"

#include <stdlib.h>

struct hub_view page_codec(struct hub_view codecs)
{
    static const struct {
        const char *code, *name;
    } names[] = {{"avc", "H.264"},          {"av01", "AV1"},  {"hvc1", "HEVC"},
                 {"hev1", "HEVC"},          {"vp09", "VP9"},  {"vp08", "VP8"},
                 {"mp4v", "MPEG-4 Part 2"}, {"jpeg", "JPEG"}, {"png", "PNG"}};
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        if (hub_view_starts(codecs, names[i].code))
            return hub_view_of(names[i].name);
    return codecs;
}

double page_rate(const json_t *media)
{
    const char *text = json_string_value(json_object_get(media, "fps"));
    char *end = NULL;
    const double frames = text ? strtod(text, &end) : 0,
                 seconds = text && *end == '/' ? strtod(end + 1, NULL) : 0;
    return seconds > 0 ? frames / seconds : 0;
}

bool page_is_picture(const json_t *field)
{
    return hub_view_is(page_text(field, "type"), "image") || json_object_get(field, "picture");
}

bool page_is_camera_matrix(const json_t *field)
{
    static const char *const words[] = {"intrinsic", "extrinsic", "cam2world"};
    const char *path = json_string_value(json_object_get(field, "path"));
    for (size_t i = 0; path && i < HUB_COUNT(words); i++)
        if (strstr(path, words[i]))
            return true;
    return false;
}

static bool is_last_part(struct hub_view path, struct hub_view part)
{
    return hub_view_ends(path, part.data) &&
           (path.size == part.size || memchr("./", path.data[path.size - part.size - 1], 2));
}

static unsigned count_called(const json_t *dataset, struct hub_view part)
{
    unsigned count = 0;
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(dataset, "fields"), i, field) count +=
        page_is_picture(field) && is_last_part(page_text(field, "path"), part);
    return count;
}

struct hub_view page_picture_label(const json_t *dataset, struct hub_view path)
{
    for (size_t at = path.size; at-- > 1;) {
        const struct hub_view part = {path.data + at, path.size - at};
        if (memchr("./", path.data[at - 1], 2) && count_called(dataset, part) <= 1)
            return part;
    }
    return path;
}

bool page_is_unshown(const json_t *dataset, const json_t *field)
{
    size_t i;
    const json_t *camera;
    json_array_foreach(json_object_get(dataset, "cameras"), i, camera)
    {
        if (hub_view_equal(page_text(camera, "camera"), page_text(field, "path")) &&
            hub_view_is(page_text(camera, "type"), "image"))
            return !page_is_picture(field);
    }
    return false;
}

struct hub_view page_picture_problem(const json_t *field)
{
    return page_is_picture(field) ? HUB_VIEW("this episode has none of its pictures")
                                  : HUB_VIEW("its pictures are neither JPEG nor PNG");
}

uint64_t page_pixel_bytes(const json_t *field)
{
    const json_t *picture = json_object_get(field, "picture");
    return page_count(picture, "width") * page_count(picture, "height") * page_count(picture, "channels") *
           page_count(picture, "frames");
}
