/*
 * The fields of an opened dataset by their paths, which are sorted. What lies in a Tuple of a dataset of
 * Minari is called _index_N, as in its HDF5 files; Arrow has N, which is an alias, and the other way round:
 * one script reads an environment's data in either storage.
 */
#include "storage/catalog/dataset.h"

#include "storage/base/order.h"
#include "storage/model/format_row.h"

#define ITEM "_index_"

/* First field whose path is not before `path`. */
static uint32_t lower_bound_field(const struct hub_dataset *dataset, struct hub_view path)
{
    return hub_lower_bound(&path, dataset->fields, dataset->field_count, sizeof *dataset->fields,
                           hub_view_by_text);
}

static uint32_t find_exactly(const struct hub_dataset *dataset, struct hub_view path)
{
    const uint32_t at = lower_bound_field(dataset, path);
    return at < dataset->field_count && hub_view_is(path, dataset->fields[at].path) ? at : HUB_NONE;
}

static bool below(const char *path, struct hub_view group)
{
    return group.size == 0 || (strncmp(path, group.data, group.size) == 0 && path[group.size] == '/');
}

/* [*first, *first + the answer) */
static uint32_t count_below(const struct hub_dataset *dataset, struct hub_view path, uint32_t *first)
{
    uint32_t at = lower_bound_field(dataset, path), count = 0;
    /* names such as "a-b" sort between "a" and "a/x": '-' comes before '/' */
    while (path.size && at < dataset->field_count &&
           strncmp(dataset->fields[at].path, path.data, path.size) == 0 &&
           !below(dataset->fields[at].path, path))
        at++;
    *first = at;
    while (at + count < dataset->field_count && below(dataset->fields[at + count].path, path))
        count++;
    return count;
}

/* ---- aliases ---- */

/* The number of an item of a Tuple, in either spelling; else the segment as it is. */
static struct hub_view item_of(struct hub_view segment)
{
    const size_t skip = hub_view_starts(segment, ITEM) ? strlen(ITEM) : 0;
    const struct hub_view number = {segment.data + skip, segment.size - skip};
    bool digits = number.size > 0;
    for (size_t i = 0; i < number.size; i++)
        digits &= number.data[i] >= '0' && number.data[i] <= '9';
    return digits ? number : segment;
}

static struct hub_view segment_at(const char *at, size_t size)
{
    const char *slash = memchr(at, '/', size);
    return (struct hub_view){at, slash ? (size_t)(slash - at) : size};
}

/* How much of a path is another spelling of `asked`: all of it, or what stands before a slash. 0: it is
 * none. */
static size_t spelled_so(const char *path, struct hub_view requested)
{
    const size_t all = strlen(path);
    size_t at = 0, used = 0;
    for (;;) {
        const struct hub_view mine = segment_at(path + at, all - at),
                              theirs = segment_at(requested.data + used, requested.size - used);
        if (!hub_view_equal(item_of(mine), item_of(theirs)))
            return 0;
        at += mine.size;
        used += theirs.size;
        if (used == requested.size)
            return at;
        if (at == all)
            return 0;
        at++;
        used++;
    }
}

/* As the first field has it that is or lies below what is asked for; `asked` where there is none. */
static struct hub_view stored_spelling(const struct hub_dataset *dataset, struct hub_view requested)
{
    if (!hub_format_is_of(dataset->summary->format, HUB_LIBRARY_MINARI))
        return requested;
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        const size_t size = spelled_so(dataset->fields[i].path, requested);
        if (size)
            return (struct hub_view){dataset->fields[i].path, size};
    }
    return requested;
}

/* ---- asking ---- */

uint32_t hub_dataset_find_field(const struct hub_dataset *dataset, struct hub_view path)
{
    const uint32_t at = find_exactly(dataset, path);
    return at == HUB_NONE ? find_exactly(dataset, stored_spelling(dataset, path)) : at;
}

uint32_t hub_dataset_find_group(const struct hub_dataset *dataset, struct hub_view path, uint32_t *first,
                                size_t *size)
{
    *size = path.size;
    uint32_t count = count_below(dataset, path, first);
    if (!count) {
        const struct hub_view stored = stored_spelling(dataset, path);
        *size = stored.size;
        count = count_below(dataset, stored, first);
    }
    return count;
}

bool hub_dataset_is_inside(const struct hub_dataset *dataset, uint32_t field)
{
    const char *path = dataset->fields[field].path;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        const uint32_t above = find_exactly(dataset, (struct hub_view){path, (size_t)(slash - path)});
        if (above != HUB_NONE && dataset->fields[above].type == HUB_FIELD_PADDED_JSON)
            return true;
    }
    return false;
}
