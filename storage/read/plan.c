/* Slices by Python's rules, the pieces a slice falls on, and the walk over them that finds its price and its
 * files. */
#include "storage/base/order.h"
#include "storage/read/gather.h"

#include <math.h>
#include <stdlib.h>

/* ---- slices ---- */

/* A bound as Python's slice.indices clamps it: rows is at most 2^48, so nothing overflows. */
static int64_t clamp(int64_t bound, int64_t rows, bool down)
{
    const int64_t low = down ? -1 : 0, high = down ? rows - 1 : rows;
    if (bound < 0)
        bound = bound < -rows ? -1 : bound + rows;
    return HUB_MAX(low, HUB_MIN(bound, high));
}

enum hub_status hub_slice_resolve(const int64_t *start, const int64_t *stop, const int64_t *step,
                                  uint64_t rows, struct hub_slice *out, struct hub_error *err)
{
    const int64_t by = step ? *step : 1, n = (int64_t)HUB_MIN(rows, INT64_MAX / 2);
    if (by == 0)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_SLICE, "step", "0",
                              "a slice's step is a whole number other than 0");
    const bool down = by < 0;
    const int64_t from = start ? clamp(*start, n, down) : down ? n - 1 : 0;
    const int64_t to = stop ? clamp(*stop, n, down) : down ? -1 : n;
    const uint64_t distance =
        down ? (from > to ? (uint64_t)(from - to) : 0) : (to > from ? (uint64_t)(to - from) : 0);
    const uint64_t stride = down ? 0 - (uint64_t)by : (uint64_t)by;
    *out = (struct hub_slice){.start = distance ? (uint64_t)from : 0,
                              .count = distance ? (distance - 1) / stride + 1 : 0,
                              .step = by};
    return HUB_OK;
}

void hub_slice_within(struct hub_slice *slice, uint64_t rows)
{
    if (slice->count && slice->start >= rows) { /* those beyond come first, or are all */
        const uint64_t stride = 0 - (uint64_t)slice->step;
        const uint64_t beyond = slice->step > 0 ? slice->count : (slice->start - rows) / stride + 1;
        const uint64_t skipped = HUB_MIN(beyond, slice->count);
        slice->count -= skipped;
        slice->start -= slice->count ? skipped * stride : slice->start;
    } else if (slice->count && slice->step > 0) {
        slice->count = HUB_MIN(slice->count, (rows - 1 - slice->start) / (uint64_t)slice->step + 1);
    }
}

static bool slice_fits(const struct hub_slice *s, uint64_t rows)
{
    if (s->count == 0)
        return true;
    if (s->step == 0 || s->start >= rows)
        return false;
    const uint64_t stride = s->step < 0 ? 0 - (uint64_t)s->step : (uint64_t)s->step;
    const uint64_t room = s->step < 0 ? s->start : rows - 1 - s->start;
    return s->count - 1 <= room / stride;
}

/* ---- cuts ---- */

static int by_end(const void *row, const void *piece)
{
    const struct hub_piece *p = piece;
    return p->first_row + p->rows <= *(const uint64_t *)row ? 1 : -1;
}

/* The first piece that ends behind the row. */
static uint32_t piece_at(const struct hub_layout *layout, const struct hub_array *array, uint64_t row)
{
    return hub_lower_bound(&row, layout->pieces + array->first_piece, array->piece_count,
                           sizeof *layout->pieces, by_end);
}

const struct hub_piece *hub_piece_of(const struct hub_layout *layout, const struct hub_array *array,
                                     uint64_t row)
{
    return &layout->pieces[array->first_piece + piece_at(layout, array, row)];
}

static uint64_t stride_of(const struct hub_slice *s)
{
    return s->count < 2 ? 1 : s->step < 0 ? 0 - (uint64_t)s->step : (uint64_t)s->step;
}

static uint64_t lowest(const struct hub_slice *s)
{
    return s->step < 0 && s->count ? s->start - (s->count - 1) * stride_of(s) : s->start;
}

struct hub_cuts hub_cuts_of(const struct hub_plan *plan)
{
    return (struct hub_cuts){
        .plan = plan, .low = lowest(&plan->slice), .step = stride_of(&plan->slice), .piece = plan->piece};
}

bool hub_cuts_next(struct hub_cuts *cuts, struct hub_cut *out)
{
    const struct hub_plan *plan = cuts->plan;
    const uint64_t count = plan->slice.count;
    if (cuts->done >= count)
        return false;
    const uint64_t row = cuts->low + cuts->done * cuts->step;
    if (cuts->done)
        while (plan->layout->pieces[plan->array->first_piece + cuts->piece].first_row +
                   plan->layout->pieces[plan->array->first_piece + cuts->piece].rows <=
               row)
            cuts->piece++;
    const struct hub_piece *piece = &plan->layout->pieces[plan->array->first_piece + cuts->piece];
    const uint64_t inside = (piece->first_row + piece->rows - 1 - row) / cuts->step + 1;
    const bool down = plan->slice.step < 0 && count > 1;
    *out = (struct hub_cut){
        .piece = piece, .row = row - piece->first_row, .step = cuts->step, .direction = down ? -1 : 1};
    out->count = HUB_MIN(inside, count - cuts->done);
    if (out->count == 1)
        out->step = 1;
    out->first = down ? count - 1 - cuts->done : cuts->done;
    cuts->done += out->count;
    return true;
}

/* ---- files ---- */

/* Where a number stands in the list, or would. */
static uint32_t lower_bound_file(const struct hub_plan_files *files, uint32_t number)
{
    return hub_lower_bound(&number, files->items, files->count, sizeof *files->items, hub_by_u32);
}

static enum hub_status note_file(struct hub_plan_files *files, uint32_t number, struct hub_error *err)
{
    const uint32_t at = lower_bound_file(files, number);
    if (at < files->count && files->items[at].number == number)
        return HUB_OK;
    HUB_TRY(hub_grow(&files->items, files->count, &files->capacity, sizeof *files->items, err));
    memmove(&files->items[at + 1], &files->items[at], (files->count - at) * sizeof *files->items);
    files->items[at] = (struct hub_plan_file){.number = number};
    files->count++;
    return HUB_OK;
}

struct hub_file *hub_plan_files_get(const struct hub_plan_files *files, uint32_t number)
{
    const uint32_t at = files ? lower_bound_file(files, number) : 0;
    return files && at < files->count && files->items[at].number == number ? files->items[at].file : NULL;
}

enum hub_status hub_gather_file(const struct hub_gather *g, const struct hub_piece *piece,
                                struct hub_file **out, struct hub_error *err)
{
    struct hub_file *file = hub_plan_files_get(g->plan->files, piece->file);
    if (!file)
        return hub_fail(err, HUB_INVALID, "file %u of the plan is not open", piece->file);
    *out = file;
    return HUB_OK;
}

void hub_plan_files_close(struct hub_plan_files *files)
{
    for (uint32_t i = 0; i < files->count; i++) {
        hub_file_put(files->items[i].file);
        files->items[i].file = NULL;
    }
}

void hub_plan_files_dispose(struct hub_plan_files *files)
{
    hub_plan_files_close(files);
    free(files->items);
    *files = (struct hub_plan_files){0};
}

/* ---- the price ---- */

const struct hub_piece_ops *hub_piece_ops(const struct hub_piece *piece)
{
    static const struct hub_piece_ops *const kinds[HUB_PIECE_KIND_COUNT] = {
        [HUB_PIECE_STRIDED] = &hub_piece_strided, [HUB_PIECE_CHUNKED] = &hub_piece_chunked,
        [HUB_PIECE_EXTENTS] = &hub_piece_extents, [HUB_PIECE_PAGES] = &hub_piece_pages,
        [HUB_PIECE_FILL] = &hub_piece_fill,       [HUB_PIECE_INLINE] = &hub_piece_inline,
    };
    return kinds[piece->kind];
}

static enum hub_status walk(struct hub_plan *plan, struct hub_price *price, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        const struct hub_piece_ops *ops = hub_piece_ops(cut.piece);
        if (plan->files && hub_piece_in_file(cut.piece))
            HUB_TRY(note_file(plan->files, cut.piece->file, err));
        ops->price(plan, &cut, price);
        if (price->status)
            return hub_fail(err, price->status, "no memory for the list of bytes to fetch");
        if (price->steps >= price->limit)
            return HUB_AGAIN;
        if (price->bytes_out > HUB_MAX_OUT)
            return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    }
    return HUB_OK;
}

enum hub_status hub_plan_price(struct hub_plan *plan, struct hub_error *err)
{
    const struct hub_slice *s = &plan->slice;
    const bool var = plan->variant->kind == HUB_KIND_VAR;
    const uint64_t row_bytes = hub_variant_row_bytes(plan->variant);
    if (!slice_fits(s, plan->array->rows))
        return hub_fail(err, HUB_OUT_OF_RANGE, "rows beyond the end");
    /* A row without bytes counts for one, so that nobody walks 2^48 of them. */
    if (s->count > HUB_MAX_OUT / HUB_MAX(row_bytes, var ? 9 : 1))
        return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    struct hub_price price = {.ns = HUB_NS_PLAN,
                              .bytes_out = var ? 0 : s->count * row_bytes,
                              .limit = plan->step_limit ? plan->step_limit : UINT64_MAX,
                              .wants = plan->files ? plan->files->wants : NULL};
    plan->piece = s->count ? piece_at(plan->layout, plan->array, lowest(s)) : 0;
    if (var || row_bytes)
        HUB_TRY(walk(plan, &price, err));
    plan->steps = price.steps;
    plan->bytes_out = price.bytes_out;
    plan->bytes_read = price.bytes_read;
    plan->bytes_decode = price.bytes_decode;
    plan->nulls = price.nulls;
    plan->reads = (uint32_t)HUB_MIN(price.reads, UINT32_MAX);
    plan->scratch_peak = price.scratch + (var ? (s->count + 1) * 16 : 0) +
                         (price.nulls ? s->count * hub_variant_row_items(plan->variant) : 0);
    plan->cost_us = (uint32_t)fmin(ceil(price.ns / 1000), (double)UINT32_MAX);
    return HUB_OK;
}
