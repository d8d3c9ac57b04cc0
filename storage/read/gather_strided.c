/*
 * Strided pieces. Rows that lie together are read in place; otherwise the file's axes are sorted by stride,
 * the inner ones whose gaps are small are read as one span and scattered, and the others are walked, one read
 * each. So C order, Fortran order, compound members and reversed axes are all the same case.
 */
#include "storage/read/gather.h"
#include "storage/read/scratch.h"

enum { ALONE = 8192 }; /* from this size on an element run is read where it goes: cheaper than copying it */

/* How a box is read. The outer axes are walked; of the axis `tiled` (of inner) `tile` are read at a time. */
struct box_reader {
    struct hub_box inner;                       /* what one read covers, with its axes in the box's order */
    struct hub_box_dim outer[HUB_MAX_RANK + 2]; /* walked, any order */
    unsigned outer_rank;
    uint64_t span; /* bytes of one read; the last tile may need less */
    uint64_t tile, tile_total, tile_last_span;
    int tiled; /* axis of inner, or -1 */
};

static uint64_t width_of(int64_t stride)
{
    return stride < 0 ? (uint64_t)-stride : (uint64_t)stride;
}

/* Take the axes in, smallest stride first, while their gaps are worth reading over. Returns the axes taken as
 * bits. */
static unsigned take_axes(const struct hub_box *box, struct box_reader *r, int *tiled_axis)
{
    unsigned taken = 0;
    *tiled_axis = -1;
    r->span = box->item;
    while (box->item < ALONE && *tiled_axis < 0) {
        int next = -1;
        for (unsigned i = 0; i < box->rank; i++)
            if (!(taken >> i & 1) && (next < 0 || width_of(box->dim[i].from) < width_of(box->dim[next].from)))
                next = (int)i;
        if (next < 0)
            break;
        const uint64_t stride = width_of(box->dim[next].from), n = box->dim[next].n;
        if (stride > r->span + HUB_READ_GAP)
            break;
        taken |= 1u << next;
        if (stride && n - 1 > (HUB_READ_RUN - HUB_MIN(r->span, HUB_READ_RUN)) / stride) {
            r->tile = (HUB_READ_RUN - HUB_MIN(r->span, HUB_READ_RUN)) / stride + 1;
            r->tile_total = n;
            r->tile_last_span = r->span + ((n - 1) % r->tile) * stride;
            r->span += (r->tile - 1) * stride;
            *tiled_axis = next;
        } else {
            r->span += (n - 1) * stride;
        }
    }
    return taken;
}

static void plan_reading(const struct hub_box *box, struct box_reader *r)
{
    int tiled_axis;
    *r = (struct box_reader){.inner.item = box->item, .tiled = -1, .tile = 1, .tile_total = 1};
    const unsigned taken = take_axes(box, r, &tiled_axis);
    for (unsigned i = 0; i < box->rank; i++) {
        if (!(taken >> i & 1)) {
            r->outer[r->outer_rank++] = box->dim[i];
            continue;
        }
        if ((int)i == tiled_axis)
            r->tiled = (int)r->inner.rank;
        r->inner.dim[r->inner.rank++] = box->dim[i];
    }
}

/* One read at `offset` (of its first element) and its scatter. */
static enum hub_status read_span(const struct hub_gather *g, struct hub_file *file, uint64_t offset,
                                 const struct hub_box *inner, uint64_t span, uint8_t *to,
                                 struct hub_error *err)
{
    if (!inner->rank)
        return hub_gather_read(g, file, offset, to, inner->item, err);
    uint64_t low = 0;
    for (unsigned i = 0; i < inner->rank; i++)
        if (inner->dim[i].from < 0)
            low += (inner->dim[i].n - 1) * width_of(inner->dim[i].from);
    uint8_t *data = hub_scratch(HUB_SCRATCH_STORED, span);
    HUB_TRY(hub_allocated(data, err));
    HUB_TRY(hub_gather_read(g, file, offset - low, data, span, err));
    struct hub_box box = *inner;
    hub_box_simplify(&box);
    hub_box_copy(&box, to, data + low);
    return HUB_OK;
}

static enum hub_status read_tiles(const struct hub_gather *g, struct hub_file *file, uint64_t offset,
                                  const struct box_reader *r, uint8_t *to, struct hub_error *err)
{
    if (r->tiled < 0)
        return read_span(g, file, offset, &r->inner, r->span, to, err);
    struct hub_box inner = r->inner;
    struct hub_box_dim *dim = &inner.dim[r->tiled];
    const struct hub_box_dim whole = *dim;
    for (uint64_t at = 0; at < r->tile_total; at += r->tile) {
        dim->n = HUB_MIN(r->tile, r->tile_total - at);
        const uint64_t span = at + r->tile < r->tile_total ? r->span : r->tile_last_span;
        HUB_TRY(read_span(g, file, offset + at * (uint64_t)whole.from, &inner, span,
                          to + (int64_t)at * whole.to, err));
    }
    return HUB_OK;
}

/* On to the next of the outer axes; false: that was the last. */
static inline bool turn(const struct box_reader *r, uint64_t *at, uint64_t *offset, uint8_t **to)
{
    for (unsigned i = r->outer_rank; i > 0;) {
        const struct hub_box_dim *dim = &r->outer[--i];
        *offset += (uint64_t)dim->from;
        *to += dim->to;
        if (++at[i] < dim->n)
            return true;
        at[i] = 0;
        *offset -= (uint64_t)dim->from * dim->n;
        *to -= dim->to * (int64_t)dim->n;
    }
    return false;
}

enum hub_status hub_box_read(const struct hub_gather *g, struct hub_file *file, uint64_t offset,
                             const struct hub_box *box, uint8_t *to, struct hub_error *err)
{
    struct box_reader r;
    uint64_t at[HUB_MAX_RANK + 2] = {0};
    for (unsigned i = 0; i < box->rank; i++)
        if (!box->dim[i].n)
            return HUB_OK;
    plan_reading(box, &r);
    do
        HUB_TRY(read_tiles(g, file, offset, &r, to, err));
    while (turn(&r, at, &offset, &to));
    return HUB_OK;
}

/* Tiles follow each other so closely that they are fetched as one. */
static void want_reads(const struct hub_cut *cut, const struct box_reader *r, uint64_t offset,
                       struct hub_price *price)
{
    uint64_t at[HUB_MAX_RANK + 2] = {0}, low = 0, size = r->inner.item;
    uint8_t *nowhere = NULL;
    for (unsigned i = 0; i < r->inner.rank; i++) {
        const struct hub_box_dim *dim = &r->inner.dim[i];
        size += (dim->n - 1) * width_of(dim->from);
        low += dim->from < 0 ? (dim->n - 1) * width_of(dim->from) : 0;
    }
    do
        hub_price_want(price, cut, offset - low, size);
    while (turn(r, at, &offset, &nowhere));
}

void hub_box_price(const struct hub_cut *cut, const struct hub_box *box, uint64_t offset,
                   struct hub_price *price)
{
    struct box_reader r;
    plan_reading(box, &r);
    const uint64_t tiles = (r.tile_total + r.tile - 1) / r.tile;
    double reads = (double)tiles;
    for (unsigned i = 0; i < r.outer_rank; i++)
        reads *= (double)r.outer[i].n;
    const double bytes = reads * (double)r.span, moved = (double)hub_box_moves(box);
    price->reads += (uint64_t)reads;
    price->bytes_read += (uint64_t)bytes;
    price->ns += reads * HUB_NS_READ + bytes * HUB_NS_READ_BYTE;
    if (r.inner.rank) {
        price->scratch = HUB_MAX(price->scratch, r.span);
        price->ns += moved * (HUB_NS_MOVE + (double)box->item * HUB_NS_COPY_BYTE);
    }
    if (price->wants && moved > 0)
        want_reads(cut, &r, offset, price);
}

static struct hub_box box_of(const struct hub_plan *plan, const struct hub_cut *cut, int64_t out_stride)
{
    const struct hub_variant *v = plan->variant;
    const struct hub_piece *p = cut->piece;
    struct hub_box box = {.rank = v->rank + 1u, .item = v->item_size};
    int64_t stride = v->item_size;
    for (unsigned i = v->rank; i > 0; i--) {
        const int64_t from = p->geometry == HUB_NONE ? stride : plan->layout->strides[p->geometry + i - 1];
        box.dim[i] = (struct hub_box_dim){v->dims[i - 1], from, stride};
        stride *= v->dims[i - 1];
    }
    box.dim[0] = (struct hub_box_dim){cut->count, (int64_t)((uint64_t)p->row_stride * cut->step), out_stride};
    hub_box_simplify(&box);
    return box;
}

/* Of the lowest row. */
static uint64_t offset_of(const struct hub_cut *cut)
{
    return cut->piece->offset + cut->row * (uint64_t)cut->piece->row_stride;
}

static enum hub_status gather(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    int64_t out_stride;
    uint8_t *to = hub_cut_out(g, cut, &out_stride);
    const struct hub_box box = box_of(g->plan, cut, out_stride);
    struct hub_file *file;
    HUB_TRY(hub_gather_file(g, cut->piece, &file, err));
    return hub_box_read(g, file, offset_of(cut), &box, to, err);
}

static void price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    const struct hub_box box =
        box_of(plan, cut, cut->direction * (int64_t)hub_variant_row_bytes(plan->variant));
    if (hub_price_steps(price, 1))
        hub_box_price(cut, &box, offset_of(cut), price);
}

const struct hub_piece_ops hub_piece_strided = {.price = price, .gather = gather};
