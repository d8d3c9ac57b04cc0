/* The boxes of a file, from the outermost to those of its first video track. See mp4.h. */
#include "storage/formats/mp4/boxes.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BOXES = 65536, MAX_TRACKS = 64 };
#define MAX_INDEX (64 * MIB) /* moov, or all moof together */

/* ---- in memory ---- */

bool mp4_next(struct hub_cursor *c, struct mp4_box *out)
{
    const uint8_t *start = c->at;
    if (c->failed || hub_cursor_left(c) < 8) /* a few zeros end some containers */
        return false;
    uint64_t size = hub_cursor_be32(c), head = 8;
    out->type = hub_cursor_be32(c);
    if (size == 1) {
        size = hub_cursor_be64(c);
        head = 16;
    }
    if (size == 0 && !c->failed)
        size = head + hub_cursor_left(c);
    if (size < head || size - head > hub_cursor_left(c))
        c->failed = true;
    if (c->failed)
        return false;
    out->start = start;
    out->body = hub_cursor_of(c->at, (size_t)(size - head));
    return hub_cursor_skip(c, (size_t)(size - head));
}

struct mp4_box mp4_child(struct hub_cursor container, const char *type)
{
    struct mp4_box box;
    while (mp4_next(&container, &box))
        if (box.type == MP4_TYPE(type))
            return box;
    return (struct mp4_box){.body = hub_cursor_of("", 0)};
}

uint32_t mp4_count(struct hub_cursor *c, size_t size)
{
    const uint32_t count = hub_cursor_be32(c);
    if (count > hub_cursor_left(c) / size)
        c->failed = true;
    return c->failed ? 0 : count;
}

/* ---- the file ---- */

struct outer {
    struct hub_byte_source *source;
    uint64_t at, size; /* of the box */
    uint32_t type;
    uint64_t loaded; /* bytes of indices */
};

static enum hub_status bad(struct hub_error *err, const char *what)
{
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_BAD_VIDEO, "%s", what);
}

/* A size of 1: the true one follows the type; 0: up to the end of the file. */
static enum hub_status look(struct outer *o, struct hub_error *err)
{
    const uint8_t *bytes;
    size_t got;
    HUB_TRY(hub_byte_source_peek(o->source, o->at, 16, &bytes, &got, err));
    struct hub_cursor c = hub_cursor_of(bytes, got);
    o->size = hub_cursor_be32(&c);
    o->type = hub_cursor_be32(&c);
    const bool wide = o->size == 1 && got == 16;
    if (wide)
        o->size = hub_cursor_be64(&c);
    if (o->size == 0)
        o->size = o->source->size - o->at;
    if (o->size < (wide ? 16 : 8))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_BAD_VIDEO,
                           "damaged at byte %llu: parts of an mp4 are larger", (unsigned long long)o->at);
    return HUB_OK;
}

static bool starts_a_video(uint32_t type)
{
    static const char types[][5] = {"ftyp", "moov", "mdat", "free", "skip", "wide"};
    for (size_t i = 0; i < HUB_COUNT(types); i++)
        if (type == MP4_TYPE(types[i]))
            return true;
    return false;
}

/* The whole box into memory; the caller frees it. */
static enum hub_status load(struct outer *o, uint8_t **out, struct mp4_box *box, struct hub_error *err)
{
    if (o->size > MAX_INDEX - o->loaded)
        return hub_fail(err, HUB_TOO_BIG, "its index takes more than %zu MiB", MAX_INDEX / MIB);
    o->loaded += o->size;
    *out = malloc((size_t)o->size);
    HUB_TRY(hub_allocated(*out, err));
    HUB_TRY(hub_byte_source_read(o->source, o->at, *out, (size_t)o->size, err));
    struct hub_cursor c = hub_cursor_of(*out, (size_t)o->size);
    return mp4_next(&c, box) ? HUB_OK : bad(err, "damaged: its index is incomplete");
}

/* ---- headers of a track ---- */

static void read_tkhd(struct hub_cursor c, struct mp4_track *t)
{
    const bool wide = mp4_version(&c) >> 24;
    hub_cursor_skip(&c, wide ? 16 : 8); /* times */
    t->id = hub_cursor_be32(&c);
    hub_cursor_skip(&c, 4 + (wide ? 8 : 4) + 16); /* duration, layer, volume */
    for (size_t i = 0; i < HUB_COUNT(t->matrix); i++)
        t->matrix[i] = hub_cursor_be32(&c);
    t->width = hub_cursor_be32(&c);
    t->height = hub_cursor_be32(&c);
}

/* Of mdhd and mvhd. */
static uint32_t read_timescale(struct hub_cursor c)
{
    const bool wide = mp4_version(&c) >> 24;
    hub_cursor_skip(&c, wide ? 16 : 8);
    return hub_cursor_be32(&c);
}

/* One edit of normal speed, perhaps behind an empty one, is what encoders write. */
static void read_edits(struct hub_cursor c, struct mp4_track *t, char problem[160])
{
    const bool wide = mp4_version(&c) >> 24;
    const uint32_t count = mp4_count(&c, wide ? 20 : 12);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t units = wide ? hub_cursor_be64(&c) : hub_cursor_be32(&c);
        const int64_t start = wide ? (int64_t)hub_cursor_be64(&c) : (int32_t)hub_cursor_be32(&c);
        const uint32_t rate = hub_cursor_be32(&c);
        if (start < 0)
            continue;
        if (seen++ || rate != 1 << 16) {
            snprintf(problem, 160,
                     "it has an edit list: its frames are not shown in one run at their own speed");
            return;
        }
        t->edit_start = start;
        t->edit_units = units;
    }
}

/* The frames must lie in this file. */
static bool lies_here(struct hub_cursor dref)
{
    struct mp4_box entry;
    (void)mp4_version(&dref);
    (void)hub_cursor_be32(&dref);
    return !mp4_next(&dref, &entry) || (mp4_version(&entry.body) & 1);
}

static void read_mvex(struct hub_cursor mvex, struct mp4_track *t)
{
    struct mp4_box box;
    while (mp4_next(&mvex, &box)) {
        if (box.type != MP4_TYPE("trex"))
            continue;
        (void)mp4_version(&box.body);
        if (hub_cursor_be32(&box.body) != t->id)
            continue;
        t->description = hub_cursor_be32(&box.body);
        t->duration = hub_cursor_be32(&box.body);
        t->size = hub_cursor_be32(&box.body);
        t->flags = hub_cursor_be32(&box.body);
    }
}

static bool is_video(struct hub_cursor mdia)
{
    struct hub_cursor c = mp4_child(mdia, "hdlr").body;
    hub_cursor_skip(&c, 8);
    return hub_cursor_be32(&c) == MP4_TYPE("vide");
}

static enum hub_status read_track(struct hub_cursor trak, struct hub_cursor moov, struct mp4_track *t,
                                  struct hub_mp4 *out, struct hub_error *err)
{
    const struct hub_cursor mdia = mp4_child(trak, "mdia").body, minf = mp4_child(mdia, "minf").body,
                            stbl = mp4_child(minf, "stbl").body;
    const struct mp4_box mvex = mp4_child(moov, "mvex");
    read_tkhd(mp4_child(trak, "tkhd").body, t);
    t->timescale = read_timescale(mp4_child(mdia, "mdhd").body);
    t->movie_timescale = read_timescale(mp4_child(moov, "mvhd").body);
    t->stsd = mp4_child(stbl, "stsd");
    if (!t->timescale || !mp4_has(&t->stsd))
        return bad(err, "damaged: its video track states neither codec nor duration");
    if (!mp4_describe(t->stsd, out))
        return HUB_OK;
    if (!lies_here(mp4_child(mp4_child(minf, "dinf").body, "dref").body))
        snprintf(out->problem, sizeof out->problem, "its frames lie in another file");
    read_edits(mp4_child(mp4_child(trak, "edts").body, "elst").body, t, out->problem);
    t->fragmented = mp4_has(&mvex);
    read_mvex(mvex.body, t);
    HUB_TRY(mp4_index(t, stbl, out->problem, err));
    for (uint32_t i = 0; i + 1 < t->count; i++) /* how long the last one lasts, moves none */
        out->still |= t->samples[i].delta == 0;
    return HUB_OK;
}

static enum hub_status read_moov(struct hub_cursor moov, struct mp4_track *t, struct hub_mp4 *out,
                                 struct hub_error *err)
{
    struct mp4_box trak;
    struct hub_cursor rest = moov;
    for (unsigned n = 0; n < MAX_TRACKS && mp4_next(&rest, &trak); n++) {
        if (trak.type != MP4_TYPE("trak") || !is_video(mp4_child(trak.body, "mdia").body))
            continue;
        if (out->tracks++ == 0)
            HUB_TRY(read_track(trak.body, moov, t, out, err));
    }
    return out->tracks ? HUB_OK : bad(err, "it has no video track");
}

/* ---- the walk ---- */

struct mp4_reader {
    struct outer outer;
    struct mp4_track track;
    uint8_t *moov, *moof;
    unsigned boxes;
};

static void reading_dispose(struct mp4_reader *r)
{
    free(r->track.samples);
    free(r->moov);
    free(r->moof);
}

static enum hub_status cut_short(struct hub_error *err, uint64_t missing, uint64_t size)
{
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_CUT_VIDEO,
                       "cut short: at least %llu bytes are missing behind its %llu",
                       (unsigned long long)missing, (unsigned long long)size);
}

/* Where moov lies; every box must be whole. */
static enum hub_status find_moov(struct outer *o, uint64_t *moov, struct hub_error *err)
{
    const uint64_t size = o->source->size;
    unsigned n = 0;
    *moov = UINT64_MAX;
    for (o->at = 0; n < MAX_BOXES && size - o->at >= 8; n++, o->at += o->size) {
        HUB_TRY(look(o, err));
        if (n == 0 && !starts_a_video(o->type))
            return bad(err, "not an mp4 file");
        if (o->size > size - o->at)
            return cut_short(err, o->size - (size - o->at), size);
        if (o->type == MP4_TYPE("moov") && *moov == UINT64_MAX)
            *moov = o->at;
    }
    return *moov != UINT64_MAX ? HUB_OK
                               : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_CUT_VIDEO,
                                             "cut short: its index (moov) is missing");
}

enum hub_status hub_mp4_check(struct hub_byte_source *source, struct hub_error *err)
{
    uint64_t moov;
    if (source->size == 0)
        return bad(err, "0 bytes: an empty file");
    return find_moov(&(struct outer){.source = source}, &moov, err);
}

static enum hub_status read_fragments(struct mp4_reader *r, struct hub_error *err)
{
    struct outer *o = &r->outer;
    struct mp4_box moof;
    unsigned n = 0;
    for (o->at = 0; n < MAX_BOXES && o->source->size - o->at >= 8; n++, o->at += o->size) {
        HUB_TRY(look(o, err));
        if (o->type != MP4_TYPE("moof"))
            continue;
        free(r->moof);
        r->moof = NULL;
        HUB_TRY(load(o, &r->moof, &moof, err));
        HUB_TRY(mp4_fragment(&r->track, moof.body, o->at, err));
    }
    return HUB_OK;
}

enum hub_status hub_mp4_read(struct hub_byte_source *source, struct hub_mp4 *out, struct hub_error *err)
{
    HUB_CLEANUP(reading_dispose)
    struct mp4_reader r = {.outer = {.source = source}, .track = {.file_size = source->size}};
    struct mp4_box moov;
    uint64_t at;
    if (source->size == 0)
        return bad(err, "0 bytes: an empty file");
    HUB_TRY(find_moov(&r.outer, &at, err));
    out->whole = true;
    r.outer.at = at;
    HUB_TRY(look(&r.outer, err));
    HUB_TRY(load(&r.outer, &r.moov, &moov, err));
    HUB_TRY(read_moov(moov.body, &r.track, out, err));
    if (!out->problem[0] && r.track.fragmented)
        HUB_TRY(read_fragments(&r, err));
    if (!out->problem[0])
        HUB_TRY(mp4_keys(source, &r.track, err));
    return mp4_table(&r.track, out, err);
}

void hub_mp4_dispose(struct hub_mp4 *mp4)
{
    hub_buf_dispose(&mp4->table);
    hub_buf_dispose(&mp4->times);
}
