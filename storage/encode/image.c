/* One picture: the stored JPEG or PNG, or a row of pixels as PNG. */
#include "storage/encode/representation.h"
#include "storage/model/picture.h"

enum { PNG_NS_BYTE = 25 /* three filters a line, and deflate */ };

static bool is_stored(enum hub_field_type type)
{
    return type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG;
}

static enum hub_fit fit(enum hub_field_type type, const struct hub_variant *variant)
{
    struct hub_picture picture;
    const bool sampled = type == HUB_FIELD_IMAGE_RAW || type == HUB_FIELD_IMAGE_NUMBER,
               grid = type == HUB_FIELD_NUMBER && hub_picture_is_grid(variant);
    return is_stored(type) || grid || (sampled && hub_picture_of(variant, &picture)) ? HUB_FIT_ONE_ROW
                                                                                     : HUB_FIT_NONE;
}

static const char *media_type(const struct hub_encoding *e)
{
    return e->fields[0].type == HUB_FIELD_IMAGE_JPEG ? "image/jpeg" : "image/png";
}

/* A kind of picture that ?format= names is meant; one that Accept names is only liked. */
static enum hub_status check(const struct hub_encoding *e, struct hub_error *err)
{
    const bool any = !e->by_name || strchr(e->as->media_type, '*');
    if (any || strcmp(e->as->media_type, media_type(e)) == 0)
        return HUB_OK;
    return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NEEDS_DECODING,
                       "these pictures are %s: use format=image", media_type(e));
}

static uint64_t memory(const struct hub_encoding *e)
{
    return 4 * hub_encoding_bytes(e); /* drawn, filtered, packed, and the answer */
}

static uint64_t nanoseconds(const struct hub_encoding *e)
{
    return is_stored(e->fields[0].type) ? 0 : hub_encoding_bytes(e) * PNG_NS_BYTE;
}

static enum hub_status write_image(struct hub_encoding *e, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    HUB_TRY(e->read(e, 0, NULL, &rows, err));
    if (!is_stored(e->fields[0].type))
        return hub_png_row(&rows, &e->range, out, err);
    e->range.known = false;
    return hub_raw_rows(&rows, out, err);
}

const struct hub_writer hub_write_image = {
    .fit = fit,
    .check = check,
    .media_type = media_type,
    .memory = memory,
    .nanoseconds = nanoseconds,
    .write = write_image,
};
