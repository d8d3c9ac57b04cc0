/* Cuts of mp4 files (ISO/IEC 14496-12). Frames are given by their turn in being shown; those that must be
 * decoded for them are one run of the track: from the last key frame that is neither behind any of them nor
 * shown after the first of them, up to the one that is decoded last. The second half of that rule is for the
 * leading pictures of an open group. */
#include "storage/encode/mp4.h"

#include "storage/base/order.h"

#include <stdlib.h>

enum { SPARE_BYTES = 2048 }; /* boxes but for their tables */
#define FOREIGN_BYTES (1 * MIB)

struct shown_frame {
    int64_t time;
    uint32_t frame;
};

struct mp4_cut {
    const struct hub_video *video;
    uint32_t first, end;          /* in decoding order */
    int64_t shown_from, shown_to; /* times of the file */
    uint64_t decoded, units;      /* when `first` is; how long all take */
    int32_t shift;                /* the least one: the others are above it */
    uint64_t offset, length;
    struct hub_buf *out;
    struct hub_error *err;
    enum hub_status status;
};

/* ---- times ---- */

/* The last of the runs that begin at or before a frame; `first` is that of the first one, the next is `words`
 * behind it. */
static uint32_t run_of(const uint32_t *first, size_t words, uint32_t count, uint32_t frame)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        *(first[middle * words] <= frame ? &low : &high) = middle;
    }
    return low;
}

static const struct hub_video_time *time_run(const struct hub_video *v, uint32_t frame)
{
    return &v->times[run_of(&v->times->first, sizeof *v->times / 4, v->head->time_count, frame)];
}

static uint32_t find_run(const struct hub_video *v, uint32_t frame)
{
    return run_of(&v->runs->first, sizeof *v->runs / 4, v->head->run_count, frame);
}

static uint32_t delta_of(const struct hub_video *v, uint32_t frame)
{
    return time_run(v, frame)->delta;
}

static uint64_t decoded_at(const struct hub_video *v, uint32_t frame)
{
    const struct hub_video_time *t = time_run(v, frame);
    return t->start + (uint64_t)(frame - t->first) * t->delta;
}

static int32_t shift_of(const struct hub_video *v, uint32_t frame)
{
    const uint32_t count = v->head->shift_count;
    return count ? v->shifts[run_of(&v->shifts->first, sizeof *v->shifts / 4, count, frame)].shift : 0;
}

static int64_t shown_at(const struct hub_video *v, uint32_t frame)
{
    return (int64_t)decoded_at(v, frame) + shift_of(v, frame);
}

static int by_time(const void *a, const void *b)
{
    const struct shown_frame *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* ---- which frames ---- */

/* Frames from `turn` on, by the order they are shown in. None is further from its place than head->reorder:
 * of those around it the ones before `low` are shown before it. */
static enum hub_status find_wanted(struct mp4_cut *c, uint32_t turn, uint32_t count, struct hub_error *err)
{
    const struct hub_video *v = c->video;
    const uint32_t reorder = v->head->reorder, low = turn - HUB_MIN(turn, reorder),
                   high = (uint32_t)HUB_MIN((uint64_t)turn + count + reorder + 1, v->head->frames);
    HUB_CLEANUP(hub_freep) struct shown_frame *all = NULL;
    HUB_TRY(hub_new(&all, high - low, sizeof *all, err));
    for (uint32_t i = low; i < high; i++)
        all[i - low] = (struct shown_frame){shown_at(v, i), i};
    if (reorder)
        qsort(all, high - low, sizeof *all, by_time);
    const struct shown_frame *wanted = all + (turn - low);
    c->first = wanted->frame;
    for (uint32_t i = 0; i < count; i++) {
        c->first = HUB_MIN(c->first, wanted[i].frame);
        c->end = HUB_MAX(c->end, wanted[i].frame + 1);
    }
    c->shown_from = wanted->time;
    c->shown_to = turn + count < low + (high - low)
                      ? wanted[count].time
                      : wanted[count - 1].time + delta_of(v, wanted[count - 1].frame);
    c->shown_to = HUB_MAX(c->shown_to, c->shown_from);
    return HUB_OK;
}

static enum hub_status find_key(struct mp4_cut *c, struct hub_error *err)
{
    const struct hub_video *v = c->video;
    uint32_t behind = v->head->key_count;
    if (!behind) {
        while (c->first && shown_at(v, c->first) > c->shown_from)
            c->first--;
        return HUB_OK;
    }
    for (uint32_t low = 0; low < behind;) { /* behind: the first key frame past c->first */
        const uint32_t middle = low + (behind - low) / 2;
        if (v->keys[middle] <= c->first)
            low = middle + 1;
        else
            behind = middle;
    }
    while (behind && shown_at(v, v->keys[behind - 1]) > c->shown_from)
        behind--;
    if (!behind)
        return hub_fail(err, HUB_NOT_ACCEPTABLE, "no key frame comes before its first frame");
    c->first = v->keys[behind - 1];
    return HUB_OK;
}

/* ---- where they lie ---- */

static uint64_t sum_sizes(const struct hub_video *v, uint32_t first, uint32_t end)
{
    uint64_t sum = 0;
    for (uint32_t i = first; i < end; i++)
        sum += v->sizes[i];
    return sum;
}

static uint64_t offset_of(const struct hub_video *v, uint32_t frame)
{
    const struct hub_video_run *run = &v->runs[find_run(v, frame)];
    return run->offset + sum_sizes(v, run->first, frame);
}

/* A run of frames that adjoin each other, within the cut. */
struct frame_run {
    uint32_t first, end, description;
    uint64_t offset;
};

/* The block that begins with c->first, or the one behind `s`. */
static bool next_run(const struct mp4_cut *c, struct frame_run *s)
{
    const struct hub_video *v = c->video;
    s->first = s->end ? s->end : c->first;
    if (s->first >= c->end)
        return false;
    const uint32_t run = find_run(v, s->first);
    s->end = run + 1 < v->head->run_count ? HUB_MIN(v->runs[run + 1].first, c->end) : c->end;
    s->description = v->runs[run].description;
    s->offset = s->first == v->runs[run].first ? v->runs[run].offset : offset_of(v, s->first);
    return true;
}

static enum hub_status find_bytes(struct mp4_cut *c, struct hub_error *err)
{
    struct frame_run s = {0};
    uint64_t end = 0, own = 0;
    c->offset = UINT64_MAX;
    while (next_run(c, &s)) {
        const uint64_t size = sum_sizes(c->video, s.first, s.end);
        own += size;
        c->offset = HUB_MIN(c->offset, s.offset);
        end = HUB_MAX(end, s.offset + size);
    }
    c->length = end - c->offset;
    if (c->length / 2 > own && c->length - own > FOREIGN_BYTES)
        return hub_fail(err, HUB_NOT_ACCEPTABLE,
                        "its frames are too far apart: %llu bytes of others are between them",
                        (unsigned long long)(c->length - own));
    return HUB_OK;
}

static void find_times(struct mp4_cut *c)
{
    const struct hub_video *v = c->video;
    c->decoded = decoded_at(v, c->first);
    c->units = decoded_at(v, c->end - 1) + delta_of(v, c->end - 1) - c->decoded;
    c->shift = 0;
    for (uint32_t i = c->first; i < c->end && v->head->shift_count; i++)
        c->shift = HUB_MIN(c->shift, shift_of(v, i));
}

/* ---- boxes ---- */

static void put(struct mp4_cut *c, const void *data, size_t size)
{
    if (!c->status)
        c->status = hub_buf_add(c->out, data, size, c->err);
}

static void put32(struct mp4_cut *c, uint32_t value)
{
    value = __builtin_bswap32(value);
    put(c, &value, sizeof value);
}

static void put64(struct mp4_cut *c, uint64_t value)
{
    value = __builtin_bswap64(value);
    put(c, &value, sizeof value);
}

static void put_zeros(struct mp4_cut *c, size_t count)
{
    static const char zeros[32];
    put(c, zeros, HUB_MIN(count, sizeof zeros));
}

/* Where the box begins; end_box puts its size there. */
static size_t begin_box(struct mp4_cut *c, const char *type)
{
    const size_t at = c->out->size;
    put32(c, 0);
    put(c, type, 4);
    return at;
}

static size_t begin_full(struct mp4_cut *c, const char *type, uint32_t version_and_flags)
{
    const size_t at = begin_box(c, type);
    put32(c, version_and_flags);
    return at;
}

static void patch32(struct mp4_cut *c, size_t at, uint32_t value)
{
    value = __builtin_bswap32(value);
    if (!c->status)
        memcpy(c->out->data + at, &value, sizeof value);
}

static void end_box(struct mp4_cut *c, size_t at)
{
    patch32(c, at, (uint32_t)(c->out->size - at));
}

enum { WIDE = 1 << 24 }; /* version 1: times of 64 bits */
static const uint32_t straight[9] = {1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30};

static void put_matrix(struct mp4_cut *c, const uint32_t matrix[9])
{
    for (unsigned i = 0; i < 9; i++)
        put32(c, matrix[i]);
}

static void put_ftyp(struct mp4_cut *c)
{
    const size_t at = begin_box(c, "ftyp");
    put(c, "isom\0\0\2\0isomiso2iso4mp41", 24);
    end_box(c, at);
}

static void put_mvhd(struct mp4_cut *c, uint64_t duration)
{
    const size_t at = begin_full(c, "mvhd", WIDE);
    put_zeros(c, 16);
    put32(c, c->video->head->timescale);
    put64(c, duration);
    put32(c, 1 << 16); /* speed */
    put32(c, 1 << 24); /* volume */
    put_zeros(c, 8);
    put_matrix(c, straight);
    put_zeros(c, 24);
    put32(c, 2); /* the number of the next track */
    end_box(c, at);
}

static void put_tkhd(struct mp4_cut *c, uint64_t duration)
{
    const struct hub_video_head *h = c->video->head;
    const size_t at = begin_full(c, "tkhd", WIDE | 3); /* enabled, in the movie */
    put_zeros(c, 16);
    put32(c, 1); /* its number */
    put_zeros(c, 4);
    put64(c, duration);
    put_zeros(c, 16);
    put_matrix(c, h->matrix[0] || h->matrix[1] ? h->matrix : straight);
    put32(c, h->width);
    put32(c, h->height);
    end_box(c, at);
}

static void put_edit(struct mp4_cut *c, uint64_t duration)
{
    const size_t at = begin_box(c, "edts"), list = begin_full(c, "elst", WIDE);
    put32(c, 1);
    put64(c, duration);
    put64(c, (uint64_t)(c->shown_from - (int64_t)c->decoded - c->shift));
    put32(c, 1 << 16); /* speed */
    end_box(c, list);
    end_box(c, at);
}

static void put_media(struct mp4_cut *c)
{
    size_t at = begin_full(c, "mdhd", WIDE);
    put_zeros(c, 16);
    put32(c, c->video->head->timescale);
    put64(c, c->units);
    put32(c, 0x55C40000); /* no language */
    end_box(c, at);
    at = begin_full(c, "hdlr", 0);
    put(c, "\0\0\0\0vide", 8);
    put_zeros(c, 12);
    put(c, "video", 6);
    end_box(c, at);
}

/* The frames lie in this file. */
static void put_reference(struct mp4_cut *c)
{
    size_t at = begin_full(c, "vmhd", 1);
    put_zeros(c, 8);
    end_box(c, at);
    at = begin_box(c, "dinf");
    const size_t list = begin_full(c, "dref", 0);
    put32(c, 1);
    const size_t entry = begin_full(c, "url ", 1);
    end_box(c, entry);
    end_box(c, list);
    end_box(c, at);
}

/* Pairs of a count of frames and the value they share. */
static void put_runs(struct mp4_cut *c, const char *type,
                     uint32_t (*value)(const struct mp4_cut *c, uint32_t frame))
{
    const size_t at = begin_full(c, type, 0), counted = c->out->size;
    uint32_t runs = 0, begin = c->first;
    put32(c, 0);
    for (uint32_t i = c->first; i < c->end; i++) {
        if (i + 1 < c->end && value(c, i + 1) == value(c, begin))
            continue;
        put32(c, i + 1 - begin);
        put32(c, value(c, begin));
        begin = i + 1;
        runs++;
    }
    patch32(c, counted, runs);
    end_box(c, at);
}

static uint32_t its_delta(const struct mp4_cut *c, uint32_t frame)
{
    return delta_of(c->video, frame);
}

static uint32_t its_shift(const struct mp4_cut *c, uint32_t frame)
{
    return (uint32_t)shift_of(c->video, frame) - (uint32_t)c->shift; /* never less; it may take 32 bits */
}

static void put_keys(struct mp4_cut *c)
{
    const struct hub_video *v = c->video;
    const size_t at = begin_full(c, "stss", 0), counted = c->out->size;
    uint32_t keys = 0;
    put32(c, 0);
    for (uint32_t i = 0; i < v->head->key_count; i++)
        if (v->keys[i] >= c->first && v->keys[i] < c->end) {
            put32(c, v->keys[i] - c->first + 1);
            keys++;
        }
    patch32(c, counted, keys);
    end_box(c, at);
}

static void put_sizes(struct mp4_cut *c)
{
    const size_t at = begin_full(c, "stsz", 0);
    put32(c, 0);
    put32(c, c->end - c->first);
    for (uint32_t i = c->first; i < c->end; i++)
        put32(c, c->video->sizes[i]);
    end_box(c, at);
}

/* A block is a chunk. Its offset is that in the file less what lies before the cut, until move_chunks. */
static size_t put_chunks(struct mp4_cut *c)
{
    struct frame_run s = {0};
    size_t at = begin_full(c, "stsc", 0), counted = c->out->size;
    uint32_t chunks = 0;
    put32(c, 0);
    while (next_run(c, &s)) {
        put32(c, ++chunks);
        put32(c, s.end - s.first);
        put32(c, s.description);
    }
    patch32(c, counted, chunks);
    end_box(c, at);
    at = begin_full(c, "co64", 0);
    put32(c, chunks);
    for (s = (struct frame_run){0}; next_run(c, &s);)
        put64(c, s.offset - c->offset);
    end_box(c, at);
    return at;
}

static void move_chunks(struct mp4_cut *c, size_t box)
{
    const size_t first = box + 16;
    if (c->status)
        return;
    uint32_t size;
    memcpy(&size, c->out->data + box, sizeof size);
    for (char *at = c->out->data + first, *end = c->out->data + box + __builtin_bswap32(size); at < end;
         at += 8) {
        uint64_t offset;
        memcpy(&offset, at, sizeof offset);
        offset = __builtin_bswap64(__builtin_bswap64(offset) + c->out->size);
        memcpy(at, &offset, sizeof offset);
    }
}

static void put_mdat(struct mp4_cut *c)
{
    const bool wide = c->length > UINT32_MAX - 8;
    put32(c, wide ? 1 : (uint32_t)c->length + 8);
    put(c, "mdat", 4);
    if (wide)
        put64(c, c->length + 16);
}

static void put_all(struct mp4_cut *c)
{
    const struct hub_video *v = c->video;
    const uint64_t duration = (uint64_t)(c->shown_to - c->shown_from);
    put_ftyp(c);
    const size_t moov = begin_box(c, "moov");
    put_mvhd(c, duration);
    const size_t trak = begin_box(c, "trak");
    put_tkhd(c, duration);
    put_edit(c, duration);
    const size_t mdia = begin_box(c, "mdia");
    put_media(c);
    const size_t minf = begin_box(c, "minf");
    put_reference(c);
    const size_t stbl = begin_box(c, "stbl");
    put(c, v->description, v->head->description_size);
    put_runs(c, "stts", its_delta);
    if (v->head->shift_count)
        put_runs(c, "ctts", its_shift);
    if (v->head->key_count)
        put_keys(c);
    put_sizes(c);
    const size_t chunks = put_chunks(c);
    const size_t open[] = {stbl, minf, mdia, trak, moov};
    for (size_t i = 0; i < HUB_COUNT(open); i++)
        end_box(c, open[i]);
    put_mdat(c);
    move_chunks(c, chunks);
}

/* ---- */

size_t hub_mp4_head_bytes(const struct hub_video *video)
{
    const struct hub_video_head *h = video->head;
    return SPARE_BYTES + h->description_size + h->run_count * (size_t)20 + h->time_count * (size_t)8 +
           h->shift_count * (size_t)8 + h->frames * (size_t)4 + h->key_count * (size_t)4;
}

enum hub_status hub_mp4_cut(const struct hub_video *video, uint64_t first, uint64_t count,
                            struct hub_buf *head, struct hub_mp4_cut *cut, struct hub_error *err)
{
    struct mp4_cut c = {.video = video, .out = head, .err = err};
    HUB_TRY(find_wanted(&c, (uint32_t)(video->head->first + first), (uint32_t)count, err));
    HUB_TRY(find_key(&c, err));
    HUB_TRY(find_bytes(&c, err));
    find_times(&c);
    put_all(&c);
    *cut = (struct hub_mp4_cut){c.offset, c.length};
    return c.status;
}

/* The turn of a frame. Those that may be shown before it are no further away than both of them may move. */
static uint32_t turn_of(const struct hub_video *v, uint32_t frame)
{
    const struct shown_frame own = {shown_at(v, frame), frame};
    const uint64_t far = 2 * (uint64_t)v->head->reorder, high = HUB_MIN(frame + far + 1, v->head->frames);
    const uint32_t low = (uint32_t)(frame - HUB_MIN(frame, far));
    uint32_t turn = low;
    for (uint32_t i = low; i < high; i++)
        turn += by_time(&(struct shown_frame){shown_at(v, i), i}, &own) < 0;
    return turn;
}

enum hub_status hub_mp4_still(const struct hub_video *video, uint64_t least, uint64_t few, uint64_t *turn,
                              uint64_t *bytes, struct hub_error *err)
{
    struct mp4_cut c = {.video = video, .err = err};
    const uint32_t hidden = video->head->first;
    HUB_TRY(find_wanted(&c, (uint32_t)(hidden + *turn), 1, err));
    HUB_TRY(find_key(&c, err));
    HUB_TRY(find_bytes(&c, err));
    const uint64_t key = turn_of(video, c.first);
    *bytes = SPARE_BYTES + c.length;
    if (c.length <= few || key < hidden + least || key - hidden >= *turn)
        return HUB_OK;
    *turn = key - hidden;
    *bytes = SPARE_BYTES + video->sizes[c.first];
    return HUB_OK;
}
