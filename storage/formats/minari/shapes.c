/* What is known of the shape of a column beside its type: from the space that it lies in, or a note. */
#include "storage/formats/minari/minari.h"

#include <stdio.h>
#include <stdlib.h>

static const json_t *space_at(const json_t *space, const char *path, struct minari_spelled *as);

/* The space of `path` in a child that is called `name` in columns and `shown` in reports; NULL: it is not
 * there. */
static const json_t *space_in(const json_t *child, const char *name, const char *shown, const char *path,
                              struct minari_spelled *as)
{
    const size_t n = strlen(name), before = as->size, more = strlen(shown) + 1;
    if (strncmp(path, name, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    if (before + more < sizeof as->text)
        as->size += (size_t)snprintf(as->text + before, sizeof as->text - before, "/%s", shown);
    else
        as->fits = false;
    const json_t *found = space_at(child, path + n + (path[n] == '/'), as);
    if (!found)
        as->size = before;
    return found;
}

/* The space of a field's path below its root, or NULL. A key of a Dict may hold '/'. */
static const json_t *space_at(const json_t *space, const char *path, struct minari_spelled *as)
{
    const json_t *below = json_object_get(space, "subspaces"), *found = NULL;
    const char *key;
    json_t *item;
    size_t i;
    if (*path == '\0')
        return space;
    json_object_foreach((json_t *)below, key, item)
    {
        if (!found)
            found = space_in(item, key, key, path, as);
    }
    json_array_foreach(below, i, item)
    {
        char name[24], shown[32];
        snprintf(name, sizeof name, "%zu", i);
        snprintf(shown, sizeof shown, "_index_%zu", i);
        if (!found)
            found = space_in(item, name, shown, path, as);
    }
    return found;
}

const json_t *minari_space_of(json_t *const spaces[2], const char *path, struct minari_spelled *as)
{
    static const char *const roots[] = {"observations", "actions"};
    const json_t *found = NULL;
    for (size_t i = 0; i < HUB_COUNT(roots) && !found; i++) {
        const size_t n = strlen(roots[i]);
        as->fits = true;
        as->size = (size_t)snprintf(as->text, sizeof as->text, "%s", roots[i]);
        if (spaces[i] && strncmp(path, roots[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            found = space_at(spaces[i], path + n + (path[n] == '/'), as);
    }
    as->fits &= found != NULL;
    return found;
}

bool minari_space_shape(const json_t *space, struct hub_variant *out)
{
    const char *type = json_string_value(json_object_get(space, "type"));
    const json_t *dims = json_object_get(space, "shape"), *n = json_object_get(space, "n");
    const json_t *nested = json_object_get(space, "nvec");
    out->rank = 0;
    if (!type || (strcmp(type, "Box") && strcmp(type, "MultiBinary") && strcmp(type, "MultiDiscrete")))
        return false;
    if (!dims && json_is_integer(n)) {
        out->dims[out->rank++] = (uint32_t)json_integer_value(n);
        return true;
    }
    for (; json_is_array(nested) && out->rank < HUB_MAX_RANK; nested = json_array_get(nested, 0))
        out->dims[out->rank++] = (uint32_t)json_array_size(nested);
    if (out->rank)
        return true;
    dims = dims ? dims : n;
    for (size_t i = 0; i < json_array_size(dims) && i < HUB_MAX_RANK; i++)
        out->dims[out->rank++] = (uint32_t)json_integer_value(json_array_get(dims, i));
    return json_is_array(dims) && json_array_size(dims) <= HUB_MAX_RANK;
}

bool minari_noted_shape(const char *text, struct hub_variant *out)
{
    out->rank = 0;
    while (text && *text) {
        char *end;
        const unsigned long n = strtoul(text, &end, 10);
        if (end == text || (*end && *end != ',') || out->rank == HUB_MAX_RANK || n > UINT32_MAX)
            return false;
        out->dims[out->rank++] = (uint32_t)n;
        text = *end ? end + 1 : end;
    }
    return text != NULL;
}
