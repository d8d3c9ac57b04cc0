/* How a LeRobot dataset's files are to be called, by its written specification: what a reader that goes by
 * the templates of info.json would not find. Each rule that is broken is one problem, with its first case. */
#include "storage/formats/lerobot/lerobot.h"
#include "storage/text/number.h"

#include <stdio.h>
#include <stdlib.h>

enum layout_rule { BACKSLASH, FILE_NAME, UNPADDED, CHUNK, OTHER_PATH, CAMERA, NO_FEATURE, NO_EPISODE, RULES };

static const struct {
    const char *code, *text;
} rules[RULES] = {
    [BACKSLASH] = {"backslash-path", "files have a backslash in their names instead of a '/'"},
    [FILE_NAME] = {"bad-file-name", "files have only a number as their name: the form is episode_000000"},
    [UNPADDED] = {"unpadded-name", "names have fewer digits than chunk-000 and episode_000000"},
    [CHUNK] = {"wrong-chunk", "files are not in the chunk of their episode divided by chunks_size"},
    [OTHER_PATH] = {"other-path", "files are not at the paths of info.json's templates"},
    [CAMERA] = {"camera-folder", "videos are in folders named after only the end of their feature's key"},
    [NO_FEATURE] = {"video-without-feature",
                    "videos are in folders that do not belong to a feature of info.json"},
    [NO_EPISODE] = {"video-without-episode", "videos belong to an episode without a data file"},
};

struct rule_check {
    const struct lerobot_info *info;
    const struct lerobot_file *data; /* files with an episode in their name, in its order */
    uint32_t data_count;
    struct hub_tally broken[RULES];
    int64_t chunks_size;
    uint32_t chunked; /* data files in folders chunk-N */
    bool first_chunk;
};

static void note(struct rule_check *c, enum layout_rule rule, struct hub_view path)
{
    hub_tally_add(&c->broken[rule], "%.*s", (int)HUB_MIN(path.size, 180), path.data);
}

static uint32_t broken_rules(const struct rule_check *c)
{
    uint32_t n = 0;
    for (enum layout_rule r = 0; r < RULES; r++)
        n += c->broken[r].count;
    return n;
}

/* Can be filled in, and stays in the dataset? */
static bool is_usable(const char *template)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
    const struct lerobot_path_values any = {0, 0, 0, "camera"};
    return hub_lerobot_path(template, &any, &path) && path.data[0] != '/' && !strstr(path.data, "..") &&
           !strchr(path.data, '\\');
}

bool hub_lerobot_chunk_of(struct hub_view path, uint64_t *number, size_t *digits)
{
    const char *at = memmem(path.data, path.size, "/chunk-", 7);
    if (!at)
        return false;
    const struct hub_view rest = {at + 7, (size_t)(path.data + path.size - at - 7)};
    for (*digits = 0; *digits < rest.size && rest.data[*digits] >= '0' && rest.data[*digits] <= '9';)
        ++*digits;
    return hub_number_read((struct hub_view){rest.data, *digits}, INT32_MAX, number);
}

static bool only_digits(struct hub_view name)
{
    const char *dot = memchr(name.data, '.', name.size);
    const size_t end = dot ? (size_t)(dot - name.data) : 0;
    uint64_t number;
    return end && hub_number_read((struct hub_view){name.data, end}, INT64_MAX, &number);
}

const char *hub_lerobot_camera_key(const json_t *features, struct hub_view folder)
{
    const char *key, *found = NULL;
    json_t *feature;
    json_object_foreach((json_t *)features, key, feature)
    {
        const size_t size = strlen(key);
        if (hub_view_is(folder, key))
            return key;
        if (size <= folder.size || key[size - folder.size - 1] != '.' ||
            memcmp(key + size - folder.size, folder.data, folder.size) != 0)
            continue;
        if (found)
            return NULL; /* of two it may be */
        found = key;
    }
    return found;
}

/* videos/chunk-000/CAMERA/episode_000000.mp4, or of v3 videos/CAMERA/chunk-000/file-000.mp4. */
static struct hub_view camera_folder(struct hub_view path)
{
    struct hub_view rest = {path.data + 7, path.size - 7};
    if (hub_view_starts(rest, "chunk-")) {
        const char *slash = memchr(rest.data, '/', rest.size);
        rest.size = slash ? rest.size - (size_t)(slash + 1 - rest.data) : 0;
        rest.data = slash ? slash + 1 : rest.data;
    }
    const char *end = memchr(rest.data, '/', rest.size);
    return (struct hub_view){rest.data, end ? (size_t)(end - rest.data) : 0};
}

static void check_camera(struct rule_check *c, struct hub_view path)
{
    const struct hub_view folder = camera_folder(path);
    const char *key = folder.size ? hub_lerobot_camera_key(c->info->features, folder) : NULL;
    if (folder.size && !key)
        note(c, NO_FEATURE, path);
    else if (folder.size && !hub_view_is(folder, key))
        note(c, CAMERA, path);
}

/* Does a template that can be filled in lead elsewhere? */
static bool is_elsewhere(const struct rule_check *c, struct hub_view path, bool video, int64_t episode)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf wanted = HUB_BUF_INIT(HUB_MAX_PATH);
    const struct hub_view folder = video ? camera_folder(path) : HUB_VIEW("");
    const char *template = hub_lerobot_text(c->info->json, video ? "video_path" : "data_path");
    const struct lerobot_path_values values = {c->chunks_size > 0 ? episode / c->chunks_size : -1, -1,
                                               episode, hub_lerobot_camera_key(c->info->features, folder)};
    return is_usable(template) && hub_lerobot_path(template, &values, &wanted) &&
           !hub_view_is(path, wanted.data);
}

/* A name that says its episode. */
static void check_episode(struct rule_check *c, struct hub_view path, bool video, int64_t episode)
{
    const uint32_t before = broken_rules(c);
    const struct hub_view name = hub_view_behind(path, '/');
    uint64_t chunk = 0;
    size_t digits = 0;
    if (name.size < sizeof "episode_000000" - 1 + (video ? 4 : 8))
        note(c, UNPADDED, path);
    if (hub_lerobot_chunk_of(path, &chunk, &digits) && c->chunks_size > 0 &&
        (int64_t)chunk != episode / c->chunks_size)
        note(c, CHUNK, path);
    if (video && c->data_count && !bsearch(&episode, c->data, c->data_count, sizeof *c->data, hub_by_i64))
        note(c, NO_EPISODE, path);
    if (video)
        check_camera(c, path);
    if (broken_rules(c) == before && is_elsewhere(c, path, video, episode))
        note(c, OTHER_PATH, path);
}

static void check_file(struct rule_check *c, struct hub_view path)
{
    uint64_t chunk = 0;
    size_t digits = 0;
    const bool video = hub_view_ends(path, ".mp4") && hub_view_starts(path, "videos/");
    const bool data = hub_lerobot_is_data(path) && hub_view_starts(path, "data/");
    if (memchr(path.data, '\\', path.size))
        note(c, BACKSLASH, path);
    if (!video && !data)
        return;
    const int64_t episode = hub_lerobot_episode_of(path, video ? ".mp4" : ".parquet");
    const bool chunked = hub_lerobot_chunk_of(path, &chunk, &digits);
    c->chunked += chunked && data;
    c->first_chunk |= chunked && data && chunk == 0;
    if (only_digits(hub_view_behind(path, '/')))
        note(c, FILE_NAME, path);
    if (chunked && digits < 3)
        note(c, UNPADDED, path);
    else if (episode >= 0)
        check_episode(c, path, video, episode);
    else if (video)
        check_camera(c, path);
}

/* Fields that nobody fills, and paths that leave the dataset. */
static enum hub_status check_template(const struct rule_check *c, struct hub_sink *sink, const char *key,
                                      bool needed, struct hub_error *err)
{
    const char *template = hub_lerobot_text(c->info->json, key);
    if (!template)
        return needed ? hub_sink_problem(sink, "bad-template", hub_view_of(key), err, "info.json has none")
                      : HUB_OK;
    if (strchr(template, '\\'))
        return hub_sink_problem(sink, "backslash-path", hub_view_of(key), err,
                                "\"%.200s\" must have '/' instead of the backslash", template);
    if (is_usable(template))
        return HUB_OK;
    return hub_sink_problem(sink, "bad-template", hub_view_of(key), err,
                            "\"%.200s\" names no file of the dataset: files are found by their names",
                            template);
}

enum hub_status hub_lerobot_check_rules(const struct hub_files *files, const struct lerobot_info *info,
                                        const struct lerobot_file *data, uint32_t count,
                                        struct hub_sink *sink, struct hub_error *err)
{
    struct rule_check c = {.info = info,
                           .data = data,
                           .data_count = count,
                           .chunks_size = json_integer_value(json_object_get(info->json, "chunks_size"))};
    const bool videos = json_string_value(json_object_get(info->json, "video_path"));
    for (uint32_t i = 0; i < files->count; i++)
        check_file(&c, files->entries[i].path);
    if (c.chunks_size <= 0)
        HUB_TRY(hub_sink_problem(sink, "no-chunks-size", HUB_VIEW(LEROBOT_INFO), err,
                                 "it does not say how many files a chunk has"));
    HUB_TRY(check_template(&c, sink, "data_path", true, err));
    HUB_TRY(check_template(&c, sink, "video_path", videos, err));
    if (c.chunked && !c.first_chunk)
        HUB_TRY(hub_sink_problem(sink, "no-first-chunk", HUB_VIEW("data"), err, "there is no chunk-000"));
    for (enum layout_rule r = 0; r < RULES; r++)
        if (c.broken[r].count)
            HUB_TRY(hub_sink_problem(sink, rules[r].code, HUB_VIEW(LEROBOT_INFO), err, "%u %s; the first: %s",
                                     c.broken[r].count, rules[r].text, c.broken[r].first));
    return HUB_OK;
}
