/* Rows of numbers that are pictures: see picture.h. */
#include "storage/model/picture.h"

#include "storage/text/number.h"

#include <strings.h>

enum {
    MIN_SIDE = 32,
    MIN_SMALL_SIDE = 5,
    MIN_GRID_SIDE = 8,
    MAX_MERGED = 16,
    MAX_FRAMES = 64,
    ATARI_SIDE = 84
};

/* ---- shapes ---- */

static bool is_bytes(const struct hub_variant *v)
{
    return v->kind == HUB_KIND_UINT && v->item_size == 1;
}

static bool is_ranged(const struct hub_variant *v)
{
    const bool whole = v->kind == HUB_KIND_INT || v->kind == HUB_KIND_UINT;
    return v->kind == HUB_KIND_FLOAT || (whole && (v->item_size == 2 || v->item_size == 4));
}

static bool is_channels(uint32_t n)
{
    return n == 1 || n == 3 || n == 4;
}

static bool is_large(uint32_t height, uint32_t width)
{
    return height >= MIN_SIDE && width >= MIN_SIDE;
}

/* Channels last: those of all frames stand side by side in a pixel. */
static void lines_of_pixels(struct hub_picture *p, const char *layout, const uint32_t *dims, uint32_t frames)
{
    const uint64_t height = dims[0], width = dims[1], merged = dims[2];
    *p = (struct hub_picture){
        layout, frames, dims[0], dims[1], dims[2], false, {0, width * merged, merged, 1}};
    p->stride.frame = height * width * merged;
}

/* Channels first: each is a plane. */
static void planes(struct hub_picture *p, const char *layout, const uint32_t *dims, uint32_t frames)
{
    const uint64_t plane = (uint64_t)dims[1] * dims[2];
    *p = (struct hub_picture){layout, frames, dims[1], dims[2], dims[0], false, {0, dims[2], 1, plane}};
    p->stride.frame = plane * dims[0];
}

/* Channels that are those of several frames, one frame behind another. */
static void unmerge(struct hub_picture *p)
{
    const uint32_t merged = p->channels;
    p->channels = merged % 3 == 0 ? 3 : 1;
    p->frames = merged / p->channels;
    p->stride.frame = p->stride.channel * p->channels;
}

static bool is_merged(uint32_t n)
{
    return n > 1 && n != 3 && n <= MAX_MERGED;
}

static bool of_three(const uint32_t *dims, struct hub_picture *out)
{
    const bool atari = dims[0] == ATARI_SIDE && dims[1] == ATARI_SIDE && dims[2] == 4;
    if (is_channels(dims[2])) {
        lines_of_pixels(out, "HWC", dims, 1);
        if (atari)
            unmerge(out);
        return true;
    }
    if (is_large(dims[1], dims[2]) && (dims[0] == 1 || dims[0] == 3 || is_merged(dims[0])))
        planes(out, "CHW", dims, 1);
    else if (is_large(dims[0], dims[1]) && is_merged(dims[2]))
        lines_of_pixels(out, "HWC", dims, 1);
    else
        return false;
    if (is_merged(out->channels))
        unmerge(out);
    return true;
}

static bool of_four(const uint32_t *dims, struct hub_picture *out)
{
    if (dims[0] > MAX_FRAMES)
        return false;
    if (is_channels(dims[3]) && is_large(dims[1], dims[2]))
        lines_of_pixels(out, "NHWC", dims + 1, dims[0]);
    else if (is_channels(dims[1]) && is_large(dims[2], dims[3]))
        planes(out, "NCHW", dims + 1, dims[0]);
    else
        return false;
    return true;
}

bool hub_picture_of(const struct hub_variant *v, struct hub_picture *out)
{
    const bool ranged = is_ranged(v);
    bool found = false;
    for (unsigned i = 0; i < v->rank; i++)
        if (!v->dims[i])
            return false;
    if (!is_bytes(v) && !ranged)
        return false;
    if (v->rank == 2) {
        const uint32_t dims[] = {v->dims[0], v->dims[1], 1};
        lines_of_pixels(out, "HW", dims, 1);
        found = true;
    } else if (v->rank == 3) {
        found = of_three(v->dims, out);
    } else if (v->rank == 4) {
        found = of_four(v->dims, out);
    }
    if (found)
        out->ranged = ranged;
    return found && (!ranged || out->channels == 1 || (out->channels == 3 && v->kind == HUB_KIND_FLOAT));
}

bool hub_picture_is_grid(const struct hub_variant *v)
{
    struct hub_picture p;
    return v->rank == 2 && hub_picture_of(v, &p) && p.ranged && p.height >= MIN_GRID_SIDE &&
           p.width >= MIN_GRID_SIDE;
}

/* ---- names ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One of the words stands in the path by itself: "depth" in agentview_depth, not in "depthwise". */
static bool says(struct hub_view path, const char *const *words)
{
    for (; *words; words++) {
        const size_t size = strlen(*words);
        for (size_t at = 0; at + size <= path.size; at++)
            if (strncasecmp(path.data + at, *words, size) == 0 &&
                (at == 0 || !is_letter(path.data[at - 1])) &&
                (at + size == path.size || !is_letter(path.data[at + size])))
                return true;
    }
    return false;
}

enum hub_field_type hub_picture_type(const struct hub_variant *v, struct hub_view path, bool expected)
{
    static const char *const depths[] = {"depth", "depths", NULL}, *const colors[] = {
                                                                       "rgb",    "image",   "images",
                                                                       "img",    "imgs",    "pixels",
                                                                       "pixel",  "picture", "camera",
                                                                       "cam",    "cameras", "color",
                                                                       "colors", "colour",  "colours",
                                                                       NULL};
    struct hub_picture p;
    if (!hub_picture_of(v, &p))
        return HUB_FIELD_NUMBER;
    const bool large = p.height >= MIN_SIDE && p.width >= MIN_SIDE,
               small = p.height < MIN_SMALL_SIDE || p.width < MIN_SMALL_SIDE;
    if (!p.ranged) {
        const bool plain = p.frames == 1 && v->rank == 3;
        return (plain && (!small || says(path, colors))) || (expected && large) ? HUB_FIELD_IMAGE_RAW
                                                                                : HUB_FIELD_NUMBER;
    }
    const bool depth = p.channels == 1 && !small && says(path, depths),
               color = p.channels == 3 && v->kind == HUB_KIND_FLOAT && large && says(path, colors);
    return depth || color ? HUB_FIELD_IMAGE_NUMBER : HUB_FIELD_NUMBER;
}

enum hub_field_type hub_image_type(const uint8_t *head, size_t size)
{
    if (size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0)
        return HUB_FIELD_IMAGE_PNG;
    return size >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0 ? HUB_FIELD_IMAGE_JPEG : HUB_FIELD_BYTES;
}

/* ---- documents ---- */

void hub_picture_put(struct hub_json *json, const struct hub_picture *p)
{
    hub_json_put_object(json, "picture");
    hub_json_put_text(json, "layout", p->layout);
    hub_json_put_uint(json, "frames", p->frames);
    hub_json_put_uint(json, "height", p->height);
    hub_json_put_uint(json, "width", p->width);
    hub_json_put_uint(json, "channels", p->channels);
    if (p->ranged)
        hub_json_put_text(json, "range", "row");
    hub_json_end_object(json);
}

static bool variant_named(const char *dtype, struct hub_view shape, struct hub_variant *out)
{
    static const struct {
        const char *name;
        enum hub_kind kind;
    } kinds[] = {{"uint", HUB_KIND_UINT}, {"int", HUB_KIND_INT}, {"float", HUB_KIND_FLOAT}};
    struct hub_view item;
    uint64_t number;
    *out = (struct hub_variant){0};
    for (size_t i = 0; i < HUB_COUNT(kinds) && !out->kind; i++) {
        const size_t size = strlen(kinds[i].name);
        if (strncmp(dtype, kinds[i].name, size) != 0 ||
            !hub_number_read(hub_view_of(dtype + size), 64, &number))
            continue;
        out->kind = (uint8_t)kinds[i].kind;
        out->item_size = (uint32_t)number / 8;
    }
    while (out->rank < HUB_MAX_RANK && hub_json_take(&shape, NULL, &item)) {
        if (!hub_number_read(item, UINT32_MAX, &number))
            return false;
        out->dims[out->rank++] = (uint32_t)number;
    }
    return out->kind;
}

void hub_picture_put_named(struct hub_json *json, enum hub_field_type type, const char *dtype,
                           struct hub_view shape)
{
    struct hub_variant v;
    struct hub_picture p;
    const bool pictures = type == HUB_FIELD_IMAGE_RAW || type == HUB_FIELD_IMAGE_NUMBER;
    if (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG)
        hub_json_put_text(json, "encoding", type == HUB_FIELD_IMAGE_PNG ? "png" : "jpeg");
    if ((pictures || type == HUB_FIELD_NUMBER) && dtype && variant_named(dtype, shape, &v) &&
        (pictures || hub_picture_is_grid(&v)) && hub_picture_of(&v, &p))
        hub_picture_put(json, &p);
}
