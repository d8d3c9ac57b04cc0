/** Frames that stand for a video: posters. A frame is sent with those it needs, where they are few bytes;
 * else the key frame before it. Nothing is decoded. */
#ifndef HUB_API_FILES_STILLS_H
#define HUB_API_FILES_STILLS_H

#include "storage/catalog/dataset.h"
#include "storage/model/video.h"

struct hub_still {
    uint64_t frame; /* of those the file shows, in that order */
    uint64_t step;  /* of the episode, at which it is shown */
    uint64_t bytes; /* of the mp4 that holds it, about */
};

/** Frames of a camera in a step: 1 but where it ran at another rate than the rows, and has not one for each.
 */
HUB_MUST_USE enum hub_status hub_frames_in_step(const struct hub_state *state,
                                                const struct hub_dataset_episode *episode,
                                                const struct hub_found_media *media, uint64_t frames,
                                                double *out, struct hub_error *err);
/** The frame that stands for a step of an episode. HUB_NOT_ACCEPTABLE: none can be cut out. */
HUB_MUST_USE enum hub_status hub_still_at(const struct hub_state *state,
                                          const struct hub_dataset_episode *episode,
                                          const struct hub_found_media *media, const struct hub_video *video,
                                          uint64_t step, struct hub_still *out, struct hub_error *err);
/** "posters": of the first step, the middle and the last, those that differ; nothing where there are none. */
HUB_MUST_USE enum hub_status hub_stills_put(struct hub_json *json, const struct hub_state *state,
                                            const struct hub_dataset_episode *episode,
                                            const struct hub_found_media *media, struct hub_error *err);

#endif
