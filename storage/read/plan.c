/* Slices by Python's rules, the pieces a slice falls on, the files it needs and what it will cost. */
#include "storage/read/gather.h"

#include <math.h>

#define MAX_OUT (2 * GIB)

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
        return hub_fail_as(err, HUB_INVALID, "bad-slice", "a slice's step cannot be 0");
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

static uint32_t piece_of(const struct hub_layout *layout, const struct hub_array *array, uint64_t row)
{
    uint32_t low = 0, high = array->piece_count; /* the first piece that ends behind row */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct hub_piece *p = &layout->pieces[array->first_piece + middle];
        if (p->first_row + p->rows <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct hub_cuts hub_cuts_of(const struct hub_plan *plan)
{
    const struct hub_slice *s = &plan->slice;
    struct hub_cuts cuts = {.plan = plan, .low = s->start, .step = 1};
    if (s->count > 1) {
        cuts.step = s->step < 0 ? 0 - (uint64_t)s->step : (uint64_t)s->step;
        if (s->step < 0)
            cuts.low = s->start - (s->count - 1) * cuts.step;
    }
    if (s->count)
        cuts.piece = piece_of(plan->layout, plan->array, cuts.low);
    return cuts;
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

void hub_plan_files(const struct hub_layout *layout, const struct hub_array *array,
                    const struct hub_slice *slice, uint32_t file_count, uint64_t *bitmap)
{
    const struct hub_plan plan = {.layout = layout, .array = array, .slice = *slice};
    memset(bitmap, 0, ((uint64_t)file_count + 1 + 63) / 64 * sizeof *bitmap);
    if (!slice_fits(slice, array->rows))
        return;
    struct hub_cuts cuts = hub_cuts_of(&plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        if (cut.piece->kind == HUB_PIECE_FILL || cut.piece->kind == HUB_PIECE_INLINE)
            continue;
        const uint32_t file = cut.piece->file == HUB_SIDE_FILE ? file_count : cut.piece->file;
        if (file <= file_count)
            bitmap[file / 64] |= UINT64_C(1) << file % 64;
    }
}

/* ---- the price ---- */

static uint64_t steps_of(const struct hub_plan *plan, const struct hub_cut *cut)
{
    switch (cut->piece->kind) {
    case HUB_PIECE_CHUNKED:
        return hub_chunked_count(plan, cut);
    case HUB_PIECE_EXTENTS:
        return cut->count;
    case HUB_PIECE_PAGES:
        return hub_pages_count(plan, cut);
    default:
        return 1;
    }
}

uint64_t hub_plan_steps(const struct hub_plan *plan, uint64_t limit)
{
    if (!slice_fits(&plan->slice, plan->array->rows))
        return 0;
    struct hub_cuts cuts = hub_cuts_of(plan);
    struct hub_cut cut;
    uint64_t steps = 0;
    while (steps <= limit && hub_cuts_next(&cuts, &cut))
        steps += HUB_MIN(steps_of(plan, &cut), limit + 1);
    return steps;
}

static void price_cut(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    switch (cut->piece->kind) {
    case HUB_PIECE_STRIDED:
        hub_strided_price(plan, cut, price);
        break;
    case HUB_PIECE_CHUNKED:
        hub_chunked_price(plan, cut, price);
        break;
    case HUB_PIECE_EXTENTS:
        hub_extents_price(plan, cut, price);
        break;
    case HUB_PIECE_PAGES:
        hub_pages_price(plan, cut, price);
        break;
    default: { /* FILL, INLINE */
        const uint64_t each =
            plan->variant->kind == HUB_KIND_VAR ? cut->piece->count : hub_variant_row_bytes(plan->variant);
        price->ns += (double)cut->count * (HUB_NS_MOVE + (double)each * HUB_NS_COPY_BYTE);
        if (plan->variant->kind == HUB_KIND_VAR) /* checked here, so that the sum cannot overflow */
            price->bytes_out += each && cut->count > MAX_OUT / each ? MAX_OUT + 1 : cut->count * each;
    }
    }
}

enum hub_status hub_plan_price(struct hub_plan *plan, struct hub_error *err)
{
    const struct hub_slice *s = &plan->slice;
    const bool var = plan->variant->kind == HUB_KIND_VAR;
    const uint64_t row_bytes = hub_variant_row_bytes(plan->variant);
    if (!slice_fits(s, plan->array->rows))
        return hub_fail(err, HUB_OUT_OF_RANGE, "rows beyond the end");
    /* A row without bytes counts for one, so that nobody walks 2^48 of them. */
    if (s->count > MAX_OUT / HUB_MAX(row_bytes, var ? 9 : 1))
        return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    struct hub_price price = {.ns = HUB_NS_PLAN, .bytes_out = var ? 0 : s->count * row_bytes};
    struct hub_cuts cuts = hub_cuts_of(plan);
    struct hub_cut cut;
    while ((var || row_bytes) && hub_cuts_next(&cuts, &cut)) {
        price_cut(plan, &cut, &price);
        if (price.bytes_out > MAX_OUT)
            return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    }
    plan->bytes_out = price.bytes_out;
    plan->bytes_read = price.bytes_read;
    plan->bytes_decode = price.bytes_decode;
    plan->reads = (uint32_t)HUB_MIN(price.reads, UINT32_MAX);
    plan->scratch_peak = price.scratch + (var ? (s->count + 1) * 16 : 0) +
                         (price.nulls ? s->count * hub_variant_row_items(plan->variant) : 0);
    plan->cost_us = (uint32_t)fmin(ceil(price.ns / 1000), (double)UINT32_MAX);
    return HUB_OK;
}
