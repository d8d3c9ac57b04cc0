/*
 * The statistics that MolmoSpaces' scripts keep of each trajectory: stats/traj_N/KEY has mean, std, min, max,
 * count, sum and sum_sq of what traj_N/KEY holds. Of rows of JSON it is a text of JSON with those of each of
 * its keys, of numbers a group of datasets. Both become objects by path, as in aggregated_stats.json.
 */
#include "storage/formats/molmospaces/molmospaces.h"

enum { MAX_TEXT = 1024 * 1024, MAX_ROWS = 1024 };

static bool put_keys(const struct hub_h5_tree *stats, const struct hub_h5_leaf *leaf, struct hub_json *json)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf text = HUB_BUF_INIT(MAX_TEXT), strict = HUB_BUF_INIT(2 * MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *keys = NULL;
    const char *key;
    json_t *of_key;
    if (!hub_h5_bytes(stats, leaf, &text) || hub_json_of_python(hub_buf_view(&text), &strict, &keys, NULL) ||
        !json_is_object(keys))
        return false;
    json_object_foreach(keys, key, of_key)
    {
        char path[HUB_MAX_PATH];
        snprintf(path, sizeof path, "%.*s/%s", (int)leaf->path.size, leaf->path.data, key);
        hub_json_key(json, hub_view_of(path));
        hub_json_parsed(json, of_key);
    }
    return true;
}

static void put_number(void *user, double value)
{
    hub_json_double(user, value);
}

static bool put_numbers(const struct hub_h5_tree *stats, const struct hub_h5_leaf *leaf,
                        struct hub_json *json)
{
    char path[HUB_MAX_PATH];
    double number;
    if (hub_h5_scalar(stats, leaf, &number)) {
        if (leaf->dataset.variant.kind == HUB_KIND_FLOAT)
            hub_json_double(json, number);
        else
            hub_json_int(json, (int64_t)number);
        return true;
    }
    snprintf(path, sizeof path, "%.*s", (int)leaf->path.size, leaf->path.data);
    hub_json_array(json);
    const bool read = leaf->rows <= MAX_ROWS && hub_h5_each(stats, path, put_number, json);
    hub_json_end_array(json);
    return read;
}

/* `*i` is the first dataset of the group, and then the last. */
static bool put_group(const struct hub_h5_tree *stats, uint32_t *i, struct hub_json *json)
{
    const struct hub_view first = stats->leaves[*i].path;
    const size_t size = first.size - hub_view_behind(first, '/').size;
    bool read = size > 0;
    if (!read)
        return false;
    hub_json_key(json, (struct hub_view){first.data, size - 1});
    hub_json_object(json);
    for (uint32_t k = *i; k < stats->count; *i = k++) {
        const struct hub_view path = stats->leaves[k].path, last = hub_view_behind(path, '/');
        if (path.size - last.size != size || memcmp(path.data, first.data, size) != 0)
            break;
        hub_json_key(json, last);
        read &= put_numbers(stats, &stats->leaves[k], json);
    }
    hub_json_end_object(json);
    return read;
}

enum hub_status molmo_statistics(struct hub_h5_tree *stats, uint64_t root, const char *path,
                                 struct hub_buf *out, bool *whole, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, NULL);
    struct hub_error why = {0};
    uint64_t address;
    *whole = true;
    if (hub_h5_resolve(stats->file, root, hub_view_of(path), &address, NULL))
        return HUB_OK;
    stats->episode = hub_view_of(path);
    const enum hub_status st = hub_h5_tree_load(stats, address, &why);
    if (st && !hub_h5_is_local(stats->file, st))
        return hub_pass(st, &why, err);
    hub_json_object(&json);
    for (uint32_t i = 0; !st && *whole && i < stats->count; i++)
        *whole = stats->leaves[i].dataset.type.field == HUB_FIELD_TEXT
                     ? put_keys(stats, &stats->leaves[i], &json)
                     : put_group(stats, &i, &json);
    hub_json_end_object(&json);
    *whole = !st && *whole && !hub_json_status(&json);
    if (!*whole)
        out->size = 0;
    return HUB_OK;
}
