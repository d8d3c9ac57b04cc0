/** The inside of the mp4 reader: boxes in memory, and what is gathered of a track. */
#ifndef HUB_FORMATS_MP4_BOXES_H
#define HUB_FORMATS_MP4_BOXES_H

#include "storage/base/cursor.h"
#include "storage/formats/mp4/mp4.h"

#define MP4_TYPE(text)                                                                                       \
    ((uint32_t)(text)[0] << 24 | (uint32_t)(text)[1] << 16 | (uint32_t)(text)[2] << 8 | (uint32_t)(text)[3])

struct mp4_box {
    uint32_t type;
    const uint8_t *start;   /* of its header */
    struct hub_cursor body; /* empty when there is no such box */
};

/** The next box of a container. False at its end; `c->failed` when what follows is no box. */
bool mp4_next(struct hub_cursor *c, struct mp4_box *out);
/** The first child of this type; an empty one when there is none. */
struct mp4_box mp4_child(struct hub_cursor container, const char *type);
static inline bool mp4_has(const struct mp4_box *box)
{
    return box->start != NULL;
}
/** Of a full box: its version, with the flags below. */
static inline uint32_t mp4_version(struct hub_cursor *body)
{
    return hub_cursor_be32(body);
}
static inline uint16_t mp4_be16(struct hub_cursor *c)
{
    return __builtin_bswap16(hub_cursor_u16(c));
}
/** A count of entries of `size` bytes: those that really follow. */
uint32_t mp4_count(struct hub_cursor *c, size_t size);

/** A frame, in decoding order. */
struct mp4_sample {
    uint64_t offset;
    uint32_t size, delta;
    int32_t shift;
    uint32_t description;
    bool key;
};

struct mp4_track {
    uint64_t file_size;
    uint32_t id, timescale, movie_timescale;
    uint32_t width, height, matrix[9]; /* of tkhd */
    struct mp4_box stsd;
    struct mp4_sample *samples;
    uint32_t count, capacity;
    bool shifted;
    int64_t edit_start;  /* what is shown begins here, in units of timescale ... */
    uint64_t edit_units; /* ... and takes so many of movie_timescale; 0: all */
    /* of mvex: what fragments do not say themselves */
    uint32_t description, duration, size, flags;
    bool fragmented;
    uint64_t decoded; /* when the next frame of the fragments is */
};

/* ---- codecs.c ---- */

/** What the first entry of stsd says. False: it cannot be used, and out->problem says why. */
bool mp4_describe(struct mp4_box stsd, struct hub_mp4 *out);

/* ---- samples.c ---- */

/** The samples of moov. HUB_CORRUPT: damaged. What only makes cuts impossible goes into `problem`. */
HUB_MUST_USE enum hub_status mp4_index(struct mp4_track *track, struct hub_cursor stbl, char problem[160],
                                       struct hub_error *err);
/** Those of a fragment, whose moof box begins at `offset`. */
HUB_MUST_USE enum hub_status mp4_fragment(struct mp4_track *track, struct hub_cursor moof, uint64_t offset,
                                          struct hub_error *err);

/* ---- keys.c ---- */

/** Take back what the index says of key frames where it is not so. */
HUB_MUST_USE enum hub_status mp4_keys(struct hub_byte_source *source, struct mp4_track *track,
                                      struct hub_error *err);

/* ---- table.c ---- */

/** Frame rate, counts and the table. */
HUB_MUST_USE enum hub_status mp4_table(const struct mp4_track *track, struct hub_mp4 *out,
                                       struct hub_error *err);

#endif
