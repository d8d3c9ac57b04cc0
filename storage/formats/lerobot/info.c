/* meta/info.json: its version, its templates of paths, and what it says of the dataset as facts: frames a
 * second, the robot, cameras. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>
#include <stdlib.h>

const char *hub_lerobot_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *hub_lerobot_version(const json_t *info)
{
    const char *version = hub_lerobot_text(info, "codebase_version");
    if (!version)
        version = hub_lerobot_text(info, "version");
    return version && version[0] == 'v' ? version + 1 : version;
}

bool hub_lerobot_range(const json_t *split, int64_t *from, int64_t *to)
{
    const char *text = json_string_value(split);
    const char *colon = text ? strchr(text, ':') : NULL;
    char *end;
    if (!colon || colon == text || !colon[1])
        return false;
    *from = strtoll(text, &end, 10);
    if (end != colon)
        return false;
    *to = strtoll(colon + 1, &end, 10);
    return *end == '\0' && *from >= 0 && *to >= *from;
}

bool hub_lerobot_is(const json_t *feature, const char *dtype)
{
    const char *stated = hub_lerobot_text(feature, "dtype");
    return stated && strcmp(stated, dtype) == 0;
}

/* ---- templates ---- */

/* One field of Python's format language: "episode_index:06d" or "video_key". */
static bool put_field(struct hub_view field, const struct lerobot_path_values *values, struct hub_buf *out)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"episode_chunk", values->chunk},
                   {"chunk_index", values->chunk},
                   {"episode_index", values->episode},
                   {"file_index", values->file}};
    const char *colon = memchr(field.data, ':', field.size);
    const struct hub_view name = {field.data, colon ? (size_t)(colon - field.data) : field.size};
    if (hub_view_is(name, "video_key") && values->key)
        return !hub_buf_add_text(out, values->key, NULL);
    const unsigned long width = colon ? strtoul(colon + 1, NULL, 10) : 0;
    for (size_t i = 0; i < HUB_COUNT(numbers); i++)
        if (hub_view_is(name, numbers[i].name))
            return numbers[i].value >= 0 && width < 20 &&
                   !hub_buf_addf(out, NULL, "%0*lld", (int)width, (long long)numbers[i].value);
    return false;
}

bool hub_lerobot_path(const char *template, const struct lerobot_path_values *values, struct hub_buf *out)
{
    out->size = 0;
    for (const char *at = template; at && *at;) {
        const char *open = strchr(at, '{'), *close = open ? strchr(open, '}') : NULL;
        if (hub_buf_add(out, at, open ? (size_t)(open - at) : strlen(at), NULL))
            return false;
        if (!open)
            return true;
        if (!close || !put_field((struct hub_view){open + 1, (size_t)(close - open - 1)}, values, out))
            return false;
        at = close + 1;
    }
    return template && out->size;
}

uint32_t hub_lerobot_find(const struct hub_files *files, const char *template, const char *otherwise,
                          const struct lerobot_path_values *values)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
    if (!hub_lerobot_path(template, values, &path) && !hub_lerobot_path(otherwise, values, &path))
        return HUB_NONE;
    return hub_files_find(files, path.data);
}

/* ---- cameras ---- */

const json_t *hub_lerobot_video_info(const json_t *feature)
{
    const json_t *info = json_object_get(feature, "info");
    return json_is_object(info) ? info : json_object_get(feature, "video_info");
}

double hub_lerobot_fps(const struct lerobot_info *info, const json_t *feature)
{
    const double fps = json_number_value(json_object_get(hub_lerobot_video_info(feature), "video.fps"));
    return fps > 0 ? fps : json_number_value(json_object_get(info->json, "fps"));
}

/* (h,w,c) or (c,h,w): by the names, else by which end is 1 or 3. */
static void size_of(const json_t *feature, json_int_t *width, json_int_t *height)
{
    const json_t *shape = json_object_get(feature, "shape"), *names = json_object_get(feature, "names");
    const char *first = json_string_value(json_array_get(names, 0));
    const json_int_t front = json_integer_value(json_array_get(shape, 0)),
                     back = json_integer_value(json_array_get(shape, 2));
    *width = *height = 0;
    if (json_array_size(shape) != 3)
        return;
    const bool channels_first =
        first ? strncmp(first, "channel", 7) == 0 : (front == 1 || front == 3) && back != 1 && back != 3;
    *height = json_integer_value(json_array_get(shape, channels_first));
    *width = json_integer_value(json_array_get(shape, channels_first + 1U));
}

/* How the numbers of a video's pictures are distances: code = 4095 (ln(d+shift) - ln(min+shift)) /
 * (ln(max+shift)
 * - ln(min+shift)), or linear from min to max. */
static void put_depth(struct hub_json *json, const json_t *video)
{
    static const char *const numbers[][2] = {
        {"min", "video.depth_min"}, {"max", "video.depth_max"}, {"shift", "video.shift"}};
    if (!json_is_true(json_object_get(video, "is_depth_map")) &&
        !json_is_true(json_object_get(video, "video.is_depth_map")))
        return;
    hub_json_put_object(json, "depth");
    hub_json_put_text(json, "unit", hub_lerobot_text(video, "depth_unit"));
    for (size_t i = 0; i < HUB_COUNT(numbers); i++)
        if (json_is_number(json_object_get(video, numbers[i][1])))
            hub_json_put_double(json, numbers[i][0],
                                json_number_value(json_object_get(video, numbers[i][1])));
    if (json_is_boolean(json_object_get(video, "video.use_log")))
        hub_json_put_bool(json, "log", json_is_true(json_object_get(video, "video.use_log")));
    hub_json_end_object(json);
}

static void put_camera(struct hub_json *json, const struct lerobot_info *info, const char *name,
                       const json_t *feature)
{
    json_int_t width, height;
    const bool video = hub_lerobot_is(feature, "video");
    const double fps = hub_lerobot_fps(info, feature);
    size_of(feature, &width, &height);
    hub_json_object(json);
    hub_json_put_text(json, "camera", name);
    hub_json_put_text(json, "type", video ? "video" : "image");
    if (width > 0 && height > 0) {
        hub_json_put_int(json, "width", width);
        hub_json_put_int(json, "height", height);
    }
    if (fps > 0)
        hub_json_put_double(json, "fps", fps);
    hub_json_put_text(json, "codec",
                      video ? hub_lerobot_text(hub_lerobot_video_info(feature), "video.codec") : NULL);
    put_depth(json, hub_lerobot_video_info(feature));
    hub_json_end_object(json);
}

static enum hub_status send_cameras(const struct lerobot_info *info, struct hub_sink *sink,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    struct hub_json json = hub_json_to(&text, err);
    const char *name;
    json_t *feature;
    unsigned kept = 0;
    hub_json_array(&json);
    json_object_foreach((json_t *)info->features, name, feature)
    {
        if (!hub_lerobot_is(feature, "video") && !hub_lerobot_is(feature, "image"))
            continue;
        put_camera(&json, info, name, feature);
        kept++;
    }
    hub_json_end_array(&json);
    HUB_TRY(hub_json_status(&json));
    return kept ? hub_sink_fact(sink, "cameras", hub_buf_view(&text), err) : HUB_OK;
}

static enum hub_status send_value(struct hub_sink *sink, const char *fact, const json_t *value,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    struct hub_json json = hub_json_to(&text, err);
    hub_json_parsed(&json, value);
    HUB_TRY(hub_json_status(&json));
    return hub_sink_fact(sink, fact, hub_buf_view(&text), err);
}

enum hub_status hub_lerobot_send_info(const struct lerobot_info *info, struct hub_files *files,
                                      struct hub_sink *sink, struct hub_error *err)
{
    const json_t *fps = json_object_get(info->json, "fps"),
                 *robot = json_object_get(info->json, "robot_type");
    char era[24];
    snprintf(era, sizeof era, "v%.20s", hub_lerobot_version(info->json));
    HUB_TRY(hub_sink_fact(sink, "era", hub_view_of(era), err));
    if (json_number_value(fps) > 0)
        HUB_TRY(send_value(sink, "fps", fps, err));
    if (json_string_length(robot))
        HUB_TRY(send_value(sink, "robot_type", robot, err));
    HUB_TRY(hub_lerobot_send_dimensions(info, files, sink, err));
    return send_cameras(info, sink, err);
}
