/* Statistics of the whole, from stats.json. Those of an episode as one JSON object, feature by feature: of a
 * line of episodes_stats.jsonl, or of the columns "stats/FEATURE/NAME" of a table. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdlib.h>

#define MAX_TABLE_BYTES (128 * MIB)

/* ---- of the whole ---- */

/* LeRobot normalizes what policies see and do, and fails where that has none. */
static enum hub_status check_statistics(const struct lerobot_info *info, struct hub_sink *sink,
                                        struct hub_error *err)
{
    struct hub_tally without = {0};
    const char *name;
    json_t *feature;
    json_object_foreach((json_t *)info->features, name, feature)
    {
        const enum hub_role role = hub_role_of(hub_view_of(name));
        if ((role == HUB_ROLE_OBSERVATION || role == HUB_ROLE_ACTION) && !hub_lerobot_is(feature, "string") &&
            !json_object_get(info->stats, name))
            hub_tally_add(&without, "%.150s", name);
    }
    if (!without.count)
        return HUB_OK;
    return hub_sink_problem(sink, "missing-statistics", HUB_VIEW(LEROBOT_STATS), err,
                            "it has none of %u features; the first: %s", without.count, without.first);
}

/* The written specification has those of the whole where LeRobot has those of episodes. */
static enum hub_status take_statistics(void *user, json_t *object, uint32_t number, struct hub_error *err)
{
    if (number > 1 || json_object_get(object, "episode_index") || json_object_get(object, "stats"))
        return HUB_CANCELLED; /* they are of episodes */
    return hub_sink_json(user, "statistics", object, err);
}

enum hub_status hub_lerobot_send_statistics(struct lerobot_info *info, struct hub_files *files,
                                            struct hub_sink *sink, json_t **stats, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    struct hub_error why = {0};
    enum hub_status st = hub_json_file(files, LEROBOT_STATS, &text, stats, &why);
    if (st == HUB_NOT_FOUND) {
        st = hub_lerobot_lines(
            &(struct lerobot_lines){files, NULL, LEROBOT_EPISODES_STATS, 0, INT64_MAX, take_statistics, sink},
            err);
        return st == HUB_CANCELLED ? HUB_OK : st;
    }
    if (st || !json_is_object(*stats))
        return hub_sink_problem(sink, "bad-metadata", HUB_VIEW(LEROBOT_STATS), err, "%s",
                                st ? why.detail : "not an object");
    info->stats = *stats;
    HUB_TRY(check_statistics(info, sink, err));
    return hub_sink_fact(sink, "statistics", hub_buf_view(&text), err);
}

/* ---- of an episode ---- */

/* A list of one number is that number. */
static const json_t *plain(const json_t *value)
{
    return json_array_size(value) == 1 && !json_is_array(json_array_get(value, 0)) ? json_array_get(value, 0)
                                                                                   : value;
}

static void put_feature(struct hub_json *json, const json_t *feature)
{
    const char *key;
    json_t *value;
    const json_t *mean = plain(json_object_get(feature, "mean")),
                 *count = plain(json_object_get(feature, "count"));
    hub_json_object(json);
    json_object_foreach((json_t *)feature, key, value)
    {
        hub_json_key(json, hub_view_of(key));
        hub_json_parsed(json, plain(value));
    }
    if (json_is_number(mean) && json_is_number(count) && !json_object_get(feature, "sum"))
        hub_json_put_double(json, "sum", json_number_value(mean) * json_number_value(count));
    hub_json_end_object(json);
}

enum hub_status hub_lerobot_put_line_statistics(const json_t *line, struct hub_buf *out,
                                                struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    json_t *stats = json_object_get(line, "stats"), *feature;
    const char *name;
    if (json_object_size(stats) == 0)
        return HUB_OK;
    hub_json_object(&json);
    json_object_foreach(stats, name, feature)
    {
        hub_json_key(&json, hub_view_of(name));
        put_feature(&json, feature);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* ---- of a table ---- */

static int by_feature(const void *a, const void *b)
{
    const struct lerobot_statistic *x = a, *y = b;
    const size_t common = HUB_MIN(x->feature.size, y->feature.size);
    const int order = memcmp(x->feature.data, y->feature.data, common);
    if (order || x->feature.size != y->feature.size)
        return order ? order : x->feature.size < y->feature.size ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* "stats/observation.state/q01": a feature's key may hold a '/', a statistic's name holds none. */
static bool name_of(const char *path, uint32_t place, struct lerobot_statistic *out)
{
    const struct hub_view whole = hub_view_of(path), name = hub_view_behind(whole, '/');
    if (!hub_view_starts(whole, "stats/") || name.data < path + 7)
        return false;
    *out = (struct lerobot_statistic){.feature = {path + 6, (size_t)(name.data - path - 7)}, .place = place};
    return true;
}

/* Its names are kept, for the table closes before they are written. */
static enum hub_status keep_name(struct lerobot_statistic *s, const char *path, struct hub_error *err)
{
    HUB_TRY(hub_dup(&s->path, path, err));
    s->feature.data = s->path + 6;
    s->name = hub_view_behind(hub_view_of(s->path), '/');
    return HUB_OK;
}

enum hub_status hub_lerobot_statistics_read(struct hub_table *t, uint64_t first, uint64_t count,
                                            struct lerobot_statistics *out, struct hub_error *err)
{
    size_t bytes = 0;
    *out = (struct lerobot_statistics){.count = 0};
    HUB_TRY(hub_new(&out->items, (size_t)t->parquet.leaf_count + 1, sizeof *out->items, err));
    for (uint32_t i = 0; i < t->parquet.leaf_count && bytes < MAX_TABLE_BYTES; i++) {
        struct lerobot_statistic s;
        const struct hub_parquet_leaf *leaf = &t->parquet.leaves[i];
        if (leaf->item.kind == HUB_KIND_VAR || !name_of(leaf->path, i, &s))
            continue;
        const enum hub_status st = hub_lerobot_table_leaf(t, i, first, count, &s.items, err);
        if (st)
            hub_parquet_items_dispose(&s.items);
        if (st && !hub_is_local(st))
            return st;
        if (st)
            continue;
        bytes += s.items.numbers.capacity;
        out->items[out->count++] = s;
        HUB_TRY(keep_name(&out->items[out->count - 1], leaf->path, err));
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_feature);
    return HUB_OK;
}

void hub_lerobot_statistics_dispose(struct lerobot_statistics *statistics)
{
    for (uint32_t i = 0; i < statistics->count; i++) {
        hub_parquet_items_dispose(&statistics->items[i].items);
        free(statistics->items[i].path);
    }
    free(statistics->items);
    *statistics = (struct lerobot_statistics){0};
}

static void put_statistic(struct hub_json *json, const struct hub_parquet_items *items, uint64_t row)
{
    const uint64_t from = items->starts[row], to = items->starts[row + 1];
    if (to - from != 1)
        hub_json_array(json);
    for (uint64_t i = from; i < to; i++) {
        double value;
        memcpy(&value, items->numbers.data + i * sizeof value, sizeof value);
        hub_json_double(json, value);
    }
    if (to - from != 1)
        hub_json_end_array(json);
}

/* The product that a list of means has no use for. */
static void put_sum(struct hub_json *json, const struct lerobot_statistic *of, uint32_t count, uint64_t row)
{
    double mean = 0, number = 0;
    unsigned found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_parquet_items *items = &of[i].items;
        if (items->starts[row + 1] - items->starts[row] != 1)
            continue;
        if (hub_view_is(of[i].name, "mean")) {
            mean = hub_lerobot_number(items, row);
            found |= 1;
        } else if (hub_view_is(of[i].name, "count")) {
            number = hub_lerobot_number(items, row);
            found |= 2;
        }
    }
    if (found == 3)
        hub_json_put_double(json, "sum", mean * number);
}

enum hub_status hub_lerobot_put_row_statistics(const struct lerobot_statistics *s, uint64_t row,
                                               struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    if (s->count == 0)
        return HUB_OK;
    hub_json_object(&json);
    for (uint32_t i = 0, n; i < s->count; i += n) {
        const struct hub_view feature = s->items[i].feature;
        for (n = 1; i + n < s->count && hub_view_equal(s->items[i + n].feature, feature); n++)
            ;
        hub_json_key(&json, feature);
        hub_json_object(&json);
        for (uint32_t k = i; k < i + n; k++) {
            const struct hub_parquet_items *items = &s->items[k].items;
            if (items->starts[row] == items->starts[row + 1])
                continue;
            hub_json_key(&json, s->items[k].name);
            put_statistic(&json, items, row);
        }
        put_sum(&json, &s->items[i], n, row);
        hub_json_end_object(&json);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}
