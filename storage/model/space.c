/* Spaces as facts have them: see space.h. */
#include "storage/model/space.h"

#include "storage/text/number.h"

#include <math.h>

/* A number, or the text of one that JSON does not have. */
static double bound_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : INFINITY;
}

static uint32_t flatten(const json_t *value, double *out, uint32_t at, uint32_t dims)
{
    if (!json_is_array(value)) {
        if (at < dims)
            out[at] = bound_of(value);
        return at + 1;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        at = flatten(json_array_get(value, i), out, at, dims);
    return at;
}

/* Bounds that are all the same are written once. */
static bool read_bounds(const json_t *bounds, double *out, uint32_t dims)
{
    if (json_is_array(bounds))
        return flatten(bounds, out, 0, dims) == dims;
    for (uint32_t d = 0; bounds && d < dims; d++)
        out[d] = bound_of(bounds);
    return bounds;
}

bool hub_space_bounds(const json_t *box, uint32_t dims, double *low, double *high)
{
    return read_bounds(json_object_get(box, "low"), low, dims) &&
           read_bounds(json_object_get(box, "high"), high, dims);
}

/* Minari names what is in a Tuple _index_0 in HDF5 and 0 in Arrow and Parquet. */
static const json_t *item_of(const json_t *items, struct hub_view name)
{
    const size_t skip = hub_view_starts(name, "_index_") ? strlen("_index_") : 0;
    uint64_t i;
    return hub_number_read((struct hub_view){name.data + skip, name.size - skip}, UINT32_MAX, &i)
               ? json_array_get(items, (size_t)i)
               : NULL;
}

static const json_t *child_of(const json_t *space, struct hub_view name)
{
    const json_t *children = json_object_get(space, "subspaces");
    if (json_is_object(children))
        return json_object_getn(children, name.data, name.size);
    return item_of(children, name);
}

const json_t *hub_space_at(const json_t *space, const char *path)
{
    for (const char *slash = strchr(path, '/'); space && slash; slash = strchr(slash + 1, '/')) {
        const char *end = strchr(slash + 1, '/');
        space = child_of(space,
                         (struct hub_view){slash + 1, end ? (size_t)(end - slash - 1) : strlen(slash + 1)});
    }
    return space;
}
