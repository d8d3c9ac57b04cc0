/* Rows with an extent each: neighbours in the file are read together, straight into place where they are
 * neighbours there too. */
#include "storage/read/gather.h"
#include "storage/read/scratch.h"

enum { BATCH = 64 };

struct extent_batch {
    const struct hub_gather *g;
    struct hub_file *file;
    uint32_t count;
    uint64_t start, end; /* in the file */
    bool straight;       /* the same distances in memory as in the file, no gaps */
    struct {
        uint64_t offset;
        uint32_t length;
        uint8_t *to;
    } item[BATCH];
};

static enum hub_status flush(struct extent_batch *b, struct hub_error *err)
{
    const uint64_t size = b->end - b->start;
    const uint32_t count = b->count;
    b->count = 0;
    if (!count || !size)
        return HUB_OK;
    if (b->straight)
        return hub_gather_read(b->g, b->file, b->start, b->item[0].to, size, err);
    uint8_t *data = hub_scratch(HUB_SCRATCH_STORED, size);
    HUB_TRY(hub_allocated(data, err));
    HUB_TRY(hub_gather_read(b->g, b->file, b->start, data, size, err));
    for (uint32_t i = 0; i < count; i++)
        memcpy(b->item[i].to, data + (b->item[i].offset - b->start), b->item[i].length);
    return HUB_OK;
}

/* May [offset, +length) join what has been collected up to `end`? */
static bool may_join(uint64_t start, uint64_t end, bool straight, uint64_t offset, uint32_t length,
                     bool adjoins)
{
    if (straight && offset == end && adjoins)
        return true;
    return offset >= end && offset - end <= HUB_READ_GAP && offset + length - start <= HUB_READ_RUN;
}

static enum hub_status add(struct extent_batch *b, const struct hub_extent *e, uint8_t *to,
                           struct hub_error *err)
{
    const bool adjoins = b->count && to == b->item[b->count - 1].to + b->item[b->count - 1].length;
    /* One long run that goes straight is not copied for the sake of a small neighbour that does not. */
    const bool joins = b->count && b->count < BATCH &&
                       may_join(b->start, b->end, b->straight, e->offset, e->length, adjoins);
    if (!joins) {
        HUB_TRY(flush(b, err));
        b->start = e->offset;
        b->straight = true;
    } else {
        b->straight = b->straight && adjoins && e->offset == b->end;
    }
    b->end = e->offset + e->length;
    b->item[b->count].offset = e->offset;
    b->item[b->count].length = e->length;
    b->item[b->count++].to = to;
    return HUB_OK;
}

static const struct hub_extent *extent_of(const struct hub_plan *plan, const struct hub_cut *cut, uint64_t i)
{
    return &plan->layout->extents[cut->piece->table + cut->row + i * cut->step];
}

static enum hub_status gather(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    struct extent_batch b;
    HUB_TRY(hub_gather_file(g, cut->piece, &b.file, err));
    b.g = g;
    b.count = 0;
    b.start = b.end = 0;
    b.straight = true;
    for (uint64_t i = 0; i < cut->count; i++) {
        const uint64_t index = hub_cut_index(cut, i);
        uint8_t *to = g->data + (g->offsets ? g->offsets[index] : index * g->row_bytes);
        HUB_TRY(add(&b, extent_of(g->plan, cut, i), to, err));
    }
    return flush(&b, err);
}

static enum hub_status lengths(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    (void)err;
    for (uint64_t i = 0; i < cut->count; i++)
        g->offsets[hub_cut_index(cut, i) + 1] = extent_of(g->plan, cut, i)->length;
    return HUB_OK;
}

static void price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    uint64_t start = 0, end = 0, reads = 0, bytes = 0, wanted = 0;
    const bool forward = cut->step == 1 && cut->direction > 0;
    if (!hub_price_steps(price, cut->count))
        return;
    for (uint64_t i = 0; i < cut->count; i++) {
        const struct hub_extent *e = extent_of(plan, cut, i);
        if (reads && i % BATCH && may_join(start, end, forward, e->offset, e->length, forward)) {
            bytes += e->offset + e->length - end;
        } else {
            reads++;
            start = e->offset;
            bytes += e->length;
        }
        end = e->offset + e->length;
        wanted += e->length;
        hub_price_want(price, cut, e->offset, e->length);
    }
    price->reads += reads;
    price->bytes_read += bytes;
    price->scratch = HUB_MAX(price->scratch, HUB_READ_RUN);
    price->ns +=
        (double)reads * HUB_NS_READ + (double)bytes * HUB_NS_READ_BYTE + (double)cut->count * HUB_NS_MOVE * 4;
    if (plan->variant->kind == HUB_KIND_VAR)
        price->bytes_out += wanted;
}

const struct hub_piece_ops hub_piece_extents = {.price = price, .lengths = lengths, .gather = gather};
