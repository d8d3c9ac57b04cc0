/* What the cameras saw of an episode: the list, and one as an mp4. A file that holds this episode alone is
 * sent as it is; of one that holds several, or where steps are chosen, the frames are cut out: boxes made
 * here, and behind them one run of the file's bytes. Nothing is decoded. */
#include "server/api/files/file_bytes.h"
#include "server/api/files/stills.h"
#include "server/api/handlers.h"
#include "server/api/put.h"
#include "server/api/reply.h"
#include "storage/encode/mp4.h"
#include "storage/ids/spell.h"
#include "storage/read/read.h"
#include "storage/rows/named.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_CAMERAS = 1024 };
/* Part of every cut's ETag: changes when the same frames come out as other bytes. */
#define CUT_VERSION "1"

/* ---- the cameras of an episode ---- */

struct camera_files {
    struct hub_found_media *items; /* their texts are owned */
    uint32_t count, capacity;
};

static void cameras_dispose(struct camera_files *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free((char *)c->items[i].camera);
        free((char *)c->items[i].codec);
        free((char *)c->items[i].problem);
    }
    free(c->items);
}

static enum hub_status dup_some(const char **text, struct hub_error *err)
{
    char *copy = NULL;
    if (*text)
        HUB_TRY(hub_dup(&copy, *text, err));
    *text = copy;
    return HUB_OK;
}

static enum hub_status add_camera(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct camera_files *c = user;
    struct hub_found_media *m;
    if (c->count == MAX_CAMERAS)
        return HUB_OK;
    HUB_TRY(hub_grow(&c->items, c->count, &c->capacity, sizeof *c->items, err));
    m = &c->items[c->count++];
    *m = *media;
    m->codec = m->problem = NULL;
    HUB_TRY(dup_some(&m->camera, err));
    m->codec = media->codec;
    HUB_TRY(dup_some(&m->codec, err));
    m->problem = media->problem;
    return dup_some(&m->problem, err);
}

static uint32_t count_called(const struct camera_files *c, const char *name)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->count; i++)
        count += hub_camera_is_called(c->items[i].camera, name);
    return count;
}

/* The shortest last part of its name that is no other's; else all of it. */
static const char *label_of(const struct camera_files *c, const char *camera)
{
    for (const char *at = camera + strlen(camera); at > camera; at--)
        if (strchr("./", at[-1]) && *at && count_called(c, at) == 1)
            return at;
    return camera;
}

/* By its whole name, else by a last part that no other has. */
static enum hub_status find_camera(const struct camera_files *c, const char *name, int64_t episode,
                                   const struct hub_found_media **out, struct hub_error *err)
{
    char names[300] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (strcmp(c->items[i].camera, name) == 0 ||
            (hub_camera_is_called(c->items[i].camera, name) && count_called(c, name) == 1)) {
            *out = &c->items[i];
            return HUB_OK;
        }
    for (uint32_t i = 0; i < c->count && n + 80 < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.70s", i ? ", " : "", c->items[i].camera);
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_CAMERA_NOT_FOUND, "camera", name,
                          "episode %" PRId64 " has no camera '%.80s'; it has %s", episode, name,
                          c->count ? names : "none");
}

/* ---- the list ---- */

/* Of its mp4, in the state that was asked for. */
static enum hub_status put_url(const struct hub_request *request, struct hub_json *json, const char *label,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    const struct hub_view revision = hub_request_query(request, "revision");
    HUB_TRY(hub_buf_addf(&url, err, "%s%s/", hub_base_url(request), request->target));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(label), &url, err));
    HUB_TRY(hub_buf_add_text(&url, ".mp4", err));
    if (revision.data)
        HUB_TRY(hub_buf_addf(&url, err, "?revision=%s", revision.data));
    hub_json_put_text(json, "url", url.data);
    return HUB_OK;
}

static enum hub_status write_list(const struct hub_request *request, struct hub_json *json,
                                  const struct hub_state *state, const struct hub_dataset_episode *episode,
                                  const struct camera_files *c, struct hub_error *err)
{
    hub_json_object(json);
    hub_json_put_array(json, "items");
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_found_media *m = &c->items[i];
        hub_json_object(json);
        hub_json_put_text(json, "camera", m->camera);
        hub_json_put_text(json, "label", label_of(c, m->camera));
        if (m->file != HUB_NONE) {
            HUB_TRY(put_url(request, json, label_of(c, m->camera), err));
            hub_put_path(json, "file", state->dataset->files[m->file].path);
        }
        hub_media_put(json, m);
        HUB_TRY(hub_stills_put(json, state, episode, m, err));
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    hub_json_end_object(json);
    return hub_json_status(json);
}

enum hub_status hub_media_list(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(cameras_dispose) struct camera_files cameras = {0};
    const struct hub_dataset_episode *episode;
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &target, err));
    HUB_TRY(hub_find_episode(request, target.state.dataset, &episode, err));
    HUB_TRY(hub_episode_media(&target.state, episode, add_camera, &cameras, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    HUB_TRY(write_list(request, &json, &target.state, episode, &cameras, err));
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    return hub_reply_document(request, response, err);
}

/* ---- one as an mp4 ---- */

/* What is asked of one camera. */
struct camera_request {
    struct hub_target target;
    struct camera_files cameras;
    const struct hub_dataset_episode *episode;
    const struct hub_found_media *media;
    const struct hub_dataset_file *file;
    int64_t start, stop, poster;
    bool has_start, has_stop, has_poster;
    struct hub_video_ref *video;
};

static void wanted_dispose(struct camera_request *w)
{
    hub_video_put(w->video);
    cameras_dispose(&w->cameras);
    hub_target_dispose(&w->target);
}

static enum hub_status find_wanted(struct hub_request *request, struct camera_request *w,
                                   struct hub_error *err)
{
    char name[512];
    const struct hub_view requested = hub_request_capture(request, "camera");
    const bool mp4 = hub_view_ends(requested, ".mp4");
    HUB_TRY(hub_find_episode(request, w->target.state.dataset, &w->episode, err));
    HUB_TRY(hub_episode_media(&w->target.state, w->episode, add_camera, &w->cameras, err));
    snprintf(name, sizeof name, "%.*s", (int)requested.size - (mp4 ? 4 : 0), requested.data);
    HUB_TRY(find_camera(&w->cameras, name, w->episode->number, &w->media, err));
    if (!mp4)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_CAMERA_NOT_FOUND, "camera", name,
                              "videos are mp4 files: use ~media/%.80s.mp4", name);
    if (w->media->file == HUB_NONE)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "the video of '%.80s' is missing",
                           name);
    w->file = &w->target.state.dataset->files[w->media->file];
    return HUB_OK;
}

/* Where the whole file can be had: beside the episodes. */
static enum hub_status file_member(const struct hub_request *request, const struct hub_dataset_file *file,
                                   char **out)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf spelled = HUB_BUF_INIT(64 * KIB), url = HUB_BUF_INIT(MIB), member = HUB_BUF_INIT(2 * MIB);
    const char *episodes = strstr(request->target, "/episodes/");
    size_t size;
    HUB_TRY(hub_spell_path(hub_view_of(file->path), &spelled, NULL));
    HUB_TRY(hub_buf_addf(&url, NULL, "%s%.*s/files/", hub_base_url(request),
                         episodes ? (int)(episodes - request->target) : 0, request->target));
    HUB_TRY(hub_uri_encode_path(hub_buf_view(&spelled), &url, NULL));
    HUB_TRY(hub_buf_add_text(&member, "\"file\":", NULL));
    HUB_TRY(hub_json_add_string(&member, hub_buf_view(&url), NULL));
    *out = hub_buf_take(&member, &size);
    return HUB_OK;
}

static enum hub_status cannot_cut(struct hub_request *request, const struct camera_request *w,
                                  const char *why, struct hub_response *response, struct hub_error *err)
{
    (void)!file_member(request, w->file, &response->problem_extra); /* worth giving without it */
    return hub_fail_as(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE,
                       "the frames of '%.80s' in episode %" PRId64 " cannot be cut out of %.200s: %s",
                       w->media->camera, w->episode->number, w->file->path, why);
}

/* Steps are asked for: the frames from the one that is shown at the first to the last before the end. */
static void steps_to_frames(struct hub_slice *slice, double rate, uint64_t frames)
{
    const double near = 1e-6, from = floor((double)slice->start * rate + near),
                 to = ceil((double)(slice->start + slice->count) * rate - near);
    const uint64_t first = from < (double)frames ? (uint64_t)from : frames,
                   last = to < (double)frames ? (uint64_t)to : frames;
    slice->start = first;
    slice->count = slice->count ? last - first : 0;
}

/* The frames of the file that stand for the steps that are asked for. */
static enum hub_status choose_steps(const struct camera_request *w, uint64_t shown, struct hub_slice *out,
                                    struct hub_error *err)
{
    const uint64_t first = HUB_MIN(w->media->first_frame, shown),
                   frames = HUB_MIN(w->media->frames ? w->media->frames : shown, shown - first);
    double rate;
    HUB_TRY(hub_frames_in_step(&w->target.state, w->episode, w->media, frames, &rate, err));
    HUB_TRY(hub_slice_resolve(w->has_start ? &w->start : NULL, w->has_stop ? &w->stop : NULL, NULL,
                              rate == 1 ? frames : w->episode->steps, out, err));
    if (rate != 1)
        steps_to_frames(out, rate, frames);
    if (!out->count)
        return hub_fail_as(err, HUB_OUT_OF_RANGE, HUB_PROBLEM_RANGE_NOT_SATISFIABLE,
                           "'%.80s' has %" PRIu64 " frames in episode %" PRId64 ", and none of these",
                           w->media->camera, frames, w->episode->number);
    out->start += first;
    return HUB_OK;
}

static enum hub_status choose(const struct camera_request *w, const struct hub_video *video,
                              struct hub_slice *out, struct hub_error *err)
{
    struct hub_still still;
    if (!w->has_poster)
        return choose_steps(w, video->head->shown, out, err);
    HUB_TRY(hub_still_at(&w->target.state, w->episode, w->media, video, (uint64_t)w->poster, &still, err));
    *out = (struct hub_slice){.start = still.frame, .count = 1};
    return HUB_OK;
}

static enum hub_status send_cut(struct hub_request *request, struct camera_request *w,
                                struct hub_response *response, struct hub_error *err)
{
    char version[64], name[128];
    struct hub_slice frames;
    struct hub_mp4_cut cut;
    struct hub_error why = {0};
    enum hub_status st = hub_video_get(&w->target.state, w->episode->part, w->media->file, &w->video, err);
    if (st)
        return st != HUB_NOT_FOUND
                   ? st
                   : cannot_cut(request, w,
                                w->media->problem ? w->media->problem : "their position is unknown", response,
                                err);
    const struct hub_video *video = hub_video_of(w->video);
    HUB_TRY(choose(w, video, &frames, err));
    struct hub_buf *head = hub_response_buffer(response, 200, "video/mp4", hub_mp4_head_bytes(video));
    st = hub_mp4_cut(video, frames.start, frames.count, head, &cut, &why);
    if (st == HUB_NOT_ACCEPTABLE)
        return cannot_cut(request, w, why.detail, response, err);
    if (st) {
        if (err)
            *err = why;
        return st;
    }
    snprintf(version, sizeof version, CUT_VERSION " %" PRIu64 "+%" PRIu64, frames.start, frames.count);
    snprintf(name, sizeof name, "%.100s-%" PRId64 ".mp4", label_of(&w->cameras, w->media->camera),
             w->episode->number);
    const struct hub_file_part part = {
        .entry = w->file, .version = version, .name = name, .offset = cut.offset, .length = cut.length};
    return hub_file_send(request, &w->target, &part, response, err);
}

enum hub_status hub_media_data(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(wanted_dispose) struct camera_request w = {0};
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &w.target, err));
    w.has_start = hub_request_int(request, "start", &w.start);
    w.has_stop = hub_request_int(request, "stop", &w.stop);
    w.has_poster = hub_request_int(request, "poster", &w.poster);
    HUB_TRY(find_wanted(request, &w, err));
    const struct hub_found_media *m = w.media;
    const bool alone = !m->first_frame && (!m->frames || m->frames == m->samples);
    if (!alone || w.has_start || w.has_stop || w.has_poster)
        return send_cut(request, &w, response, err);
    const struct hub_file_part part = {.entry = w.file};
    return hub_file_send(request, &w.target, &part, response, err);
}
