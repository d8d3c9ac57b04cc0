/* Frames that stand for a video: see stills.h. */
#include "server/api/files/stills.h"

#include "storage/encode/mp4.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_BYTES = 40 * 1024 /* that a frame between key frames may take */ };

enum hub_status hub_frames_in_step(const struct hub_state *state, const struct hub_dataset_episode *episode,
                                   const struct hub_found_media *media, uint64_t frames, double *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64);
    *out = 1;
    if (frames == episode->steps || !media->fps_num || !media->fps_den)
        return HUB_OK;
    HUB_TRY(hub_dataset_fact(state, "fps", &text, err));
    const double rows = text.size ? strtod(text.data, NULL) : 0;
    const double rate = rows > 0 ? (double)media->fps_num / media->fps_den / rows : 1;
    if (fabs(rate - 1) > 0.01) /* else a few are missing, or too many */
        *out = rate;
    return HUB_OK;
}

enum hub_status hub_still_at(const struct hub_state *state, const struct hub_dataset_episode *episode,
                             const struct hub_found_media *media, const struct hub_video *video,
                             uint64_t step, struct hub_still *out, struct hub_error *err)
{
    const uint64_t shown = video->head->shown, first = HUB_MIN(media->first_frame, shown),
                   frames = HUB_MIN(media->frames ? media->frames : shown, shown - first);
    double rate;
    if (!frames)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "it has no frames");
    HUB_TRY(hub_frames_in_step(state, episode, media, frames, &rate, err));
    const double wanted = (double)step * rate;
    out->frame = first + (wanted < (double)frames ? (uint64_t)wanted : frames - 1);
    HUB_TRY(hub_mp4_still(video, first, FEW_BYTES, &out->frame, &out->bytes, err));
    out->step = (uint64_t)ceil((double)(out->frame - first) / rate - 1e-6);
    return HUB_OK;
}

enum hub_status hub_stills_put(struct hub_json *json, const struct hub_state *state,
                               const struct hub_dataset_episode *episode, const struct hub_found_media *media,
                               struct hub_error *err)
{
    const uint64_t last = episode->steps ? episode->steps - 1 : 0, steps[] = {0, last / 2, last};
    struct hub_video_ref *ref = NULL;
    struct hub_still still, before = {.frame = UINT64_MAX};
    if (media->file == HUB_NONE)
        return HUB_OK;
    enum hub_status st = hub_video_get(state, episode->part, media->file, &ref, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    for (size_t i = 0; i < HUB_COUNT(steps) && !st; i++) {
        st = hub_still_at(state, episode, media, hub_video_of(ref), steps[i], &still, err);
        if (st || still.frame == before.frame)
            continue;
        if (before.frame == UINT64_MAX)
            hub_json_put_array(json, "posters");
        hub_json_object(json);
        hub_json_put_uint(json, "step", still.step);
        hub_json_put_uint(json, "bytes", still.bytes);
        hub_json_end_object(json);
        before = still;
    }
    hub_video_put(ref);
    if (before.frame != UINT64_MAX)
        hub_json_end_array(json);
    return st == HUB_NOT_ACCEPTABLE ? HUB_OK : st;
}
