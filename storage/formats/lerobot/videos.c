/* Which videos belong to an episode. Where each has files of its own (v2) their names say so; where many
 * share one (v3) the columns "videos/CAMERA/..." of its row do. */
#include "storage/formats/lerobot/lerobot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMN_NAME = 512 };

/* The camera is the folder a video lies in. */
static struct hub_view camera_of(struct hub_view path)
{
    const char *end = memrchr(path.data, '/', path.size);
    const char *start = end ? memrchr(path.data, '/', (size_t)(end - path.data)) : NULL;
    return start ? (struct hub_view){start + 1, (size_t)(end - start - 1)} : HUB_VIEW("");
}

static enum hub_status find_named(struct lerobot_videos *v, int64_t first, int64_t last,
                                  struct hub_error *err)
{
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < v->files->count; i++) {
        const struct hub_view path = v->files->entries[i].path;
        const int64_t episode = hub_lerobot_episode_of(path, ".mp4");
        if (episode < first || episode > last || camera_of(path).size == 0)
            continue;
        HUB_TRY(hub_grow(&v->named, v->named_count, &capacity, sizeof *v->named, err));
        const char *key = hub_lerobot_camera_key(v->info->features, camera_of(path));
        v->named[v->named_count++] =
            (struct lerobot_video){{episode, i}, key ? hub_view_of(key) : camera_of(path)};
    }
    if (v->named_count)
        qsort(v->named, v->named_count, sizeof *v->named, hub_lerobot_by_file);
    return HUB_OK;
}

enum hub_status hub_lerobot_videos_find(struct lerobot_videos *v, int64_t first, int64_t last,
                                        struct hub_error *err)
{
    const char *key;
    json_t *feature;
    v->read = (struct hub_videos){.files = v->files, .sink = v->sink, .reported = true};
    HUB_TRY(hub_new(&v->cameras, json_object_size(v->info->features) + 1, sizeof *v->cameras, err));
    json_object_foreach((json_t *)v->info->features, key, feature) if (hub_lerobot_is(feature, "video"))
        v->cameras[v->camera_count++] = (struct lerobot_camera){.key = key, .feature = feature};
    return find_named(v, first, last, err);
}

void hub_lerobot_videos_dispose(struct lerobot_videos *v)
{
    hub_videos_dispose(&v->read);
    free(v->named);
    free(v->cameras);
}

/* ---- what info.json says of them ---- */

/* A codec goes by the name of its stream, of an encoder, or of the box in the file; NULL: another one. */
static const char *codec_of(struct hub_view name)
{
    static const char *const parts[][2] = {{"av1", "av1"},   {"av01", "av1"},    {"264", "h264"},
                                           {"avc", "h264"},  {"265", "hevc"},    {"hevc", "hevc"},
                                           {"hev1", "hevc"}, {"hvc1", "hevc"},   {"vp9", "vp9"},
                                           {"vp09", "vp9"},  {"mpeg4", "mpeg4"}, {"mp4v", "mpeg4"}};
    for (size_t i = 0; i < HUB_COUNT(parts); i++)
        if (name.size && memmem(name.data, name.size, parts[i][0], strlen(parts[i][0])))
            return parts[i][1];
    return NULL;
}

static void compare_stated(struct lerobot_camera *c, const struct lerobot_info *info, struct hub_view codec,
                           const struct hub_media *media, struct hub_view path)
{
    const double fps = json_number_value(json_object_get(info->json, "fps"));
    const double rate = media->fps_den ? (double)media->fps_num / media->fps_den : 0;
    const char *stated = codec_of(codec), *found = codec_of(media->codec);
    if (media->samples > 1 && fps > 0 && rate > 0 && fabs(rate / fps - 1) > 1e-3)
        hub_tally_add(&c->rates, "%.*s has %.6g frames per second, info.json says %.6g",
                      (int)HUB_MIN(path.size, 120), path.data, rate, fps);
    if (stated && found && strcmp(stated, found) != 0)
        hub_tally_add(&c->codecs, "%.*s is %.*s, info.json says %.*s", (int)HUB_MIN(path.size, 120),
                      path.data, (int)HUB_MIN(media->codec.size, 30), media->codec.data,
                      (int)HUB_MIN(codec.size, 30), codec.data);
}

/* Complete a medium from its file, and send it. */
static enum hub_status send(struct lerobot_videos *v, struct hub_media *media, uint64_t rows,
                            struct hub_error *err)
{
    const struct hub_view codec = media->codec;
    HUB_TRY(hub_videos_send(&v->read, media, rows, err));
    for (uint32_t i = 0; i < v->camera_count; i++)
        if (hub_view_is(media->camera, v->cameras[i].key)) {
            v->cameras[i].found++;
            compare_stated(&v->cameras[i], v->info, codec, media, v->files->entries[media->file].path);
        }
    return HUB_OK;
}

/* ---- by name ---- */

static struct hub_media media_of(const struct lerobot_videos *v, struct hub_view camera, uint32_t file,
                                 uint32_t episode)
{
    struct hub_media media = {.episode = episode, .camera = camera, .file = file};
    char key[COLUMN_NAME];
    snprintf(key, sizeof key, "%.*s", (int)HUB_MIN(camera.size, sizeof key - 1), camera.data);
    const json_t *feature = json_object_get(v->info->features, key);
    media.codec = hub_view_of(hub_lerobot_text(hub_lerobot_video_info(feature), "video.codec"));
    hub_media_rate(&media, hub_lerobot_fps(v->info, feature));
    return media;
}

/* ---- by row ---- */

static double stated(const json_t *line, const char *camera, const char *what)
{
    char name[COLUMN_NAME];
    snprintf(name, sizeof name, "videos/%.300s/%s", camera, what);
    const json_t *value = json_object_get(line, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* A folder that is not called as the template says: "video/" instead of "videos/". */
static uint32_t find_elsewhere(const struct lerobot_videos *v, struct lerobot_camera *c,
                               const struct lerobot_path_values *values)
{
    char end[COLUMN_NAME], path[HUB_MAX_PATH];
    if (c->elsewhere.size == 0 && !c->searched) {
        snprintf(end, sizeof end, "/%.300s/", c->key);
        for (uint32_t i = 0; i < v->files->count && c->elsewhere.size == 0; i++) {
            const struct hub_view name = v->files->entries[i].path;
            const char *at = memmem(name.data, name.size, end, strlen(end));
            if (at && hub_view_ends(name, ".mp4"))
                c->elsewhere = (struct hub_view){name.data, (size_t)(at - name.data)};
        }
        c->searched = true;
    }
    if (c->elsewhere.size == 0)
        return HUB_NONE;
    snprintf(path, sizeof path, "%.*s/%.300s/chunk-%03lld/file-%03lld.mp4",
             (int)HUB_MIN(c->elsewhere.size, 400), c->elsewhere.data, c->key, (long long)values->chunk,
             (long long)values->file);
    return hub_files_find(v->files, path);
}

static uint32_t find_file(const struct lerobot_videos *v, struct lerobot_camera *c,
                          const struct lerobot_path_values *values)
{
    const char *template = hub_lerobot_text(v->info->json, "video_path");
    uint32_t file = hub_lerobot_find(v->files, template, LEROBOT_VIDEO_TEMPLATE, values);
    if (file == HUB_NONE) {
        file = find_elsewhere(v, c, values);
        c->moved += file != HUB_NONE;
    }
    return file;
}

/* Its rate is not that of the rows. It still has a frame for each where it has as many as all episodes that
 * are placed in it have rows; times behind its end are not its own, but those of the rows. */
static void judge(const struct lerobot_videos *v, struct lerobot_camera *c,
                  const struct lerobot_path_values *values, const struct hub_mp4 *mp4)
{
    double end = 0, rows = 0;
    for (uint32_t i = 0; i < v->said->count; i++) {
        const json_t *line = v->said->items[i].line;
        if (stated(line, c->key, "chunk_index") != (double)values->chunk ||
            stated(line, c->key, "file_index") != (double)values->file)
            continue;
        end = fmax(end, stated(line, c->key, "to_timestamp"));
        rows += json_number_value(json_object_get(line, "length"));
    }
    const double spare = mp4->seconds / 100 + 0.1;
    c->by_row = rows == (double)mp4->samples || end > mp4->seconds + spare;
    c->timed = !c->by_row || fabs(end - mp4->seconds) <= spare;
}

/* By the file's own times, whatever frame rate it is said to have. */
static enum hub_status find_frames(struct lerobot_videos *v, struct lerobot_camera *c,
                                   const struct lerobot_path_values *values, struct hub_media *m,
                                   struct hub_error *err)
{
    const struct hub_mp4 *mp4;
    const double fps = hub_lerobot_fps(v->info, NULL);
    m->first_frame = (uint64_t)llround(m->from * fps);
    HUB_TRY(hub_videos_look(&v->read, m->file, &mp4, err));
    if (!mp4 || !mp4->fps_den)
        return HUB_OK;
    const double rate = (double)mp4->fps_num / mp4->fps_den;
    const bool same = fps <= 0 || fabs(rate / fps - 1) < 0.02;
    if (!same && c->judged != m->file + 1) {
        c->judged = m->file + 1;
        judge(v, c, values, mp4);
    }
    if (same || c->timed)
        m->first_frame = hub_mp4_frame_at(mp4, m->from);
    if (!same && !c->by_row)
        m->frames = HUB_MAX(hub_mp4_frame_at(mp4, m->from + (double)m->frames / fps), m->first_frame + 1) -
                    m->first_frame;
    return HUB_OK;
}

static enum hub_status send_ordered(struct lerobot_videos *v, struct lerobot_camera *c, const json_t *line,
                                    const struct lerobot_cut *cut, struct hub_error *err)
{
    const double chunk = stated(line, c->key, "chunk_index"), number = stated(line, c->key, "file_index"),
                 from = stated(line, c->key, "from_timestamp"), to = stated(line, c->key, "to_timestamp");
    if (!(chunk >= 0 && number >= 0 && from >= 0 && chunk < 1e9 && number < 1e9 && from < 1e9)) {
        hub_tally_add(&c->unplaced, "episode %lld", (long long)cut->number);
        return hub_videos_missing(&v->read, cut->episode, hub_view_of(c->key), err);
    }
    const struct lerobot_path_values values = {(int64_t)chunk, (int64_t)number, cut->number, c->key};
    const uint32_t file = find_file(v, c, &values);
    if (file == HUB_NONE)
        return hub_videos_missing(&v->read, cut->episode, hub_view_of(c->key), err);
    struct hub_media media = media_of(v, hub_view_of(c->key), file, cut->episode);
    const double fps = hub_lerobot_fps(v->info, NULL);
    media.frames = cut->count;
    media.from = from;
    media.to = isfinite(to) ? to : 0;
    HUB_TRY(find_frames(v, c, &values, &media, err));
    if (fps > 0 && fabs((to - from) * fps - (double)cut->count) > 0.5)
        hub_tally_add(&c->spans, "%.6g to %.6g s holds %.6g frames, episode %lld has %llu rows", from, to,
                      (to - from) * fps, (long long)cut->number, (unsigned long long)cut->count);
    return send(v, &media, cut->count, err);
}

/* Where files are named after cameras: report the cameras without a file of this episode. It has `count`. */
static enum hub_status send_missing(struct lerobot_videos *v, const struct lerobot_video *named,
                                    uint32_t count, uint32_t episode, struct hub_error *err)
{
    for (uint32_t i = 0; i < v->camera_count; i++) {
        uint32_t k = 0;
        while (k < count && !hub_view_is(named[k].camera, v->cameras[i].key))
            k++;
        if (k == count)
            HUB_TRY(hub_videos_missing(&v->read, episode, hub_view_of(v->cameras[i].key), err));
    }
    return HUB_OK;
}

enum hub_status hub_lerobot_videos_send(struct lerobot_videos *v, const json_t *line,
                                        const struct lerobot_cut *cut, struct hub_error *err)
{
    uint32_t at = hub_lower_bound(&cut->number, v->named, v->named_count, sizeof *v->named, hub_by_i64);
    const uint32_t first = at;
    v->episodes++;
    for (; at < v->named_count && v->named[at].of.episode == cut->number; at++) {
        const struct lerobot_video *video = &v->named[at];
        struct hub_media media = media_of(v, video->camera, video->of.file, cut->episode);
        HUB_TRY(send(v, &media, cut->count, err));
    }
    if (v->named_count)
        return send_missing(v, v->named + first, at - first, cut->episode, err);
    for (uint32_t i = 0; i < v->camera_count; i++)
        HUB_TRY(send_ordered(v, &v->cameras[i], line, cut, err));
    return HUB_OK;
}

enum hub_status hub_lerobot_videos_finish(struct lerobot_videos *v, struct hub_error *err)
{
    for (uint32_t i = 0; i < v->camera_count; i++) {
        const struct lerobot_camera *c = &v->cameras[i];
        const struct hub_view key = hub_view_of(c->key);
        if (c->found < v->episodes)
            HUB_TRY(hub_sink_problem(v->sink, "missing-video", key, err, "%u of %u episodes have a video",
                                     c->found, v->episodes));
        if (c->unplaced.count && c->unplaced.count < v->episodes)
            HUB_TRY(
                hub_sink_problem(v->sink, "video-not-placed", key, err,
                                 "the rows of %u episodes do not say in which file it lies; the first: %s",
                                 c->unplaced.count, c->unplaced.first));
        if (c->moved)
            HUB_TRY(hub_sink_problem(v->sink, "other-path", key, err,
                                     "its videos lie below %.*s/, not where video_path says",
                                     (int)HUB_MIN(c->elsewhere.size, 200), c->elsewhere.data));
        if (c->spans.count)
            HUB_TRY(hub_sink_problem(v->sink, "video-span", key, err,
                                     "in %u episodes the times do not span the rows; the first: %s",
                                     c->spans.count, c->spans.first));
        if (c->rates.count)
            HUB_TRY(hub_sink_problem(v->sink, "fps-mismatch", key, err, "in %u episodes; the first: %s",
                                     c->rates.count, c->rates.first));
        if (c->codecs.count)
            HUB_TRY(hub_sink_problem(v->sink, "codec-mismatch", key, err, "in %u episodes; the first: %s",
                                     c->codecs.count, c->codecs.first));
    }
    return HUB_OK;
}
