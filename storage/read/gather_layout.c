/* Rows that lie in the layout itself: the same element or row over and over (FILL), or rows in C order, of
 * varying length one a piece (INLINE). */
#include "storage/read/gather.h"

static void price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    const bool var = plan->variant->kind == HUB_KIND_VAR;
    const uint64_t each = var ? cut->piece->count : hub_variant_row_bytes(plan->variant);
    (void)hub_price_steps(price, 1);
    price->ns += (double)cut->count * (HUB_NS_MOVE + (double)each * HUB_NS_COPY_BYTE);
    if (var) /* checked here, so that the sum cannot overflow */
        price->bytes_out += each && cut->count > HUB_MAX_OUT / each ? HUB_MAX_OUT + 1 : cut->count * each;
}

static enum hub_status lengths(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    (void)err;
    for (uint64_t i = 0; i < cut->count; i++)
        g->offsets[hub_cut_index(cut, i) + 1] = cut->piece->count;
    return HUB_OK;
}

static void repeat_var(const struct hub_gather *g, const struct hub_cut *cut)
{
    for (uint64_t i = 0; cut->piece->count && i < cut->count; i++)
        memcpy(g->data + g->offsets[hub_cut_index(cut, i)], g->plan->layout->bytes + cut->piece->offset,
               cut->piece->count);
}

/* Rows of a fill lie together whatever the slice's direction. */
static enum hub_status gather_fill(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    (void)err;
    if (g->offsets) {
        repeat_var(g, cut);
        return HUB_OK;
    }
    const size_t item = g->plan->variant->item_size, size = cut->count * g->row_bytes;
    uint8_t *to = g->data + (cut->direction > 0 ? cut->first : cut->first - (cut->count - 1)) * g->row_bytes;
    if (cut->piece->offset == HUB_NONE) {
        memset(to, 0, size);
        return HUB_OK;
    }
    memcpy(to, g->plan->layout->bytes + cut->piece->offset, item);
    for (size_t done = item; done < size;) {
        const size_t n = HUB_MIN(done, size - done);
        memcpy(to + done, to, n);
        done += n;
    }
    return HUB_OK;
}

static enum hub_status gather_inline(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    (void)err;
    if (g->offsets) {
        repeat_var(g, cut);
        return HUB_OK;
    }
    int64_t out_stride;
    uint8_t *to = hub_cut_out(g, cut, &out_stride);
    struct hub_box box = {.rank = 1, .item = g->row_bytes};
    box.dim[0] = (struct hub_box_dim){cut->count, (int64_t)(cut->step * g->row_bytes), out_stride};
    hub_box_simplify(&box);
    hub_box_copy(&box, to, g->plan->layout->bytes + cut->piece->offset + cut->row * g->row_bytes);
    return HUB_OK;
}

const struct hub_piece_ops hub_piece_fill = {.price = price, .lengths = lengths, .gather = gather_fill};
const struct hub_piece_ops hub_piece_inline = {.price = price, .lengths = lengths, .gather = gather_inline};
