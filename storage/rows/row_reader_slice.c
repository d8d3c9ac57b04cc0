/* Which rows of its episodes a reading has: see row_reader.h. */
#include "storage/rows/row_reader.h"

uint64_t hub_row_reader_whole(const struct hub_row_reader *r, uint32_t episode)
{
    return r->wholes ? r->wholes[episode] : r->ends[episode] - (episode ? r->ends[episode - 1] : 0);
}

/* The run of a row of the answer. */
static uint64_t run_of(const struct hub_row_reader *r, uint64_t row)
{
    uint64_t low = 0, high = r->run_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (r->runs[middle].end <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct hub_row_reader_spot hub_row_reader_spot(const struct hub_row_reader *r, uint32_t episode, uint64_t row)
{
    if (!r->runs) {
        const uint64_t begin = episode ? r->ends[episode - 1] : 0;
        return (struct hub_row_reader_spot){row - begin, r->ends[episode] - row};
    }
    const uint64_t at = run_of(r, row), begin = at ? r->runs[at - 1].end : 0;
    const struct hub_row_reader_run *run = &r->runs[at];
    return (struct hub_row_reader_spot){run->first + (row - begin) * r->stride, run->end - row};
}

enum hub_status hub_row_reader_slice(struct hub_row_reader *r, const struct hub_row_range *range,
                                     struct hub_error *err)
{
    const int64_t *start = range->has_start ? &range->start : NULL,
                  *stop = range->has_stop ? &range->stop : NULL,
                  *step = range->has_step ? &range->step : NULL;
    uint64_t all = 0;
    HUB_TRY(hub_new(&r->wholes, (size_t)r->count + 1, sizeof *r->wholes, err));
    for (uint32_t i = 0; i < r->count; i++)
        r->wholes[i] = r->ends[i] - (i ? r->ends[i - 1] : 0);
    HUB_TRY(hub_new(&r->runs, (size_t)r->count + 1, sizeof *r->runs, err));
    r->stride = range->has_step ? (uint64_t)range->step : 1;
    for (uint32_t i = 0; i < r->count; i++) {
        struct hub_slice slice;
        HUB_TRY(hub_slice_resolve(start, stop, step, r->wholes[i], &slice, err));
        all += slice.count;
        r->ends[i] = all;
        if (slice.count)
            r->runs[r->run_count++] = (struct hub_row_reader_run){slice.start, all};
    }
    return HUB_OK;
}
