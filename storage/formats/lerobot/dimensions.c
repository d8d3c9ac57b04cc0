/* What the numbers of a vector are called, and between what they lie: names of info.json, groups of them in
 * GR00T's meta/modality.json ({"state": {"left_arm": {"start": 0, "end": 7}}}), bounds of stats.json. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>

enum { MAX_NAMES = 1024 }; /* of one feature */

/* ["x","y"], [["x","y"]] and {"motors": ["x","y"]} are the same names. */
static const json_t *names_of(const json_t *feature)
{
    const json_t *names = json_object_get(feature, "names");
    if (json_object_size(names) == 1)
        names = json_object_iter_value(json_object_iter((json_t *)names));
    if (json_array_size(names) == 1 && json_is_array(json_array_get(names, 0)))
        names = json_array_get(names, 0);
    for (size_t i = 0; i < json_array_size(names); i++)
        if (!json_is_string(json_array_get(names, i)))
            return NULL;
    return json_array_size(names) && json_array_size(names) <= MAX_NAMES ? names : NULL;
}

/* ---- groups ---- */

/* The groups of a feature: "left_arm" -> {"start": 0, "end": 7}, in their order. NULL: no memory. */
static json_t *groups_of(const json_t *modality, const char *feature)
{
    static const char *const sections[][2] = {{"state", "observation.state"}, {"action", "action"}};
    json_t *groups = json_object();
    for (size_t i = 0; groups && i < HUB_COUNT(sections); i++) {
        const char *name;
        json_t *group;
        json_object_foreach(json_object_get(modality, sections[i][0]), name, group)
        {
            const char *key = hub_lerobot_text(group, "original_key");
            const json_int_t start = json_integer_value(json_object_get(group, "start")),
                             end = json_integer_value(json_object_get(group, "end"));
            if (strcmp(key ? key : sections[i][1], feature) == 0 && start >= 0 && end > start &&
                end <= MAX_NAMES)
                (void)json_object_set_new(groups, name, json_pack("{s:I,s:I}", "start", start, "end", end));
        }
    }
    return groups;
}

/* "left_arm.0", "left_arm.1", ... of a vector without names of its own. */
static json_t *names_by_groups(const json_t *feature, json_t *groups)
{
    const json_t *shape = json_object_get(feature, "shape");
    const json_int_t size = json_integer_value(json_array_get(shape, 0));
    const char *name;
    json_t *group, *names = json_array();
    if (json_array_size(shape) != 1 || size > MAX_NAMES || !json_object_size(groups))
        return names;
    for (json_int_t i = 0; i < size; i++)
        (void)json_array_append_new(names, json_sprintf("%lld", (long long)i));
    json_object_foreach(groups, name, group)
    {
        const json_int_t start = json_integer_value(json_object_get(group, "start"));
        for (json_int_t i = start; i < json_integer_value(json_object_get(group, "end")) && i < size; i++)
            (void)json_array_set_new(names, (size_t)i, json_sprintf("%s.%lld", name, (long long)(i - start)));
    }
    return names;
}

static void put_groups(struct hub_json *json, json_t *groups)
{
    const char *name;
    json_t *group;
    hub_json_put_array(json, "groups");
    json_object_foreach(groups, name, group)
    {
        hub_json_object(json);
        hub_json_put_text(json, "name", name);
        hub_json_put_int(json, "start", json_integer_value(json_object_get(group, "start")));
        hub_json_put_int(json, "end", json_integer_value(json_object_get(group, "end")));
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

/* ---- the fact ---- */

static bool is_row_of_numbers(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_number(json_array_get(value, i)) && !json_is_string(json_array_get(value, i)))
            return false; /* a string: "NaN" */
    return json_array_size(value) && json_array_size(value) <= MAX_NAMES;
}

static void put_some(struct hub_json *json, const char *key, const json_t *value)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_parsed(json, value);
}

/* False: nothing is known of it. */
static bool put_dimension(struct hub_json *json, const char *name, const json_t *feature, const json_t *stats,
                          const json_t *modality)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *groups = groups_of(modality, name);
    HUB_CLEANUP(hub_json_decrefp) json_t *built = names_by_groups(feature, groups);
    const json_t *min = json_object_get(stats, "min"), *max = json_object_get(stats, "max");
    const json_t *names = names_of(feature) ? names_of(feature) : built;
    if (!json_array_size(names))
        return false;
    hub_json_key(json, hub_view_of(name));
    hub_json_object(json);
    put_some(json, "names", names);
    if (json_object_size(groups))
        put_groups(json, groups);
    if (is_row_of_numbers(min) && is_row_of_numbers(max)) {
        put_some(json, "min", min);
        put_some(json, "max", max);
    }
    hub_json_end_object(json);
    return true;
}

static enum hub_status read_modality(struct hub_files *files, struct hub_sink *sink, json_t **out,
                                     struct hub_error *err)
{
    struct hub_error why = {0};
    const enum hub_status st = hub_json_file(files, LEROBOT_MODALITY, NULL, out, &why);
    if (!st || st == HUB_NOT_FOUND)
        return HUB_OK;
    return hub_is_local(st)
               ? hub_sink_problem(sink, "bad-metadata", HUB_VIEW(LEROBOT_MODALITY), err, "%s", why.detail)
               : hub_pass(st, &why, err);
}

enum hub_status hub_lerobot_send_dimensions(const struct lerobot_info *info, struct hub_files *files,
                                            struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *modality = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&text, err);
    const char *name;
    json_t *feature;
    bool any = false;
    HUB_TRY(read_modality(files, sink, &modality, err));
    hub_json_object(&json);
    json_object_foreach((json_t *)info->features, name, feature)
    {
        if (!hub_lerobot_is(feature, "video") && !hub_lerobot_is(feature, "image"))
            any |= put_dimension(&json, name, feature, json_object_get(info->stats, name), modality);
    }
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return any ? hub_sink_fact(sink, "dimensions", hub_buf_view(&text), err) : HUB_OK;
}
