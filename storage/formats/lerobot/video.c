/*
 * The videos of LeRobot episodes: is each of them all there? Of an mp4 only the top-level boxes are looked at
 * (ISO/IEC 14496-12, 4.2): at most 16 boxes, each in one window of 4 KiB, so that a file costs 64 KiB at
 * worst. No frame is decoded. Fragmented files have more boxes: what lies behind the sixteenth is not judged.
 */
#include "storage/formats/lerobot/lerobot.h"

enum { MAX_BOXES = 16, MAX_LOOKED_AT = 10000 };

struct box {
    char type[4];
    uint64_t size; /* with its header */
};

static uint64_t big_endian(const uint8_t *at, unsigned size)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < size; i++)
        n = n << 8 | at[i];
    return n;
}

/* A size of 1: the true one follows the type; 0: up to the end of the file. */
static enum hub_status read_box(struct hub_source *source, uint64_t offset, struct box *out,
                                struct hub_error *err)
{
    const uint8_t *at;
    size_t got;
    HUB_TRY(hub_source_peek(source, offset, 16, &at, &got, err));
    const bool wide = got == 16 && big_endian(at, 4) == 1;
    memcpy(out->type, at + 4, sizeof out->type);
    out->size = wide ? big_endian(at + 8, 8) : big_endian(at, 4);
    if (out->size == 0)
        out->size = source->size - offset;
    if (out->size < (wide ? 16 : 8))
        return hub_fail_as(err, HUB_CORRUPT, "bad-video",
                           "damaged at byte %llu: no part of an mp4 is so small", (unsigned long long)offset);
    return HUB_OK;
}

static bool starts_a_video(const struct box *box)
{
    static const char types[][5] = {"ftyp", "moov", "mdat", "free", "skip", "wide"};
    for (size_t i = 0; i < HUB_COUNT(types); i++)
        if (memcmp(box->type, types[i], sizeof box->type) == 0)
            return true;
    return false;
}

static enum hub_status check_boxes(struct hub_source *source, struct hub_error *err)
{
    bool index = false; /* moov: without it no frame can be found */
    uint64_t at = 0;
    unsigned n = 0;
    for (; n < MAX_BOXES && source->size - at >= 8; n++) {
        struct box box;
        HUB_TRY(read_box(source, at, &box, err));
        if (n == 0 && !starts_a_video(&box))
            return hub_fail_as(err, HUB_CORRUPT, "bad-video", "not an mp4 file");
        if (box.size > source->size - at)
            return hub_fail_as(
                err, HUB_CORRUPT, "cut-video", "cut short: at least %llu bytes are missing behind its %llu",
                (unsigned long long)(box.size - (source->size - at)), (unsigned long long)source->size);
        index |= memcmp(box.type, "moov", sizeof box.type) == 0;
        at += box.size;
    }
    if (index || n == MAX_BOXES)
        return HUB_OK;
    return hub_fail_as(err, HUB_CORRUPT, "cut-video", "cut short: its index (moov) is missing");
}

static enum hub_status check_video(struct hub_files *files, uint32_t number, struct hub_error *err)
{
    struct hub_source source;
    hub_source_file(&source, files, number);
    if (source.size == 0)
        return hub_fail_as(err, HUB_CORRUPT, "bad-video", "0 bytes: an empty file");
    HUB_TRY(hub_source_usable(&source, err));
    return check_boxes(&source, err);
}

enum hub_status hub_lerobot_check_videos(struct hub_files *files, struct hub_sink *sink, uint64_t *count,
                                         struct hub_error *err)
{
    uint64_t bad = 0;
    *count = 0;
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_error why = {0};
        const struct hub_view path = files->entries[i].path;
        if (!hub_view_ends(path, ".mp4") || ++*count > MAX_LOOKED_AT)
            continue;
        const enum hub_status st = check_video(files, i, &why);
        if (st && st != HUB_CORRUPT && st != HUB_DENIED)
            return hub_fail(err, st, "%s", why.detail);
        if (st)
            HUB_TRY(hub_sink_problem(sink, why.problem[0] ? why.problem : "bad-video", path, err, "%s",
                                     why.detail));
        bad += st != HUB_OK;
    }
    if (*count > MAX_LOOKED_AT)
        HUB_TRY(hub_sink_problem(sink, "videos-not-checked", HUB_VIEW("videos"), err,
                                 "%llu of %llu videos were not looked at: the first %d of a dataset are",
                                 (unsigned long long)(*count - MAX_LOOKED_AT), (unsigned long long)*count,
                                 MAX_LOOKED_AT));
    return bad ? hub_sink_problem(sink, "not-loadable", HUB_VIEW("videos"), err,
                                  "%llu of %llu videos cannot be played", (unsigned long long)bad,
                                  (unsigned long long)*count)
               : HUB_OK;
}
