/* hub_read: where the rows go, which piece kind reads them, and for rows of varying length their lengths
 * first. */
#include "storage/read/gather.h"
#include "storage/read/scratch.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is read between two looks at the flag. */
#define BLOCK (4 * MIB)

enum hub_status hub_gather_read(const struct hub_gather *g, struct hub_file *file, uint64_t offset, void *out,
                                size_t size, struct hub_error *err)
{
    const atomic_bool *cancelled = g->parallel ? g->parallel->cancelled : NULL;
    uint8_t *to = out;
    size_t done = 0;
    do {
        if (cancelled && atomic_load_explicit(cancelled, memory_order_relaxed))
            return hub_fail(err, HUB_CANCELLED, "nobody waits for these rows any more");
        const size_t n = HUB_MIN(size - done, BLOCK);
        HUB_TRY(hub_read_bytes(file, offset + done, to + done, n, g->flags, err));
        done += n;
    } while (done < size);
    return HUB_OK;
}

struct hub_file *hub_gather_file(const struct hub_gather *g, const struct hub_piece *piece)
{
    return g->plan->files[piece->file == HUB_SIDE_FILE ? g->plan->file_count : piece->file];
}

void hub_rows_dispose(struct hub_rows *rows)
{
    if (rows->owned)
        free(rows->data);
    free(rows->offsets);
    free(rows->valid);
    *rows = (struct hub_rows){0};
}

uint64_t hub_rows_nulls(const struct hub_rows *rows)
{
    uint64_t nulls = 0;
    const uint64_t values = rows->valid ? rows->rows * hub_variant_row_items(&rows->variant) : 0;
    for (uint64_t i = 0; i < values; i++)
        nulls += !rows->valid[i];
    return nulls;
}

/* ---- rows that lie in the layout itself ---- */

/* The same element over and over: rows of a fill lie together whatever the slice's direction. */
static void gather_fill(const struct hub_gather *g, const struct hub_cut *cut)
{
    const size_t item = g->plan->variant->item_size, size = cut->count * g->row_bytes;
    uint8_t *to = g->data + (cut->direction > 0 ? cut->first : cut->first - (cut->count - 1)) * g->row_bytes;
    if (cut->piece->offset == HUB_NONE) {
        memset(to, 0, size);
        return;
    }
    memcpy(to, g->plan->layout->bytes + cut->piece->offset, item);
    for (size_t done = item; done < size;) {
        const size_t n = HUB_MIN(done, size - done);
        memcpy(to + done, to, n);
        done += n;
    }
}

static void gather_inline(const struct hub_gather *g, const struct hub_cut *cut)
{
    int64_t out_stride;
    uint8_t *to = hub_cut_out(g, cut, &out_stride);
    struct hub_box box = {.rank = 1, .item = g->row_bytes};
    box.dim[0] = (struct hub_box_dim){cut->count, (int64_t)(cut->step * g->row_bytes), out_stride};
    hub_box_simplify(&box);
    hub_box_copy(&box, to, g->plan->layout->bytes + cut->piece->offset + cut->row * g->row_bytes);
}

static enum hub_status gather_fixed(struct hub_gather *g, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(g->plan);
    struct hub_cut cut;
    while (g->row_bytes && hub_cuts_next(&cuts, &cut)) {
        switch (cut.piece->kind) {
        case HUB_PIECE_STRIDED:
            HUB_TRY(hub_strided_gather(g, &cut, err));
            break;
        case HUB_PIECE_CHUNKED:
            HUB_TRY(hub_chunked_gather(g, &cut, err));
            break;
        case HUB_PIECE_EXTENTS:
            HUB_TRY(hub_extents_gather(g, &cut, err));
            break;
        case HUB_PIECE_PAGES:
            HUB_TRY(hub_pages_gather(g, &cut, err));
            break;
        case HUB_PIECE_FILL:
            gather_fill(g, &cut);
            break;
        default:
            gather_inline(g, &cut);
        }
    }
    return HUB_OK;
}

/* ---- rows of varying length ---- */

static enum hub_status find_lengths(struct hub_gather *g, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(g->plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        if (cut.piece->kind == HUB_PIECE_EXTENTS)
            hub_extents_lengths(g, &cut);
        else if (cut.piece->kind == HUB_PIECE_PAGES)
            HUB_TRY(hub_pages_gather(g, &cut, err));
        else
            for (uint64_t i = 0; i < cut.count; i++)
                g->offsets[hub_cut_index(&cut, i) + 1] = cut.piece->count;
    }
    return HUB_OK;
}

static enum hub_status fill_var(const struct hub_gather *g, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(g->plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        if (cut.piece->kind == HUB_PIECE_EXTENTS) {
            HUB_TRY(hub_extents_gather(g, &cut, err));
            continue;
        }
        for (uint64_t i = 0; i < cut.count; i++) {
            const uint64_t index = hub_cut_index(&cut, i), size = g->offsets[index + 1] - g->offsets[index];
            const uint8_t *from = cut.piece->kind == HUB_PIECE_PAGES && g->pooled
                                      ? (const uint8_t *)g->pool.data + g->pooled[index]
                                      : g->plan->layout->bytes + cut.piece->offset;
            if (size)
                memcpy(g->data + g->offsets[index], from, size);
        }
    }
    return HUB_OK;
}

/* g->data, g->offsets and g->pooled are the caller's to free, whatever happens. */
static enum hub_status gather_var(struct hub_gather *g, struct hub_error *err)
{
    const uint64_t count = g->plan->slice.count, limit = g->plan->bytes_out;
    HUB_TRY(find_lengths(g, err));
    for (uint64_t i = 0; i < count; i++) {
        if (g->offsets[i + 1] > limit - g->offsets[i])
            return hub_fail(err, HUB_TOO_BIG, "rows of more than %" PRIu64 " bytes", limit);
        g->offsets[i + 1] += g->offsets[i];
    }
    g->data = malloc(HUB_MAX(g->offsets[count], 1));
    if (!g->data)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for %" PRIu64 " bytes", g->offsets[count]);
    return fill_var(g, err);
}

/* ---- the call ---- */

/* Are there pages? Also: does a piece lie in a file that is not open? Bugs of the caller are told, not
 * hidden.
 */
static enum hub_status look_ahead(const struct hub_plan *plan, bool *pages, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        const uint32_t kind = cut.piece->kind;
        if (kind == HUB_PIECE_FILL || kind == HUB_PIECE_INLINE)
            continue;
        const uint32_t file = cut.piece->file == HUB_SIDE_FILE ? plan->file_count : cut.piece->file;
        if (file > plan->file_count || !plan->files || !plan->files[file])
            return hub_fail(err, HUB_INVALID, "file %u of the plan is not open", cut.piece->file);
        *pages = *pages || kind == HUB_PIECE_PAGES;
    }
    return HUB_OK;
}

static enum hub_status gather_rows(struct hub_gather *g, void *into, bool pages, struct hub_error *err)
{
    const struct hub_plan *plan = g->plan;
    const uint64_t count = plan->slice.count;
    const bool var = plan->variant->kind == HUB_KIND_VAR;
    if (var)
        g->offsets = calloc(count + 1, sizeof *g->offsets);
    else
        g->data = into ? into : malloc(HUB_MAX(count * g->row_bytes, 1));
    if (var && pages)
        g->pooled = malloc(HUB_MAX(count, 1) * sizeof *g->pooled);
    if ((var ? !g->offsets : !g->data) || (var && pages && !g->pooled))
        return hub_fail(err, HUB_NO_MEMORY, "no memory for %" PRIu64 " rows", count);
    if (!var)
        return gather_fixed(g, err);
    g->pool = HUB_BUF_INIT(plan->bytes_out);
    return gather_var(g, err);
}

enum hub_status hub_read(const struct hub_plan *plan, unsigned flags, const struct hub_parallel *parallel,
                         void *into, struct hub_rows *out, struct hub_error *err)
{
    struct hub_gather g = {.plan = plan, .flags = flags, .parallel = parallel};
    bool pages = false;
    HUB_TRY(look_ahead(plan, &pages, err));
    g.row_bytes = hub_variant_row_bytes(plan->variant);
    if (plan->variant->kind == HUB_KIND_VAR)
        into = NULL;
    const enum hub_status st = gather_rows(&g, into, pages, err);
    hub_buf_dispose(&g.pool);
    free(g.pooled);
    hub_scratch_trim();
    const uint64_t values = plan->slice.count * hub_variant_row_items(plan->variant);
    if (st || (g.valid && !memchr(g.valid, 0, values))) { /* rows between the wanted ones have some */
        free(g.valid);
        g.valid = NULL;
    }
    if (st) {
        free(g.offsets);
        if (g.data != into)
            free(g.data);
        return st;
    }
    *out = (struct hub_rows){.variant = *plan->variant,
                             .rows = plan->slice.count,
                             .data = g.data,
                             .offsets = g.offsets,
                             .valid = g.valid,
                             .owned = g.data != into};
    return HUB_OK;
}
