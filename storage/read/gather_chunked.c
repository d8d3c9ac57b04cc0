/*
 * Chunked pieces. The chunks a cut touches are numbered row by row; a range of numbers is read by one
 * thread: stored bytes of neighbours in one read, each decoded and scattered, or decoded straight into
 * place where a chunk holds whole rows. Unfiltered chunks are read only where they are wanted. Filtered
 * ones of which some rows are left are kept for who reads those next.
 */
#include "storage/codec/codec.h"
#include "storage/read/decoded_cache.h"
#include "storage/read/gather.h"
#include "storage/read/scratch.h"

#include <stdatomic.h>

enum {
    RUN_CHUNKS = 32, /* chunks of one read */
    /* an unfiltered chunk's wanted rows are read with their neighbours up to here ... */
    SMALL_SPAN = 64 * 1024,
    TINY_SPAN = 2048,        /* ... or up to here where they could be read straight into place */
    UNIT_BYTES = 256 * 1024, /* decoded bytes that are worth handing to another thread */
};

/* The chunks of a cut. */
struct chunk_cursor {
    const struct hub_plan *plan;
    const struct hub_cut *cut;
    const struct hub_grid *grid;
    const struct hub_pipeline *pipeline;
    const struct hub_chunk *chunks;
    const struct hub_variant *whole; /* of rows as they are stored */
    uint64_t chunks_per_row;         /* chunks beside each other, of one range of rows, that are wanted */
    uint64_t stored_per_row;         /* that there are */
    uint64_t first_range;            /* of chunk rows */
    uint64_t count;                  /* chunks touched */
    uint64_t element;                /* bytes from one item, or element that it is a part of, to the next */
    unsigned outer;                  /* inner axes along which elements lie; the others lie within one */
    uint64_t row_stored;             /* bytes of a row within a chunk */
    uint64_t chunk_bytes;
    uint64_t row_bytes; /* of a whole row */
    int64_t out_stride;
    uint32_t along[HUB_MAX_RANK]; /* chunks along each inner axis */
};

/* A touched chunk and what is wanted of it. */
struct visit {
    const struct hub_chunk *chunk;
    uint64_t first, count; /* rows of the cut */
    uint64_t inner_row;    /* the first one's row within the chunk */
    bool partial;          /* the chunk has other rows */
    bool goes_on;          /* they follow the last ones of the cut */
    struct hub_box box;    /* from chunk to rows, simplified */
    int64_t to;            /* where in the cut's output */
};

static void start_cursor(const struct hub_plan *plan, const struct hub_cut *cut, struct chunk_cursor *c)
{
    const struct hub_variant *v =
        plan->column ? &plan->layout->variants[plan->array->variant] : plan->variant;
    *c = (struct chunk_cursor){.plan = plan,
                               .cut = cut,
                               .grid = &plan->layout->grids[cut->piece->geometry],
                               .whole = v,
                               .stored_per_row = 1};
    c->pipeline = &plan->layout->pipelines[c->grid->pipeline];
    c->chunks = plan->layout->chunks + cut->piece->table;
    c->element = c->grid->element ? c->grid->element : v->item_size;
    c->outer = v->rank - c->grid->inner;
    c->row_stored = c->element;
    for (unsigned i = 0; i < v->rank; i++) {
        c->along[i] = (uint32_t)(((uint64_t)v->dims[i] + c->grid->chunk[i + 1] - 1) / c->grid->chunk[i + 1]);
        c->stored_per_row *= c->along[i];
        if (i < c->outer)
            c->row_stored *= c->grid->chunk[i + 1];
    }
    c->chunk_bytes = c->row_stored * c->grid->chunk[0];
    c->chunks_per_row = plan->column ? 1 : c->stored_per_row;
    c->row_bytes = hub_variant_row_bytes(plan->variant);
    c->out_stride = cut->direction * (int64_t)c->row_bytes;
    const uint64_t chunk_rows = c->grid->chunk[0], last = cut->row + (cut->count - 1) * cut->step;
    c->first_range = cut->row / chunk_rows;
    /* A step over whole chunks leaves some out: then each row has its own. */
    const uint64_t ranges = cut->step > chunk_rows ? cut->count : last / chunk_rows - c->first_range + 1;
    c->count = ranges * c->chunks_per_row;
}

uint32_t hub_array_column(const struct hub_layout *layout, const struct hub_array *array)
{
    const struct hub_variant *v = &layout->variants[array->variant];
    uint32_t wide = 0;
    if (v->rank != 1 || v->kind == HUB_KIND_VAR)
        return 0;
    for (uint32_t i = 0; i < array->piece_count; i++) {
        const struct hub_piece *p = &layout->pieces[array->first_piece + i];
        const struct hub_grid *grid = &layout->grids[p->geometry];
        if (p->kind != HUB_PIECE_CHUNKED || grid->inner || (wide && wide != grid->chunk[1]))
            return 0;
        wide = grid->chunk[1];
    }
    return wide < v->dims[0] ? wide : 0;
}

void hub_plan_column(struct hub_plan *plan, uint32_t column, struct hub_variant *narrow)
{
    const struct hub_layout *layout = plan->layout;
    const uint32_t wide = hub_array_column(layout, plan->array);
    *narrow = layout->variants[plan->array->variant];
    narrow->dims[0] = HUB_MIN(wide, narrow->dims[0] - column * wide);
    plan->variant = narrow;
    plan->column = column + 1;
}

static void find_rows(const struct chunk_cursor *c, uint64_t range, struct visit *visit, uint64_t *chunk_row)
{
    const struct hub_cut *cut = c->cut;
    const uint64_t chunk_rows = c->grid->chunk[0];
    if (cut->step > chunk_rows) {
        visit->first = range;
        visit->count = 1;
        *chunk_row = (cut->row + range * cut->step) / chunk_rows;
    } else {
        *chunk_row = c->first_range + range;
        const uint64_t low = *chunk_row * chunk_rows, high = low + chunk_rows - 1;
        visit->first = low <= cut->row ? 0 : (low - cut->row + cut->step - 1) / cut->step;
        const uint64_t last = HUB_MIN((high - cut->row) / cut->step, cut->count - 1);
        visit->count = last - visit->first + 1;
    }
    visit->inner_row = cut->row + visit->first * cut->step - *chunk_row * chunk_rows;
    visit->partial = visit->count < HUB_MIN(chunk_rows, cut->piece->rows - *chunk_row * chunk_rows);
    visit->goes_on = visit->partial &&
                     (cut->direction > 0 ? visit->first + visit->count == cut->count : visit->first == 0);
}

static void visit_chunk(const struct chunk_cursor *c, uint64_t number, struct visit *visit)
{
    const struct hub_variant *v = c->whole;
    const uint32_t column = c->plan->column;
    uint64_t chunk_row, beside = column ? column - 1 : number % c->chunks_per_row;
    find_rows(c, number / c->chunks_per_row, visit, &chunk_row);
    visit->chunk = &c->chunks[chunk_row * c->stored_per_row + beside];
    visit->to = (int64_t)visit->first * c->out_stride;
    struct hub_box *box = &visit->box;
    box->rank = v->rank + 1u;
    box->item = v->item_size;
    int64_t from = v->item_size, to = v->item_size;
    for (unsigned i = v->rank; i > 0; i--) {
        const uint32_t wide = c->grid->chunk[i], all = v->dims[i - 1];
        if (i == c->outer)
            from = (int64_t)c->element;
        const uint64_t at = beside % c->along[i - 1] * wide;
        beside /= c->along[i - 1];
        box->dim[i] = (struct hub_box_dim){HUB_MIN(wide, all - at), from, to};
        visit->to += column ? 0 : (int64_t)at * to; /* it is all of the rows that are wanted */
        from *= wide;
        to *= all;
    }
    box->dim[0] = (struct hub_box_dim){visit->count, (int64_t)(c->cut->step * c->row_stored), c->out_stride};
    hub_box_simplify(box);
}

static bool filtered(const struct chunk_cursor *c, const struct hub_chunk *chunk)
{
    const uint32_t all = (1u << c->pipeline->count) - 1;
    return (chunk->mask & all) != all;
}

/* The stored bytes that must be read for a visit. */
static void wanted_bytes(const struct chunk_cursor *c, const struct visit *visit, uint64_t *offset,
                         uint64_t *size)
{
    if (filtered(c, visit->chunk)) {
        *offset = visit->chunk->offset;
        *size = visit->chunk->size;
    } else {
        *offset = visit->chunk->offset + visit->inner_row * c->row_stored;
        *size = ((visit->count - 1) * c->cut->step + 1) * c->row_stored;
    }
}

/* Unfiltered rows that are read on their own, without being collected with their neighbours. */
static bool read_alone(const struct chunk_cursor *c, const struct visit *visit, uint64_t size)
{
    return !filtered(c, visit->chunk) && size > (visit->box.rank ? SMALL_SPAN : TINY_SPAN);
}

/* ---- reading one range of chunks ---- */

struct chunk_run {
    const struct hub_gather *g;
    const struct chunk_cursor *cursor;
    struct hub_file *file;
    uint8_t *out; /* of the cut's lowest row */
    uint32_t count;
    uint64_t start, end;
    struct visit visits[RUN_CHUNKS];
};

static void fill_absent(const struct chunk_run *run, const struct visit *visit)
{
    const struct chunk_cursor *c = run->cursor;
    if (c->grid->fill == HUB_NONE) {
        hub_box_copy(&visit->box, run->out + visit->to, NULL);
        return;
    }
    /* One element, again and again: the same box with its source standing still. */
    const struct hub_variant *v = c->plan->variant;
    struct hub_box box = {
        .rank = 1, .item = v->item_size, .dim = {{visit->box.item / v->item_size, 0, v->item_size}}};
    struct hub_box outer = visit->box;
    for (unsigned i = 0; i < outer.rank; i++)
        box.dim[i] = (struct hub_box_dim){outer.dim[i].n, 0, outer.dim[i].to};
    box.dim[outer.rank] = (struct hub_box_dim){outer.item / v->item_size, 0, v->item_size};
    box.rank = outer.rank + 1;
    hub_box_simplify(&box);
    hub_box_copy(&box, run->out + visit->to, c->plan->layout->bytes + c->grid->fill);
}

static uint64_t number_of(const struct chunk_run *run, const struct visit *visit)
{
    return (uint64_t)(visit->chunk - run->cursor->plan->layout->chunks);
}

static void take(const struct chunk_run *run, const struct visit *visit, const uint8_t *decoded)
{
    const struct chunk_cursor *c = run->cursor;
    hub_box_copy(&visit->box, run->out + visit->to, decoded + visit->inner_row * c->row_stored + c->grid->at);
}

static enum hub_status decode(const struct chunk_run *run, const struct visit *visit, const uint8_t *stored,
                              uint8_t *decoded, struct hub_error *err)
{
    const struct chunk_cursor *c = run->cursor;
    const uint64_t half = HUB_MAX(c->chunk_bytes, visit->chunk->size) + 64;
    uint8_t *filter = hub_scratch(HUB_SCRATCH_FILTER, 2 * half);
    HUB_TRY(hub_allocated(filter && decoded, err));
    return hub_chunk_decode(c->pipeline, visit->chunk->mask,
                            (struct hub_view){(const char *)stored, visit->chunk->size}, decoded,
                            c->chunk_bytes, filter, err);
}

/* Its other rows are wanted too, in all likelihood: by the next block, or the next slice. */
static enum hub_status decode_and_keep(const struct chunk_run *run, const struct visit *visit,
                                       const uint8_t *stored, struct hub_decoded *made, struct hub_error *err)
{
    const enum hub_status st = decode(run, visit, stored, made->data, err);
    if (!st) {
        take(run, visit, made->data);
        made = hub_decoded_add(run->g->plan, made);
        if (visit->goes_on)
            hub_decoded_hold(run->g->plan, made);
    }
    hub_decoded_put(made);
    return st;
}

static enum hub_status scatter(const struct chunk_run *run, const struct visit *visit, const uint8_t *stored,
                               struct hub_error *err)
{
    const struct chunk_cursor *c = run->cursor;
    uint8_t *to = run->out + visit->to;
    if (!filtered(c, visit->chunk)) { /* the bytes read begin at the first wanted row */
        hub_box_copy(&visit->box, to, stored + c->grid->at);
        return HUB_OK;
    }
    if (visit->box.rank == 0 && visit->box.item == c->chunk_bytes)
        return decode(run, visit, stored, to, err);
    struct hub_decoded *made =
        visit->partial ? hub_decoded_new(c->plan, HUB_DECODED_CHUNK, number_of(run, visit), c->chunk_bytes)
                       : NULL;
    if (made)
        return decode_and_keep(run, visit, stored, made, err);
    uint8_t *decoded = hub_scratch(HUB_SCRATCH_DECODED, c->chunk_bytes);
    HUB_TRY(decode(run, visit, stored, decoded, err));
    take(run, visit, decoded);
    return HUB_OK;
}

/* true: it is kept from a read before. */
static bool take_decoded(const struct chunk_run *run, const struct visit *visit)
{
    if (!filtered(run->cursor, visit->chunk))
        return false;
    struct hub_decoded *cached = hub_decoded_get(run->cursor->plan, HUB_DECODED_CHUNK, number_of(run, visit));
    if (cached)
        take(run, visit, cached->data);
    if (visit->goes_on)
        hub_decoded_hold(run->cursor->plan, cached);
    hub_decoded_put(cached);
    return cached;
}

static enum hub_status flush(struct chunk_run *run, struct hub_error *err)
{
    const uint64_t size = run->end - run->start;
    const uint32_t count = run->count;
    run->count = 0;
    if (!count)
        return HUB_OK;
    uint8_t *stored = hub_scratch(HUB_SCRATCH_STORED, size);
    HUB_TRY(hub_allocated(stored, err));
    HUB_TRY(hub_gather_read(run->g, run->file, run->start, stored, size, err));
    for (uint32_t i = 0; i < count; i++) {
        const struct visit *visit = &run->visits[i];
        uint64_t offset, wanted;
        wanted_bytes(run->cursor, visit, &offset, &wanted);
        HUB_TRY(scatter(run, visit, stored + (offset - run->start), err));
    }
    return HUB_OK;
}

static enum hub_status read_range(struct chunk_run *run, uint64_t from, uint64_t to, struct hub_error *err)
{
    const struct chunk_cursor *c = run->cursor;
    run->count = 0;
    for (uint64_t number = from; number < to; number++) {
        struct visit *visit = &run->visits[run->count];
        uint64_t offset, size;
        visit_chunk(c, number, visit);
        if (visit->chunk->offset == HUB_ABSENT) {
            fill_absent(run, visit);
            continue;
        }
        if (take_decoded(run, visit))
            continue;
        wanted_bytes(c, visit, &offset, &size);
        if (read_alone(c, visit, size)) {
            /* The slot is written again by the next visit, so this one is read first; its neighbours stay
             * collected. */
            HUB_TRY(hub_box_read(run->g, run->file, offset + c->grid->at, &visit->box, run->out + visit->to,
                                 err));
            continue;
        }
        const bool joins = run->count && run->count < RUN_CHUNKS && offset >= run->end &&
                           offset - run->end <= HUB_READ_GAP && offset + size - run->start <= HUB_READ_RUN;
        if (!joins && run->count) {
            const struct visit own = *visit;
            HUB_TRY(flush(run, err));
            run->visits[0] = own;
        }
        if (!run->count)
            run->start = offset;
        run->end = offset + size;
        if (++run->count == RUN_CHUNKS)
            HUB_TRY(flush(run, err));
    }
    return flush(run, err);
}

/* ---- on several threads ---- */

struct parallel_chunks {
    const struct hub_gather *g;
    const struct chunk_cursor *cursor;
    struct hub_file *file;
    uint64_t chunks_each;
    uint8_t *out;
    atomic_int status; /* the first failure's */
    struct hub_error *err;
};

static void run_unit(void *arg, uint32_t unit)
{
    struct parallel_chunks *shared = arg;
    if (atomic_load_explicit(&shared->status, memory_order_relaxed))
        return;
    struct chunk_run run;
    run.g = shared->g;
    run.cursor = shared->cursor;
    run.out = shared->out;
    run.count = 0;
    run.start = run.end = 0;
    run.file = shared->file;
    struct hub_error err;
    const uint64_t from = unit * shared->chunks_each,
                   to = HUB_MIN(from + shared->chunks_each, shared->cursor->count);
    const enum hub_status st = read_range(&run, from, to, &err);
    int none = HUB_OK;
    if (st && atomic_compare_exchange_strong(&shared->status, &none, (int)st) && shared->err)
        *shared->err = err;
    hub_scratch_trim();
}

static enum hub_status gather(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    struct chunk_cursor cursor;
    start_cursor(g->plan, cut, &cursor);
    int64_t stride;
    struct parallel_chunks shared = {
        .g = g, .cursor = &cursor, .err = err, .out = hub_cut_out(g, cut, &stride)};
    HUB_TRY(hub_gather_file(g, cut->piece, &shared.file, err));
    const uint64_t per = HUB_MAX(UNIT_BYTES / HUB_MAX(cursor.chunk_bytes, 1), 1);
    const uint64_t units = (cursor.count + per - 1) / per;
    if (!g->parallel || !g->parallel->run || !cursor.pipeline->count || units < 2 || units > UINT32_MAX) {
        shared.chunks_each = cursor.count;
        run_unit(&shared, 0);
    } else {
        shared.chunks_each = per;
        g->parallel->run(g->parallel->pool, run_unit, &shared, (uint32_t)units);
    }
    return (enum hub_status)atomic_load(&shared.status);
}

/* ---- the price ---- */

static double decode_ns(const struct chunk_cursor *c, const struct hub_chunk *chunk)
{
    double ns = 0;
    for (uint32_t i = 0; i < c->pipeline->count; i++) {
        if (chunk->mask >> i & 1)
            continue;
        const struct hub_filter_kind *kind = hub_filter_find(c->pipeline->filters[i].id);
        if (kind)
            ns += (double)c->chunk_bytes * kind->ns_byte + (double)chunk->size * kind->ns_stored;
    }
    return ns;
}

static void price(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price)
{
    struct chunk_cursor c;
    start_cursor(plan, cut, &c);
    uint64_t end = 0, start = 0, collected = 0, stored = 0;
    if (!hub_price_steps(price, c.count))
        return;
    for (uint64_t number = 0; number < c.count; number++) {
        struct visit visit;
        uint64_t offset, size;
        visit_chunk(&c, number, &visit);
        price->ns += HUB_NS_CHUNK;
        price->ns +=
            (double)hub_box_moves(&visit.box) * (HUB_NS_MOVE + (double)visit.box.item * HUB_NS_COPY_BYTE);
        if (visit.chunk->offset == HUB_ABSENT)
            continue;
        wanted_bytes(&c, &visit, &offset, &size);
        if (filtered(&c, visit.chunk)) {
            price->bytes_decode += c.chunk_bytes;
            price->ns += decode_ns(&c, visit.chunk);
        } else if (read_alone(&c, &visit, size)) {
            hub_box_price(cut, &visit.box, offset + c.grid->at, price);
            continue;
        }
        hub_price_want(price, cut, offset, size);
        const bool joins = collected && collected < RUN_CHUNKS && offset >= end &&
                           offset - end <= HUB_READ_GAP && offset + size - start <= HUB_READ_RUN;
        if (!joins) {
            price->reads++;
            price->ns += HUB_NS_READ;
            start = offset;
            collected = 0;
        }
        collected++;
        price->bytes_read += joins ? offset + size - end : size;
        price->ns += (double)size * HUB_NS_READ_BYTE;
        end = offset + size;
        stored = HUB_MAX(stored, HUB_MAX(size, HUB_READ_RUN));
    }
    const uint64_t decode =
        price->bytes_decode ? c.chunk_bytes + 2 * (HUB_MAX(c.chunk_bytes, stored) + 64) : 0;
    price->scratch = HUB_MAX(price->scratch, stored + decode);
}

static uint64_t together(const struct hub_layout *layout, const struct hub_variant *variant,
                         const struct hub_piece *piece, uint64_t row)
{
    const struct hub_grid *grid = &layout->grids[piece->geometry];
    if (layout->pipelines[grid->pipeline].count)
        return (row / grid->chunk[0] + 1) * grid->chunk[0];
    return row + 1 + HUB_READ_GAP / HUB_MAX(hub_variant_row_bytes(variant), 1);
}

const struct hub_piece_ops hub_piece_chunked = {.price = price, .gather = gather, .together = together};
