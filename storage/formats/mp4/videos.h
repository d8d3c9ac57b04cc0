/** The videos of a part, each read once: what its file says goes into media, and how it can be cut to the
 * hub. */
#ifndef HUB_FORMATS_MP4_VIDEOS_H
#define HUB_FORMATS_MP4_VIDEOS_H

#include "storage/formats/mp4/mp4.h"

/** Zero but for `files` and `sink` to begin. */
struct hub_videos {
    struct hub_files *files;
    struct hub_sink *sink;
    bool reported;                /* files whose outermost boxes are not whole were reported before */
    struct hub_video_file *items; /* in the order they were first asked for */
    uint32_t count, capacity;
};

/** What a file is, or NULL where it cannot be read; valid until the next file is asked for. */
HUB_MUST_USE enum hub_status hub_videos_look(struct hub_videos *videos, uint32_t file,
                                             const struct hub_mp4 **out, struct hub_error *err);
/**
 * Complete a medium from its file, and send it. Where it names no frames the file is the episode's alone:
 * all of it. Files that are no mp4, or damaged, and frames that are not there are problems of the dataset,
 * and the medium's own; a file that holds the episode alone and has another number of frames than `rows` is
 * a problem too ("video-length"). The part must name the file. Fails only as the sink and the machine do.
 */
HUB_MUST_USE enum hub_status hub_videos_send(struct hub_videos *videos, struct hub_media *media,
                                             uint64_t rows, struct hub_error *err);
/** The camera has no video of this episode. */
HUB_MUST_USE enum hub_status hub_videos_missing(struct hub_videos *videos, uint32_t episode,
                                                struct hub_view camera, struct hub_error *err);
void hub_videos_dispose(struct hub_videos *videos);

#endif
