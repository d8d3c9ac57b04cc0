/**
 * Rows of numbers that are pictures. This is the one place that calls them so, and says which axis is which:
 *
 *   shape of a row        a picture when                                              layout, frames
 *   (H,W)                 expected, both sides from 32                                HW
 *   (H,W,1|3|4)           both sides are from 5, or the path says so                  HWC
 *   (1|3,H,W)             both sides are from 32: grids of small worlds are (3,7,7)   CHW
 *   (K,H,W), (H,W,K)      expected, both sides from 32, K to 16                       CHW or HWC, K/3 or K
 *   (N,H,W,C), (N,C,H,W)  expected, both sides from 32, N to 64, C of 1, 3 or 4       NHWC or NCHW, N
 *
 * K channels are frames of 3 colours where 3 divides K, else of grey; (84,84,4) are four frames of Atari, no
 * RGBA.
 *
 * These are rules for uint8; expected are observations, and what the dataset itself calls pictures. Wider
 * integers and floats are a picture only where the path says so: one channel called depth with both sides
 * from 5, or three channels of floats called rgb, image, pixels, camera or the like with both sides from 32.
 * What floats of another name are, nobody knows: they stay numbers, which are drawn where they are a grid.
 */
#ifndef HUB_MODEL_PICTURE_H
#define HUB_MODEL_PICTURE_H

#include "storage/model/dtype.h"

struct hub_picture {
    const char *layout;
    uint32_t frames, height, width, channels;
    bool ranged; /* its numbers are no bytes: they are drawn between two values */
    struct {
        uint64_t frame, line, column, channel;
    } stride; /* in elements of the row */
};

/** How a row of this shape is drawn; false: it is no picture. Nothing but the variant decides. */
bool hub_picture_of(const struct hub_variant *variant, struct hub_picture *out);

/** Whether rows that are numbers can be drawn as well: both of two sides from 8, of floats or of integers
 * wider than a byte, as a map of heights or of touch. */
bool hub_picture_is_grid(const struct hub_variant *variant);

/** What rows of numbers are: HUB_FIELD_IMAGE_RAW, HUB_FIELD_IMAGE_NUMBER, or HUB_FIELD_NUMBER where they are
 * no picture. `expected`: the dataset says, or their role says, that they may be one. */
enum hub_field_type hub_picture_type(const struct hub_variant *variant, struct hub_view path, bool expected);

/** What a value's first bytes say it is: a PNG or JPEG file, else bytes. */
enum hub_field_type hub_image_type(const uint8_t *head, size_t size);

/** {"layout":"CHW","frames":4,"height":96,"width":96,"channels":3} under the key "picture". */
void hub_picture_put(struct hub_json *json, const struct hub_picture *picture);
/** The same of a field as documents have it: its type, the name of its dtype and its shape as JSON; of stored
 * pictures {"encoding":"png"}. Nothing where it is none, or where pictures differ in size. */
void hub_picture_put_named(struct hub_json *json, enum hub_field_type type, const char *dtype,
                           struct hub_view shape);

#endif
