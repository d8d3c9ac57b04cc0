/* Fields and cameras of a dataset: see fields.h. */
#include "server/api/datasets/fields.h"

#include "server/api/put.h"
#include "storage/model/picture.h"
#include "storage/model/space.h"
#include "storage/rows/dimensions.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_DIMS = 512 };
#define MAX_FACT_BYTES (16 * MIB)

/* What is known of the dimensions of fields. */
struct field_dimensions {
    json_t *spaces[HUB_ROLE_COUNT]; /* by role of the field; NULL: none */
    json_t *dimensions;             /* by path */
};

static void field_dimensions_dispose(struct field_dimensions *dimensions)
{
    for (size_t i = 0; i < HUB_COUNT(dimensions->spaces); i++)
        json_decref(dimensions->spaces[i]);
    json_decref(dimensions->dimensions);
}

static enum hub_status read_fact(const struct hub_state *state, const char *key, json_t **out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_FACT_BYTES);
    HUB_TRY(hub_dataset_fact(state, key, &text, err));
    return text.size ? hub_json_parse(hub_buf_view(&text), text.limit, out, err) : HUB_OK;
}

/* Numbers of a row; 0: it varies, or is not known. */
static uint32_t dims_of(const char *shape)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    const json_t *dim;
    uint64_t dims = 1;
    size_t i;
    if (!*shape || hub_json_parse(hub_view_of(shape), KIB, &array, NULL))
        return 0;
    json_array_foreach(array, i, dim)
    {
        const json_int_t n = json_integer_value(dim); /* 0 of null */
        dims = n > 0 && n <= MAX_DIMS ? dims * (uint64_t)n : 0;
        if (dims > MAX_DIMS)
            return 0;
    }
    return (uint32_t)dims;
}

static void put_bounds(struct hub_json *json, const char *key, const double *bounds, uint32_t dims)
{
    hub_json_put_array(json, key);
    for (uint32_t d = 0; d < dims; d++) {
        if (isfinite(bounds[d]))
            hub_json_double(json, bounds[d]);
        else
            hub_json_null(json);
    }
    hub_json_end_array(json);
}

/* A picture's bounds are one number each, whatever its size; those that differ by pixel are not listed. */
static void put_range(struct hub_json *json, const json_t *space)
{
    const json_t *low = json_object_get(space, "low"), *high = json_object_get(space, "high");
    if (!json_is_number(low) || !json_is_number(high))
        return;
    hub_json_put_double(json, "low", json_number_value(low));
    hub_json_put_double(json, "high", json_number_value(high));
}

static void put_dimensions(struct hub_json *json, const struct field_dimensions *dimensions,
                           const struct hub_dataset_field *f)
{
    const json_t *space = hub_space_at(dimensions->spaces[f->role], f->path);
    const uint32_t dims = dims_of(f->shape);
    double low[MAX_DIMS], high[MAX_DIMS];
    hub_dimensions_put(json, dimensions->dimensions, f->path, dims, NULL, 0);
    if (f->type == HUB_FIELD_IMAGE_RAW || f->type == HUB_FIELD_IMAGE_NUMBER) {
        put_range(json, space);
    } else if (dims && hub_space_bounds(space, dims, low, high)) {
        put_bounds(json, "low", low, dims);
        put_bounds(json, "high", high, dims);
    }
}

enum hub_status hub_field_documents(struct hub_json *json, const struct hub_state *state,
                                    struct hub_error *err)
{
    HUB_CLEANUP(field_dimensions_dispose) struct field_dimensions dimensions = {0};
    const struct hub_dataset *dataset = state->dataset;
    HUB_TRY(read_fact(state, "observation_space", &dimensions.spaces[HUB_ROLE_OBSERVATION], err));
    HUB_TRY(read_fact(state, "action_space", &dimensions.spaces[HUB_ROLE_ACTION], err));
    HUB_TRY(hub_dimensions_read(state, &dimensions.dimensions, err));
    hub_json_put_array(json, "fields");
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const struct hub_dataset_field *f = &dataset->fields[i];
        hub_json_object(json);
        hub_json_put_text(json, "path", f->path);
        hub_json_put_text(json, "type", hub_field_type_name(f->type));
        hub_put_if_set(json, "dtype", f->dtype);
        hub_put_json(json, "shape", hub_view_of(f->shape));
        hub_picture_put_named(json, f->type, f->dtype, hub_view_of(f->shape));
        hub_json_put_text(json, "axis", hub_axis_name(f->axis));
        hub_json_put_text(json, "role", hub_role_name(f->role));
        put_dimensions(json, &dimensions, f);
        hub_json_put_uint(json, "episodes", f->episodes);
        hub_put_if_set(json, "unreadable", f->unreadable);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    return hub_json_status(json);
}

/* ---- cameras ---- */

struct camera_names {
    struct hub_json *json;
    bool any;
};

static enum hub_status put_camera(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct camera_names *c = user;
    (void)err; /* the writer has the same one */
    if (media->file == HUB_NONE)
        return HUB_OK;
    if (!c->any)
        hub_json_put_array(c->json, "media");
    c->any = true;
    hub_json_object(c->json);
    hub_json_put_text(c->json, "camera", media->camera);
    hub_json_put_text(c->json, "codecs", media->codec);
    if (media->width && media->height) {
        hub_json_put_uint(c->json, "width", media->width);
        hub_json_put_uint(c->json, "height", media->height);
    }
    hub_json_end_object(c->json);
    return hub_json_status(c->json);
}

enum hub_status hub_cameras_write(struct hub_json *json, const struct hub_state *state, struct hub_error *err)
{
    struct camera_names cameras = {.json = json};
    if (!state->dataset->episode_count)
        return HUB_OK;
    HUB_TRY(hub_episode_media(state, &state->dataset->episodes[0], put_camera, &cameras, err));
    if (cameras.any)
        hub_json_end_array(json);
    return hub_json_status(json);
}
