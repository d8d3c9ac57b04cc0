/* Rows of numbers as pixels: the layouts of storage/model/picture.h. */
#include "storage/encode/encode.h"
#include "storage/model/picture.h"

#include <math.h>
#include <stdlib.h>

#define MAX_PIXEL_BYTES (256 * MIB)

struct drawing {
    const struct hub_rows *rows;
    struct hub_picture picture;
    struct hub_drawn_range range;
    struct hub_variant item; /* an element by itself */
};

void hub_pixels_dispose(struct hub_pixels *pixels)
{
    free(pixels->made);
}

static double value_at(const struct drawing *d, uint64_t element)
{
    return hub_variant_scalar(&d->item, d->rows->data + element * d->item.item_size).real;
}

/* ---- the range of a row ---- */

static void measure(struct drawing *d)
{
    static const double usual[][2] = {{0, 1}, {0, 255}, {-1, 1}};
    const uint64_t count = hub_variant_row_items(&d->rows->variant);
    double least = INFINITY, greatest = -INFINITY;
    for (uint64_t i = 0; i < count; i++) {
        const double value = value_at(d, i);
        if (!isfinite(value))
            continue;
        least = fmin(least, value);
        greatest = fmax(greatest, value);
    }
    d->range = (struct hub_drawn_range){true, least, greatest};
    if (least > greatest)
        d->range = (struct hub_drawn_range){true, 0, 0}; /* nothing is a number */
    for (size_t i = 0; d->picture.channels > 1 && i < HUB_COUNT(usual); i++)
        if (least >= usual[i][0] && greatest <= usual[i][1]) {
            d->range = (struct hub_drawn_range){true, usual[i][0], usual[i][1]};
            return;
        }
}

static uint8_t shade(const struct drawing *d, double value)
{
    const double width = d->range.greatest - d->range.least, part = (value - d->range.least) / width;
    if (isnan(value) || !(width > 0))
        return 0;
    return (uint8_t)(fmin(fmax(part, 0), 1) * 255 + 0.5);
}

/* ---- pixels ---- */

/* A line of a frame; its samples as they stand in the picture. */
static void draw_line(const struct drawing *d, uint32_t frame, uint32_t y, uint8_t *out)
{
    const struct hub_picture *p = &d->picture;
    const uint64_t begin = frame * p->stride.frame + y * p->stride.line;
    for (uint32_t x = 0; x < p->width; x++)
        for (uint32_t c = 0; c < p->channels; c++) {
            const uint64_t element = begin + x * p->stride.column + c * p->stride.channel;
            *out++ = p->ranged ? shade(d, value_at(d, element)) : d->rows->data[element];
        }
}

static bool lies_so(const struct hub_picture *p)
{
    return !p->ranged && p->frames == 1 && p->stride.channel == 1 && p->stride.column == p->channels;
}

enum hub_status hub_pixels_of_row(const struct hub_rows *rows, struct hub_drawn_range *range,
                                  struct hub_pixels *out, struct hub_error *err)
{
    struct drawing d = {.rows = rows, .item = rows->variant, .range = *range};
    struct hub_picture *p = &d.picture;
    d.item.rank = 0;
    if (rows->rows != 1 || !hub_picture_of(&rows->variant, p))
        return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                           "a PNG needs one row that is a picture, such as uint8 (H, W), (H, W, 3) or "
                           "(3, H, W)");
    const uint64_t line = (uint64_t)p->width * p->channels, frames = p->frames;
    if (hub_variant_row_bytes(&rows->variant) > MAX_PIXEL_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a picture of more than %zu bytes", MAX_PIXEL_BYTES);
    range->known = p->ranged;
    *out = (struct hub_pixels){rows->data, NULL, p->width * p->frames, p->height, p->channels};
    if (lies_so(p))
        return HUB_OK;
    if (p->ranged && !d.range.known)
        measure(&d);
    out->made = malloc((size_t)(line * frames * p->height));
    HUB_TRY(hub_allocated(out->made, err));
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t frame = 0; frame < frames; frame++)
            draw_line(&d, frame, y, out->made + (y * frames + frame) * line);
    out->data = out->made;
    if (p->ranged)
        *range = d.range;
    return HUB_OK;
}
