/* How a LeRobot dataset's files are to be called, by its written specification: what a reader that goes by the
 * templates of info.json would not find. Each rule that is broken is one problem, with its first case. */
#include "storage/base/number.h"
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>

enum rule { BACKSLASH, FILE_NAME, UNPADDED, CHUNK, CAMERA, NO_FEATURE, RULES };

static const struct {
    const char *code, *text;
} rules[RULES] = {
    [BACKSLASH] = {"backslash-path", "files have a backslash in their names, where a '/' is meant"},
    [FILE_NAME] = {"bad-file-name", "files are called after a number alone: episode_000000 is the form"},
    [UNPADDED] = {"unpadded-name", "names have fewer digits than chunk-000 and episode_000000"},
    [CHUNK] = {"wrong-chunk", "files lie in another chunk than their episode divided by chunks_size"},
    [CAMERA] = {"camera-folder", "videos lie in folders that are only the end of their feature's key"},
    [NO_FEATURE] = {"video-without-feature", "videos lie in folders that are no feature of info.json"},
};

struct check {
    const struct lerobot_info *info;
    struct hub_tally broken[RULES];
    int64_t chunks_size;
    uint32_t chunked; /* data files in folders chunk-N */
    bool first_chunk;
};

static void note(struct check *c, enum rule rule, struct hub_view path)
{
    hub_tally_add(&c->broken[rule], "%.*s", (int)HUB_MIN(path.size, 180), path.data);
}

/* "data/chunk-012/..." -> 12 and its three digits. */
static bool chunk_of(struct hub_view path, uint64_t *number, size_t *digits)
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

static void check_camera(struct check *c, struct hub_view path)
{
    const struct hub_view folder = camera_folder(path);
    const char *key = folder.size ? hub_lerobot_camera_key(c->info->features, folder) : NULL;
    if (folder.size && !key)
        note(c, NO_FEATURE, path);
    else if (folder.size && !hub_view_is(folder, key))
        note(c, CAMERA, path);
}

static void check_file(struct check *c, struct hub_view path)
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
    const struct hub_view name = hub_view_behind(path, '/');
    const bool chunked = chunk_of(path, &chunk, &digits);
    c->chunked += chunked && data;
    c->first_chunk |= chunked && data && chunk == 0;
    if (only_digits(name))
        note(c, FILE_NAME, path);
    if ((chunked && digits < 3) ||
        (episode >= 0 && name.size < sizeof "episode_000000" - 1 + (video ? 4 : 8)))
        note(c, UNPADDED, path);
    if (chunked && episode >= 0 && c->chunks_size > 0 && (int64_t)chunk != episode / c->chunks_size)
        note(c, CHUNK, path);
    if (video)
        check_camera(c, path);
}

/* Fields that nobody fills, and paths that leave the dataset. */
static enum hub_status check_template(const struct check *c, struct hub_sink *sink, const char *key,
                                      bool needed, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(HUB_MAX_PATH);
    const struct lerobot_place any = {0, 0, 0, "camera"};
    const char *template = hub_lerobot_text(c->info->json, key);
    if (!template)
        return needed ? hub_sink_problem(sink, "bad-template", hub_view_of(key), err, "info.json has none")
                      : HUB_OK;
    if (strchr(template, '\\'))
        return hub_sink_problem(sink, "backslash-path", hub_view_of(key), err, "\"%.200s\": a '/' is meant",
                                template);
    if (hub_lerobot_path(template, &any, &path) && path.data[0] != '/' && !strstr(path.data, ".."))
        return HUB_OK;
    return hub_sink_problem(sink, "bad-template", hub_view_of(key), err,
                            "\"%.200s\" names no file of the dataset: files are found by their names",
                            template);
}

enum hub_status hub_lerobot_check_rules(const struct hub_files *files, const struct lerobot_info *info,
                                        struct hub_sink *sink, struct hub_error *err)
{
    struct check c = {.info = info,
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
    for (enum rule r = 0; r < RULES; r++)
        if (c.broken[r].count)
            HUB_TRY(hub_sink_problem(sink, rules[r].code, HUB_VIEW(LEROBOT_INFO), err, "%u %s; the first: %s",
                                     c.broken[r].count, rules[r].text, c.broken[r].first));
    return HUB_OK;
}
