/* From the frames of a track to its frame rate, its counts and the table that cuts are made by. */
#include "storage/formats/kit/kit.h"
#include "storage/formats/mp4/boxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct table_frame {
    int64_t time;
    uint32_t frame;
};

static int by_time(const void *a, const void *b)
{
    const struct table_frame *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

/* ---- the frame rate ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* That of nearly all frames, else the mean. */
static void set_rate(const struct mp4_track *t, uint64_t units, struct hub_mp4 *out)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < t->count; i++)
        same += t->samples[i].delta == t->samples[0].delta;
    const bool regular = same >= t->count - t->count / 10;
    uint64_t num = regular ? t->timescale : (uint64_t)t->timescale * t->count,
             den = regular ? t->samples[0].delta : units;
    if (!den)
        return;
    const uint64_t common = divisor(num, den);
    for (num /= common, den /= common; num > UINT32_MAX || den > UINT32_MAX; num /= 2, den /= 2)
        ;
    out->fps_num = (uint32_t)(num && den ? num : 0);
    out->fps_den = (uint32_t)(num && den ? den : 0);
}

/* ---- what is shown ---- */

/* Store the times unless they are those of the frame rate. */
static enum hub_status keep_times(const struct table_frame *all, uint32_t count, uint32_t delta,
                                  struct hub_mp4 *out, struct hub_error *err)
{
    uint32_t i = 1;
    while (i < count && all[i].time - all[i - 1].time == delta)
        i++;
    out->times = HUB_BUF_INIT(HUB_MAX_VIDEO_FRAMES * sizeof(int64_t));
    for (uint32_t k = 0; i < count && k < count; k++)
        HUB_TRY(hub_buf_add(&out->times, &(int64_t){all[k].time - all[0].time}, sizeof(int64_t), err));
    return HUB_OK;
}

uint64_t hub_mp4_frame_at(const struct hub_mp4 *mp4, double seconds)
{
    const double rate = mp4->fps_den ? (double)mp4->fps_num / mp4->fps_den : 0;
    const int64_t *times = (const int64_t *)mp4->times.data, at = llround(seconds * mp4->timescale);
    const uint64_t count = mp4->times.size / sizeof *times;
    if (!count)
        return (uint64_t)llround(seconds * rate);
    if (at > times[count - 1])
        return count - 1 + (uint64_t)llround((double)(at - times[count - 1]) / mp4->timescale * rate);
    uint64_t low = 0, high = count - 1; /* the first that is not before it */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (times[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low && at - times[low - 1] < times[low] - at ? low - 1 : low;
}

/* The order frames are shown in, and which of them the edit list shows: `first` and `shown` of the head. */
static enum hub_status find_shown(const struct mp4_track *t, struct hub_video_head *head, struct hub_mp4 *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct table_frame *all = NULL;
    bool sorted = true;
    int64_t time = 0;
    HUB_TRY(hub_new(&all, t->count, sizeof *all, err));
    for (uint32_t i = 0; i < t->count; time += t->samples[i++].delta) {
        all[i] = (struct table_frame){time + t->samples[i].shift, i};
        sorted = sorted && (!i || all[i].time >= all[i - 1].time);
    }
    if (!sorted)
        qsort(all, t->count, sizeof *all, by_time);
    /* durations of edits are rounded to units of the movie */
    const double unit = t->movie_timescale ? (double)t->timescale / t->movie_timescale : 0;
    const double end = unit > 0 && t->edit_units ? (double)t->edit_start + ((double)t->edit_units + 1) * unit
                                                 : (double)INT64_MAX;
    for (uint32_t i = 0; i < t->count; i++) {
        const uint32_t apart = all[i].frame > i ? all[i].frame - i : i - all[i].frame;
        head->reorder = HUB_MAX(head->reorder, apart);
        head->first += all[i].time < t->edit_start;
        head->shown += all[i].time >= t->edit_start && (double)all[i].time < end;
    }
    return keep_times(all + head->first, (uint32_t)head->shown, t->samples[0].delta, out, err);
}

/* ---- the table ---- */

struct tables {
    struct hub_buf runs, times, shifts, sizes, keys;
};

static void tables_dispose(struct tables *b)
{
    hub_buf_dispose(&b->runs);
    hub_buf_dispose(&b->times);
    hub_buf_dispose(&b->shifts);
    hub_buf_dispose(&b->sizes);
    hub_buf_dispose(&b->keys);
}

static enum hub_status add_frame(const struct mp4_track *t, uint32_t i, uint64_t time, struct tables *b,
                                 struct hub_error *err)
{
    const struct mp4_sample *s = &t->samples[i], *before = i ? s - 1 : NULL;
    if (!before || before->description != s->description || before->offset + before->size != s->offset)
        HUB_TRY(hub_buf_add(&b->runs, &(struct hub_video_run){s->offset, i, s->description},
                            sizeof(struct hub_video_run), err));
    if (!before || before->delta != s->delta)
        HUB_TRY(hub_buf_add(&b->times, &(struct hub_video_time){time, i, s->delta},
                            sizeof(struct hub_video_time), err));
    if (t->shifted && (!before || before->shift != s->shift))
        HUB_TRY(hub_buf_add(&b->shifts, &(struct hub_video_shift){i, s->shift},
                            sizeof(struct hub_video_shift), err));
    if (s->key)
        HUB_TRY(hub_buf_add(&b->keys, &i, sizeof i, err));
    return hub_buf_add(&b->sizes, &s->size, sizeof s->size, err);
}

static enum hub_status join(const struct mp4_track *t, struct hub_video_head *head, struct tables *b,
                            struct hub_buf *out, struct hub_error *err)
{
    const size_t described = (size_t)(t->stsd.body.end - t->stsd.start);
    const struct hub_buf *const all[] = {&b->runs, &b->times, &b->shifts, &b->sizes, &b->keys};
    if (head->key_count == t->count)
        head->key_count = 0, b->keys.size = 0;
    head->run_count = (uint32_t)(b->runs.size / sizeof(struct hub_video_run));
    head->time_count = (uint32_t)(b->times.size / sizeof(struct hub_video_time));
    head->shift_count = (uint32_t)(b->shifts.size / sizeof(struct hub_video_shift));
    head->description_size = (uint32_t)described;
    HUB_TRY(hub_buf_add(out, head, sizeof *head, err));
    for (size_t i = 0; i < HUB_COUNT(all); i++)
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(all[i]), err));
    return hub_buf_add(out, t->stsd.start, described, err);
}

static enum hub_status make(const struct mp4_track *t, struct hub_video_head *head, struct hub_mp4 *out,
                            struct hub_error *err)
{
    HUB_CLEANUP(tables_dispose)
    struct tables b = {HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES), HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES),
                       HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES), HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES),
                       HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES)};
    struct hub_video video;
    uint64_t time = 0;
    for (uint32_t i = 0; i < t->count; time += t->samples[i++].delta)
        HUB_TRY(add_frame(t, i, time, &b, err));
    head->key_count = (uint32_t)(b.keys.size / sizeof(uint32_t));
    out->keys = head->key_count;
    if (!out->keys)
        return hub_fail(err, HUB_CORRUPT, "it has no key frame");
    out->table = HUB_BUF_INIT(HUB_MAX_VIDEO_BYTES);
    HUB_TRY(join(t, head, &b, &out->table, err));
    HUB_TRY(hub_video_open(out->table.data, out->table.size, &video, err));
    return hub_video_check(&video, t->file_size, err);
}

enum hub_status mp4_table(const struct mp4_track *t, struct hub_mp4 *out, struct hub_error *err)
{
    struct hub_video_head head = {.magic = HUB_VIDEO_MAGIC,
                                  .timescale = t->timescale,
                                  .frames = t->count,
                                  .width = t->width,
                                  .height = t->height};
    struct hub_error why = {0};
    uint64_t units = 0;
    memcpy(head.matrix, t->matrix, sizeof head.matrix);
    for (uint32_t i = 0; i < t->count; i++)
        units += t->samples[i].delta;
    out->samples = t->count;
    out->timescale = t->timescale;
    if (!t->count) {
        if (!out->problem[0])
            snprintf(out->problem, sizeof out->problem, "it has no frames");
        return HUB_OK;
    }
    set_rate(t, units, out);
    out->seconds = (double)units / t->timescale;
    if (out->problem[0])
        return HUB_OK;
    HUB_TRY(find_shown(t, &head, out, err));
    out->samples = head.shown;
    const enum hub_status st = make(t, &head, out, &why);
    if (!st)
        return HUB_OK;
    hub_buf_dispose(&out->table);
    if (st == HUB_CORRUPT)
        return hub_fail_as(err, st, HUB_PROBLEM_BAD_VIDEO, "damaged: %s", why.detail);
    if (st != HUB_TOO_BIG)
        return hub_pass(st, &why, err);
    snprintf(out->problem, sizeof out->problem,
             "it is too long: the positions of its frames take over 7 MiB");
    return HUB_OK;
}
