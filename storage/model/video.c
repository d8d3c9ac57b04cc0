/* Tables of videos: opened and proven. See video.h. */
#include "storage/model/video.h"

_Static_assert(sizeof(struct hub_video_head) == 96, "the tables behind it are aligned");

enum hub_status hub_video_open(const void *data, size_t size, struct hub_video *out, struct hub_error *err)
{
    const struct hub_video_head *h = data;
    if (size < sizeof *h || size > HUB_MAX_VIDEO_BYTES || h->magic != HUB_VIDEO_MAGIC)
        return hub_fail(err, HUB_CORRUPT, "not the table of a video");
    const uint64_t all = sizeof *h + (uint64_t)h->run_count * sizeof *out->runs +
                         (uint64_t)h->time_count * sizeof *out->times +
                         (uint64_t)h->shift_count * sizeof *out->shifts +
                         (uint64_t)h->frames * sizeof *out->sizes +
                         (uint64_t)h->key_count * sizeof *out->keys + h->description_size;
    if (all != size)
        return hub_fail(err, HUB_CORRUPT, "the table of a video does not have the size it states");
    out->head = h;
    out->runs = (const void *)(h + 1);
    out->times = (const void *)(out->runs + h->run_count);
    out->shifts = (const void *)(out->times + h->time_count);
    out->sizes = (const void *)(out->shifts + h->shift_count);
    out->keys = out->sizes + h->frames;
    out->description = (const char *)(out->keys + h->key_count);
    return HUB_OK;
}

static bool head_possible(const struct hub_video_head *h)
{
    return h->frames && h->frames <= HUB_MAX_VIDEO_FRAMES && h->timescale && h->run_count && h->time_count &&
           h->description_size <= HUB_MAX_VIDEO_DESCRIPTION && h->first <= h->frames &&
           h->shown <= h->frames - h->first && h->reorder <= h->frames;
}

/* Runs begin with frame 0, and each behind the one before. */
static bool begins(uint32_t i, uint32_t first, uint32_t before, uint32_t frames)
{
    return i ? first > before && first < frames : first == 0;
}

static bool runs_possible(const struct hub_video *v, uint64_t file_size)
{
    const uint32_t frames = v->head->frames, count = v->head->run_count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t first = v->runs[i].first, end = i + 1 < count ? v->runs[i + 1].first : frames;
        uint64_t at = v->runs[i].offset;
        if (!begins(i, first, i ? v->runs[i - 1].first : 0, frames) || at > file_size || end > frames)
            return false;
        for (uint32_t f = first; f < end; at += v->sizes[f++])
            if (v->sizes[f] > file_size - at)
                return false;
    }
    return true;
}

static bool times_possible(const struct hub_video *v)
{
    const uint32_t frames = v->head->frames;
    for (uint32_t i = 0; i < v->head->time_count; i++) {
        const struct hub_video_time *t = &v->times[i], *before = i ? t - 1 : t;
        const uint64_t start = before->start + (uint64_t)(t->first - before->first) * before->delta;
        if (!begins(i, t->first, before->first, frames) || t->start != (i ? start : 0))
            return false;
    }
    for (uint32_t i = 0; i < v->head->shift_count; i++)
        if (!begins(i, v->shifts[i].first, i ? v->shifts[i - 1].first : 0, frames))
            return false;
    for (uint32_t i = 0; i < v->head->key_count; i++)
        if (v->keys[i] >= frames || (i && v->keys[i] <= v->keys[i - 1]))
            return false;
    return true;
}

enum hub_status hub_video_check(const struct hub_video *video, uint64_t file_size, struct hub_error *err)
{
    if (!head_possible(video->head))
        return hub_fail(err, HUB_CORRUPT, "the table of a video with an impossible count");
    if (!runs_possible(video, file_size))
        return hub_fail(err, HUB_CORRUPT, "the table of a video with frames outside its file");
    return times_possible(video) ? HUB_OK
                                 : hub_fail(err, HUB_CORRUPT, "the table of a video with impossible times");
}
