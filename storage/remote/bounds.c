/* Spaces of Minari as documents show them: see bounds.h. */
#include "storage/remote/bounds.h"

/* The value that all in it are; NULL: they differ, or there is none. */
static json_t *only_value(json_t *value)
{
    json_t *first = NULL;
    if (!json_is_array(value))
        return value;
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *one = only_value(json_array_get(value, i));
        if (!one || (first && !json_equal(first, one)))
            return NULL;
        first = one;
    }
    return first;
}

static void collapse_bound(json_t *box, const char *key)
{
    json_t *bound = json_object_get(box, key), *one = only_value(bound);
    if (one && one != bound)
        (void)!json_object_set(box, key, one);
}

void hub_bounds_collapse(json_t *space)
{
    json_t *children = json_object_get(space, "subspaces"), *child;
    const char *key;
    collapse_bound(space, "low");
    collapse_bound(space, "high");
    json_object_foreach(children, key, child) hub_bounds_collapse(child);
    for (size_t i = 0; i < json_array_size(children); i++)
        hub_bounds_collapse(json_array_get(children, i));
}
