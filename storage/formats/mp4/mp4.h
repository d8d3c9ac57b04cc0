/**
 * MP4 files (ISO/IEC 14496-12; codecs: 14496-15, AV1-ISOBMFF, VP-ISOBMFF, 14496-14): what the first video
 * track is, and where its frames lie. The index (moov) may stand anywhere; fragments (moof) are followed.
 * No frame is decoded. A file costs its box headers (one read of 4 KiB each), its index and those of its
 * fragments. Nothing is allocated by a count: only for what lies in the file, up to the limits of
 * model/video.h.
 */
#ifndef HUB_FORMATS_MP4_H
#define HUB_FORMATS_MP4_H

#include "storage/formats/source.h"
#include "storage/model/video.h"

struct hub_mp4 {
    char codecs[64];           /* RFC 6381: "avc1.64000b", "av01.0.04M.08" */
    uint32_t width, height;    /* of its pictures */
    uint32_t fps_num, fps_den; /* 0: unknown */
    uint64_t samples;          /* frames that are shown */
    uint32_t keys;             /* of all frames */
    uint32_t tracks;           /* of video */
    bool still;                /* a frame has the same time as the one before it */
    double seconds;
    uint32_t timescale;   /* units of a second */
    struct hub_buf times; /* int64_t: when each frame is shown, after the first; empty: by the frame rate */
    bool whole;           /* its outermost boxes are; set whatever is returned */
    char problem[160];    /* why frames cannot be cut out of it; "": they can, by `table` */
    struct hub_buf table; /* model/video.h */
};

/**
 * Zero it first, and dispose of it whatever is returned.
 * @return HUB_CORRUPT with the problem "bad-video" (no mp4, damaged) or "cut-video" (its end is missing);
 *         HUB_TOO_BIG: its index is over 64 MiB; what hub_byte_source_read says
 */
HUB_MUST_USE enum hub_status hub_mp4_read(struct hub_byte_source *source, struct hub_mp4 *out,
                                          struct hub_error *err);
/** Are its outermost boxes all there? HUB_CORRUPT as above; a read of 4 KiB for each. */
HUB_MUST_USE enum hub_status hub_mp4_check(struct hub_byte_source *source, struct hub_error *err);
/** The frame that is shown nearest to this time after the first; behind the last by the frame rate. */
uint64_t hub_mp4_frame_at(const struct hub_mp4 *mp4, double seconds);
void hub_mp4_dispose(struct hub_mp4 *mp4);

#endif
