/* hub_read: where the rows go, and for rows of varying length their lengths first. */
#include "storage/read/decoded_cache.h"
#include "storage/read/gather.h"
#include "storage/read/scratch.h"

#include <inttypes.h>
#include <stdlib.h>

/* What is read between two looks at the flag. */
#define BLOCK (4 * MIB)

enum hub_status hub_gather_read(const struct hub_gather *g, struct hub_file *file, uint64_t offset, void *out,
                                size_t size, struct hub_error *err)
{
    uint8_t *to = out;
    size_t done = 0;
    do {
        if (hub_parallel_cancelled(g->parallel))
            return hub_fail(err, HUB_CANCELLED, "the request for these rows has ended");
        const size_t n = HUB_MIN(size - done, BLOCK);
        if (file->source)
            HUB_TRY(hub_fetch_copy(g->plan->files->fetch, file, offset + done, to + done, n, err));
        else
            HUB_TRY(hub_read_bytes(file, offset + done, to + done, n, g->flags, err));
        done += n;
    } while (done < size);
    return HUB_OK;
}

void hub_rows_dispose(struct hub_rows *rows)
{
    if (rows->owned)
        free(rows->data);
    free(rows->offsets);
    free(rows->valid);
    *rows = (struct hub_rows){0};
}

enum hub_status hub_rows_trim(struct hub_rows *rows, struct hub_error *err)
{
    const uint64_t row = hub_variant_row_bytes(&rows->variant);
    uint64_t *offsets = calloc((size_t)rows->rows + 1, sizeof *offsets);
    HUB_TRY(hub_allocated(offsets, err));
    for (uint64_t i = 0; i < rows->rows; i++) {
        const uint8_t *from = rows->data + i * row;
        uint64_t size = row;
        while (size && !from[size - 1])
            size--;
        memmove(rows->data + offsets[i], from, (size_t)size);
        offsets[i + 1] = offsets[i] + size;
    }
    rows->offsets = offsets;
    rows->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    return HUB_OK;
}

uint64_t hub_rows_nulls(const struct hub_rows *rows)
{
    uint64_t nulls = 0;
    const uint64_t values = rows->valid ? rows->rows * hub_variant_row_items(&rows->variant) : 0;
    for (uint64_t i = 0; i < values; i++)
        nulls += !rows->valid[i];
    return nulls;
}

/* ---- the call ---- */

static enum hub_status gather_cuts(struct hub_gather *g, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(g->plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut))
        HUB_TRY(hub_piece_ops(cut.piece)->gather(g, &cut, err));
    return HUB_OK;
}

static enum hub_status find_lengths(struct hub_gather *g, struct hub_error *err)
{
    struct hub_cuts cuts = hub_cuts_of(g->plan);
    struct hub_cut cut;
    while (hub_cuts_next(&cuts, &cut)) {
        const struct hub_piece_ops *ops = hub_piece_ops(cut.piece);
        if (!ops->lengths)
            return hub_fail(err, HUB_CORRUPT, "rows without a size");
        HUB_TRY(ops->lengths(g, &cut, err));
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
    HUB_TRY(hub_allocated(g->data, err));
    return gather_cuts(g, err);
}

static enum hub_status gather_rows(struct hub_gather *g, void *into, struct hub_error *err)
{
    const struct hub_plan *plan = g->plan;
    const uint64_t count = plan->slice.count;
    const bool var = plan->variant->kind == HUB_KIND_VAR;
    if (var)
        g->offsets = calloc(count + 1, sizeof *g->offsets);
    else
        g->data = into ? into : malloc(HUB_MAX(count * g->row_bytes, 1));
    if (var ? !g->offsets : !g->data)
        return hub_no_memory(err);
    if (!var)
        return g->row_bytes ? gather_cuts(g, err) : HUB_OK;
    g->pool = HUB_BUF_INIT(plan->bytes_out);
    return gather_var(g, err);
}

enum hub_status hub_read(const struct hub_plan *plan, unsigned flags, const struct hub_parallel *parallel,
                         void *into, struct hub_rows *out, struct hub_error *err)
{
    struct hub_gather g = {.plan = plan, .flags = flags, .parallel = parallel};
    g.row_bytes = hub_variant_row_bytes(plan->variant);
    if (plan->variant->kind == HUB_KIND_VAR)
        into = NULL;
    if (plan->held)
        hub_held_turn(plan->held);
    const enum hub_status st = gather_rows(&g, into, err);
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
