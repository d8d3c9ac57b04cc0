/* The frames of a track: those of the tables in moov, and those of fragments (ISO/IEC 14496-12, 8.6 to
 * 8.8). */
#include "storage/formats/mp4/boxes.h"

#include <stdio.h>

static enum hub_status damaged(struct hub_error *err, const char *what)
{
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_BAD_VIDEO, "damaged: %s", what);
}

static enum hub_status add(struct mp4_track *t, const struct mp4_sample *sample, struct hub_error *err)
{
    if (t->count == HUB_MAX_VIDEO_FRAMES)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_BAD_VIDEO, "it has more than %d frames",
                           HUB_MAX_VIDEO_FRAMES);
    HUB_TRY(hub_grow(&t->samples, t->count, &t->capacity, sizeof *t->samples, err));
    t->samples[t->count++] = *sample;
    return HUB_OK;
}

/* ---- sizes ---- */

static enum hub_status add_plain_sizes(struct mp4_track *t, struct hub_cursor c, struct hub_error *err)
{
    struct mp4_sample sample = {.key = 1};
    (void)mp4_version(&c);
    const uint32_t size = hub_cursor_be32(&c), count = size ? hub_cursor_be32(&c) : mp4_count(&c, 4);
    if (c.failed || (uint64_t)size * count > t->file_size)
        return damaged(err, "the sizes of its frames do not match the file");
    for (uint32_t i = 0; i < count; i++) {
        sample.size = size ? size : hub_cursor_be32(&c);
        HUB_TRY(add(t, &sample, err));
    }
    return HUB_OK;
}

static enum hub_status add_short_sizes(struct mp4_track *t, struct hub_cursor c, struct hub_error *err)
{
    struct mp4_sample sample = {.key = 1};
    (void)mp4_version(&c);
    const unsigned bits = hub_cursor_be32(&c) & 255;
    const uint32_t count = hub_cursor_be32(&c);
    if (c.failed || (bits != 4 && bits != 8 && bits != 16) ||
        ((uint64_t)count * bits + 7) / 8 > hub_cursor_left(&c))
        return damaged(err, "the sizes of its frames are incomplete");
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *at = c.at + (uint64_t)i * bits / 8;
        sample.size = bits == 16  ? (uint32_t)at[0] << 8 | at[1]
                      : bits == 8 ? at[0]
                      : i % 2     ? at[0] & 15U
                                  : at[0] >> 4U;
        HUB_TRY(add(t, &sample, err));
    }
    return HUB_OK;
}

/* ---- places ---- */

struct chunks {
    struct hub_cursor runs; /* of stsc: from which chunk on how many frames, described by which entry */
    uint32_t left, next, each, description;
};

static void enter_chunk(struct chunks *s, uint32_t chunk)
{
    while (s->left && s->next <= chunk) {
        s->each = hub_cursor_be32(&s->runs);
        s->description = hub_cursor_be32(&s->runs);
        s->next = --s->left ? hub_cursor_be32(&s->runs) : UINT32_MAX;
    }
}

static enum hub_status locate_samples(struct mp4_track *t, struct hub_cursor stbl, struct hub_error *err)
{
    const struct mp4_box wide = mp4_child(stbl, "co64");
    struct hub_cursor c = mp4_has(&wide) ? wide.body : mp4_child(stbl, "stco").body;
    struct chunks s = {.runs = mp4_child(stbl, "stsc").body};
    uint32_t at = 0;
    (void)mp4_version(&s.runs);
    s.left = mp4_count(&s.runs, 12);
    s.next = s.left ? hub_cursor_be32(&s.runs) : 0;
    (void)mp4_version(&c);
    const uint32_t count = mp4_count(&c, mp4_has(&wide) ? 8 : 4);
    for (uint32_t chunk = 1; chunk <= count && at < t->count; chunk++) {
        uint64_t offset = mp4_has(&wide) ? hub_cursor_be64(&c) : hub_cursor_be32(&c);
        enter_chunk(&s, chunk);
        for (uint32_t i = 0; i < s.each && at < t->count; i++) {
            t->samples[at].offset = offset;
            t->samples[at].description = s.description;
            offset += t->samples[at++].size;
        }
    }
    return at == t->count ? HUB_OK : damaged(err, "it does not say where all its frames are");
}

/* ---- times and key frames ---- */

/* stts and ctts: so many frames have the same value. False: they are of another number of frames. */
static bool run_lengths(struct mp4_track *t, struct hub_cursor c, bool shift)
{
    uint32_t at = 0;
    (void)mp4_version(&c);
    const uint32_t count = mp4_count(&c, 8);
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t run = hub_cursor_be32(&c), value = hub_cursor_be32(&c);
        more |= run > t->count - at;
        for (uint32_t k = 0; k < run && at < t->count; k++, at++)
            if (shift)
                t->samples[at].shift = (int32_t)value;
            else
                t->samples[at].delta = value;
    }
    return at == t->count && !more;
}

static bool mark_keys(struct mp4_track *t, struct hub_cursor c)
{
    uint32_t last = 0;
    (void)mp4_version(&c);
    const uint32_t count = mp4_count(&c, 4);
    for (uint32_t i = 0; i < t->count; i++)
        t->samples[i].key = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = hub_cursor_be32(&c);
        if (number <= last || number > t->count)
            return false;
        t->samples[number - 1].key = 1;
        last = number;
    }
    return !c.failed;
}

enum hub_status mp4_index(struct mp4_track *t, struct hub_cursor stbl, char problem[160],
                          struct hub_error *err)
{
    const struct mp4_box plain = mp4_child(stbl, "stsz"), ctts = mp4_child(stbl, "ctts"),
                         stss = mp4_child(stbl, "stss"), compact = mp4_child(stbl, "stz2");
    if (mp4_has(&plain))
        HUB_TRY(add_plain_sizes(t, plain.body, err));
    else if (mp4_has(&compact))
        HUB_TRY(add_short_sizes(t, compact.body, err));
    else if (!t->fragmented)
        return damaged(err, "it does not say how large its frames are");
    if (!t->count)
        return HUB_OK;
    HUB_TRY(locate_samples(t, stbl, err));
    t->shifted = mp4_has(&ctts);
    if (!run_lengths(t, mp4_child(stbl, "stts").body, false) ||
        (t->shifted && !run_lengths(t, ctts.body, true)))
        snprintf(problem, 160, "its index gives times for another number of frames than it has");
    if (mp4_has(&stss) && !mark_keys(t, stss.body))
        snprintf(problem, 160, "its index names key frames that it does not have");
    for (uint32_t i = 0; i < t->count; i++)
        t->decoded += t->samples[i].delta;
    return HUB_OK;
}

/* ---- fragments ---- */

enum { NOT_A_KEY = 0x10000 };

struct sample_run {
    uint64_t offset; /* of its next frame */
    uint32_t description, duration, size, flags;
};

static enum hub_status read_run(struct mp4_track *t, struct hub_cursor c, uint64_t base,
                                struct sample_run *run, struct hub_error *err)
{
    const uint32_t flags = mp4_version(&c), count = hub_cursor_be32(&c);
    const size_t each = 4 * (size_t)__builtin_popcount(flags & 0xF00);
    if (flags & 1)
        run->offset = base + (uint64_t)(int64_t)(int32_t)hub_cursor_be32(&c);
    const uint32_t first_flags = flags & 4 ? hub_cursor_be32(&c) : run->flags;
    if (c.failed || count * (uint64_t)each > hub_cursor_left(&c) ||
        (!(flags & 0x200) && (!run->size || (uint64_t)run->size * count > t->file_size)))
        return damaged(err, "a fragment states frames that it does not have");
    for (uint32_t i = 0; i < count; i++) {
        struct mp4_sample s = {.offset = run->offset, .description = run->description};
        s.delta = flags & 0x100 ? hub_cursor_be32(&c) : run->duration;
        s.size = flags & 0x200 ? hub_cursor_be32(&c) : run->size;
        const uint32_t own = flags & 0x400       ? hub_cursor_be32(&c)
                             : i || !(flags & 4) ? run->flags
                                                 : first_flags;
        s.shift = flags & 0x800 ? (int32_t)hub_cursor_be32(&c) : 0;
        s.key = !(own & NOT_A_KEY);
        t->shifted |= s.shift != 0;
        run->offset += s.size;
        t->decoded += s.delta;
        HUB_TRY(add(t, &s, err));
    }
    return HUB_OK;
}

/* Where the fragment begins later than the frames before it end, the last of them lasts until then. */
static enum hub_status read_start(struct mp4_track *t, struct hub_cursor c, struct hub_error *err)
{
    const bool wide = mp4_version(&c) >> 24;
    const uint64_t start = wide ? hub_cursor_be64(&c) : hub_cursor_be32(&c);
    const uint64_t gap = start - t->decoded;
    if (c.failed || !t->count || start == t->decoded)
        return HUB_OK;
    if (start < t->decoded || gap > UINT32_MAX - t->samples[t->count - 1].delta)
        return damaged(err, "a fragment that goes back in time");
    t->samples[t->count - 1].delta += (uint32_t)gap;
    t->decoded = start;
    return HUB_OK;
}

static enum hub_status read_traf(struct mp4_track *t, struct hub_cursor traf, uint64_t moof, uint64_t *end,
                                 struct hub_error *err)
{
    struct hub_cursor c = mp4_child(traf, "tfhd").body;
    struct mp4_box box = mp4_child(traf, "tfdt");
    struct sample_run run = {0, t->description, t->duration, t->size, t->flags};
    const uint32_t flags = mp4_version(&c);
    if (hub_cursor_be32(&c) != t->id || c.failed)
        return HUB_OK;
    uint64_t base = flags & 0x20000 ? moof : *end;
    base = flags & 1 ? hub_cursor_be64(&c) : base;
    run.description = flags & 2 ? hub_cursor_be32(&c) : run.description;
    run.duration = flags & 8 ? hub_cursor_be32(&c) : run.duration;
    run.size = flags & 0x10 ? hub_cursor_be32(&c) : run.size;
    run.flags = flags & 0x20 ? hub_cursor_be32(&c) : run.flags;
    run.offset = base;
    if (mp4_has(&box))
        HUB_TRY(read_start(t, box.body, err));
    while (mp4_next(&traf, &box))
        if (box.type == MP4_TYPE("trun"))
            HUB_TRY(read_run(t, box.body, base, &run, err));
    *end = run.offset;
    return HUB_OK;
}

enum hub_status mp4_fragment(struct mp4_track *t, struct hub_cursor moof, uint64_t offset,
                             struct hub_error *err)
{
    struct mp4_box traf;
    uint64_t end = offset;
    while (mp4_next(&moof, &traf))
        if (traf.type == MP4_TYPE("traf"))
            HUB_TRY(read_traf(t, traf.body, offset, &end, err));
    return moof.failed ? damaged(err, "a fragment is incomplete") : HUB_OK;
}
