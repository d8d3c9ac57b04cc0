/**
 * Where the frames of one video file lie and when each is shown: a flat little-endian blob that the inspector
 * makes, the hub proves, the index keeps, and that is used in place. Frames are numbered as they lie in the
 * track, which is the order they are decoded in; they may be shown in another one.
 *
 *   head | runs | times | shifts | sizes | keys | description
 *
 * Times are in units of 1/timescale s. A frame is shown at its decoding time plus its shift.
 */
#ifndef HUB_MODEL_VIDEO_H
#define HUB_MODEL_VIDEO_H

#include "storage/base/buf.h"

#define HUB_VIDEO_MAGIC 0x3144564du /* "MVD1" */
enum {
    HUB_MAX_VIDEO_FRAMES = 1024 * 1024,
    HUB_MAX_VIDEO_BYTES = 7 * 1024 * 1024, /* of one table */
    HUB_MAX_VIDEO_DESCRIPTION = 64 * 1024,
};
#define HUB_MAX_PART_VIDEO_BYTES (256 * MIB)

struct hub_video_head {
    uint32_t magic, timescale, frames;
    uint32_t run_count, time_count, shift_count, key_count; /* no keys: every frame is one */
    uint32_t description_size;                              /* of the whole stsd box */
    uint32_t first, shown;  /* in the order they are shown: the first, and how many, that the file shows */
    uint32_t reorder;       /* no frame is shown more than so many places before or behind its own */
    uint32_t width, height; /* as shown, 16.16 */
    uint32_t matrix[9];     /* of the picture on its way to the screen */
    uint32_t zero[2];
};

/** From `first` to the next run frames adjoin each other. */
struct hub_video_run {
    uint64_t offset;
    uint32_t first, description; /* number of its sample description, from 1 */
};
/** From `first` to the next one each frame takes `delta`; `start`: when the first is decoded. */
struct hub_video_time {
    uint64_t start;
    uint32_t first, delta;
};
/** None: every frame is shown when it is decoded. */
struct hub_video_shift {
    uint32_t first;
    int32_t shift;
};

struct hub_video {
    const struct hub_video_head *head;
    const struct hub_video_run *runs;
    const struct hub_video_time *times;
    const struct hub_video_shift *shifts;
    const uint32_t *sizes, *keys; /* keys: ascending */
    const char *description;
};

/** `data` is aligned to 8 bytes and outlives `out`. HUB_CORRUPT: not a whole table. */
HUB_MUST_USE enum hub_status hub_video_open(const void *data, size_t size, struct hub_video *out,
                                            struct hub_error *err);
/** Can it be true of a file of this size? Whatever passes is harmless to use. HUB_CORRUPT. */
HUB_MUST_USE enum hub_status hub_video_check(const struct hub_video *video, uint64_t file_size,
                                             struct hub_error *err);

#endif
