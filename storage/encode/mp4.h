/** A run of frames of a video as an mp4 of its own: new boxes in front of bytes that stay where they are. */
#ifndef HUB_ENCODE_MP4_H
#define HUB_ENCODE_MP4_H

#include "storage/model/video.h"

/** The bytes of the file that follow the boxes. */
struct hub_mp4_cut {
    uint64_t offset, length;
};

/** Most bytes of the boxes in front of a cut of so many frames at most. */
size_t hub_mp4_head_bytes(const struct hub_video *video);

/**
 * Write ftyp, moov and the head of mdat to `head`, so that `cut` behind it makes a whole mp4. It begins with
 * a key frame, and an edit list hides what is not wanted; nothing is decoded.
 *
 * @param first  of the frames that the file shows, in that order; first + count is within them, count > 0
 * @param[out] wasted  so many frames are in it besides the wanted ones
 * @return HUB_NOT_ACCEPTABLE: no cut can be made there, err says why; HUB_TOO_BIG
 */
HUB_MUST_USE enum hub_status hub_mp4_cut(const struct hub_video *video, uint64_t first, uint64_t count,
                                         struct hub_buf *head, struct hub_mp4_cut *cut,
                                         struct hub_error *err);
/**
 * The frame that stands for another one by itself: this one, where it and those it needs are few bytes, else
 * the key frame before it.
 *
 * @param least  no frame before this one is meant
 * @param[in,out] turn  of the frames that the file shows, in that order
 * @param[out] bytes  of a cut of it, about
 * @return as hub_mp4_cut
 */
HUB_MUST_USE enum hub_status hub_mp4_still(const struct hub_video *video, uint64_t least, uint64_t few,
                                           uint64_t *turn, uint64_t *bytes, struct hub_error *err);

#endif
