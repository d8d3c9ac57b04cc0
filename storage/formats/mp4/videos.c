/* Media completed from their files. See videos.h. */
#include "storage/formats/mp4/videos.h"

#include "storage/formats/kit/kit.h"

#include <stdio.h>
#include <stdlib.h>

struct hub_video_file {
    uint32_t number;
    bool readable;
    struct hub_mp4 mp4; /* without its table, which is sent */
};

static enum hub_status read_file(struct hub_videos *v, struct hub_video_file *file, struct hub_error *err)
{
    struct hub_byte_source source;
    struct hub_error why = {0};
    struct hub_mp4 *mp4 = &file->mp4;
    hub_byte_source_file(&source, v->files, file->number);
    enum hub_status st = hub_byte_source_usable(&source, &why);
    if (!st)
        st = hub_mp4_read(&source, mp4, &why);
    file->readable = !st;
    if (!st && mp4->table.size)
        st = hub_sink_video(v->sink, file->number, hub_buf_view(&mp4->table), err);
    hub_buf_dispose(&mp4->table);
    if (!st && mp4->still)
        st = hub_sink_problem(v->sink, "video-times", v->files->entries[file->number].path, err,
                              "the times of its frames do not increase");
    if (file->readable)
        return st;
    if (!hub_is_local(st))
        return hub_pass(st, &why, err);
    snprintf(mp4->problem, sizeof mp4->problem, "%.150s", why.detail);
    if (v->reported && !mp4->whole)
        return HUB_OK;
    return hub_sink_problem(v->sink, hub_problem_name_or(why.problem, "bad-video"),
                            v->files->entries[file->number].path, err, "%s", why.detail);
}

/* From the end: neighbours share files. */
static enum hub_status find(struct hub_videos *v, uint32_t number, struct hub_video_file **out,
                            struct hub_error *err)
{
    for (uint32_t i = v->count; i-- > 0;)
        if (v->items[i].number == number) {
            *out = &v->items[i];
            return HUB_OK;
        }
    HUB_TRY(hub_grow(&v->items, v->count, &v->capacity, sizeof *v->items, err));
    *out = &v->items[v->count++];
    **out = (struct hub_video_file){.number = number};
    return read_file(v, *out, err);
}

enum hub_status hub_videos_look(struct hub_videos *videos, uint32_t file, const struct hub_mp4 **out,
                                struct hub_error *err)
{
    struct hub_video_file *found;
    HUB_TRY(find(videos, file, &found, err));
    *out = found->readable ? &found->mp4 : NULL;
    return HUB_OK;
}

/* Texts of "wrist" in "observation.images.wrist". */
static struct hub_view label_of(struct hub_view camera)
{
    return hub_view_behind(hub_view_behind(camera, '/'), '.');
}

/* The file is the episode's alone. */
static enum hub_status take_all(struct hub_videos *v, const struct hub_mp4 *mp4, struct hub_media *m,
                                uint64_t rows, struct hub_error *err)
{
    const struct hub_view label = label_of(m->camera);
    m->frames = mp4->samples;
    m->to = mp4->seconds;
    if (mp4->samples == rows)
        return HUB_OK;
    return hub_sink_problem(v->sink, "video-length", v->files->entries[m->file].path, err,
                            "%.*s has %llu frames for %llu steps", (int)label.size, label.data,
                            (unsigned long long)mp4->samples, (unsigned long long)rows);
}

static enum hub_status check_frames(struct hub_videos *v, const struct hub_mp4 *mp4, struct hub_media *m,
                                    char why[160], struct hub_error *err)
{
    if (m->first_frame <= mp4->samples && m->frames <= mp4->samples - m->first_frame)
        return HUB_OK;
    snprintf(why, 160, "this episode needs frames %llu to %llu; the video has %llu",
             (unsigned long long)m->first_frame, (unsigned long long)(m->first_frame + m->frames - 1),
             (unsigned long long)mp4->samples);
    m->problem = hub_view_of(why);
    return hub_sink_problem(v->sink, "video-length", v->files->entries[m->file].path, err, "%.*s: %s",
                            (int)m->camera.size, m->camera.data, why);
}

enum hub_status hub_videos_send(struct hub_videos *videos, struct hub_media *media, uint64_t rows,
                                struct hub_error *err)
{
    struct hub_video_file *file;
    char why[160];
    HUB_TRY(find(videos, media->file, &file, err));
    const struct hub_mp4 *mp4 = &file->mp4;
    media->problem = hub_view_of(mp4->problem);
    if (file->readable) {
        media->codec = hub_view_of(mp4->codecs);
        media->width = mp4->width;
        media->height = mp4->height;
        media->fps_num = mp4->fps_num ? mp4->fps_num : media->fps_num;
        media->fps_den = mp4->fps_num ? mp4->fps_den : media->fps_den;
        media->samples = mp4->samples;
        HUB_TRY(media->frames ? check_frames(videos, mp4, media, why, err)
                              : take_all(videos, mp4, media, rows, err));
    }
    return hub_sink_media(videos->sink, media, err);
}

enum hub_status hub_videos_missing(struct hub_videos *videos, uint32_t episode, struct hub_view camera,
                                   struct hub_error *err)
{
    const struct hub_media media = {
        .episode = episode, .camera = camera, .file = HUB_NONE, .problem = HUB_VIEW("its video is missing")};
    return hub_sink_media(videos->sink, &media, err);
}

void hub_videos_dispose(struct hub_videos *videos)
{
    for (uint32_t i = 0; i < videos->count; i++)
        hub_mp4_dispose(&videos->items[i].mp4);
    free(videos->items);
}
