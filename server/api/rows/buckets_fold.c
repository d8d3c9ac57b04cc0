/* Curves from rows: every field is cut at buckets into blocks, which the request's helpers fold side by
 * side; each holds a block of rows, whatever the length of the episode. */
#include "server/api/rows/buckets.h"

#include "server/api/rows/row_cost.h"
#include "server/api/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_BLOCKS = 8 };
#define BLOCK_BYTES (4 * MIB)   /* of rows, at least */
#define BLOCKS_BYTES (64 * MIB) /* of all blocks together, but for the first */
#define NUMBER_BYTES 26         /* of a number in JSON, with its comma */
#define NS_VALUE 1.5            /* to fold it */
#define NS_LEAF 2000.0          /* to find one in its text */

/* ---- what it takes ---- */

/* Rows that have to be gone through: a running sum comes from the first. */
static uint64_t first_row(const struct hub_curve *curve)
{
    const struct hub_bucket_grid *g = &curve->buckets.grid;
    return curve->buckets.of == HUB_BUCKETS_SUM ? 0 : g->start;
}

static enum hub_status admit(struct hub_request *request, const struct hub_curves *c, struct hub_error *err)
{
    double us = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_curve *curve = &c->curves[i];
        if (curve->level)
            continue;
        const uint64_t first = first_row(curve), stop = curve->buckets.grid.stop;
        HUB_TRY(hub_rows_price(&curve->selected->plan, first, stop, &us, err));
        us += (double)(stop > first ? stop - first : 0) * curve->buckets.row_dims *
              (c->leaf ? NS_LEAF : NS_VALUE) / 1000;
    }
    return hub_work_admit_us(request, HUB_WORK_ROWS, us, err);
}

static uint64_t block_bytes(const struct hub_curve *curve)
{
    const struct hub_plan *plan = &curve->selected->plan;
    const uint64_t stored = hub_source_block_bytes(plan->layout, plan->array);
    const uint64_t item = HUB_MAX(plan->variant->item_size, 1U);
    return stored + stored / item * sizeof(double);
}

static uint32_t chunks(const struct hub_curve *curve, const struct hub_buckets *b)
{
    const uint64_t rows = b->grid.stop - b->grid.start;
    const uint64_t bytes = rows * HUB_MAX(hub_variant_row_bytes(curve->selected->plan.variant), UINT64_C(1));
    uint64_t n = HUB_MIN(bytes / BLOCK_BYTES + 1, (uint64_t)MOST_BLOCKS);
    n = HUB_MIN(n, BLOCKS_BYTES / block_bytes(curve) + 1);
    return b->of == HUB_BUCKETS_SUM ? 1 : (uint32_t)HUB_MIN(n, (uint64_t)HUB_MAX(b->grid.count, 1U));
}

/* Fields are folded one after the other; what comes of them stays, and is written twice, as it is and
 * packed. */
static enum hub_status reserve(struct hub_request *request, struct hub_response *response,
                               const struct hub_curves *c, struct hub_error *err)
{
    uint64_t blocks = 0, stays = 64 * KIB;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct hub_buckets *b = &c->curves[i].buckets;
        const uint64_t values = (uint64_t)c->grid.count * b->dims;
        if (!c->curves[i].level)
            blocks = HUB_MAX(blocks, chunks(&c->curves[i], b) * (block_bytes(&c->curves[i]) + sizeof *b));
        stays += values * (sizeof *b->buckets + 4 * NUMBER_BYTES) + sizeof c->curves[i];
    }
    return hub_budget_take(request->app->budget, request, response, blocks + stays, err);
}

/* ---- levels ---- */

static struct hub_window window_of(const struct hub_curve *curve)
{
    const struct hub_plan *plan = &curve->selected->plan;
    return (struct hub_window){.array = (uint32_t)(plan->array - plan->layout->arrays),
                               .first = plan->slice.start,
                               .count = curve->rows};
}

static void find_level(const struct hub_curves *c, struct hub_curve *curve)
{
    const struct hub_window window = window_of(curve);
    struct hub_kept_level *level = c->leaf ? NULL : hub_kept_level_get(curve->selected->plan.layout, &window);
    if (level && hub_kept_level_fits(level, &curve->buckets)) {
        curve->level = level;
        return;
    }
    hub_kept_level_put(level);
}

/* All rows are asked for, so that a level costs no more than they do. */
static bool makes_level(const struct hub_curves *c, const struct hub_curve *curve)
{
    const struct hub_buckets *b = &curve->buckets;
    return !c->leaf && b->of == HUB_BUCKETS_VALUE && b->row_dims <= HUB_BUCKETS_DIMS &&
           b->grid.width >= HUB_LEVEL_WIDTH && b->grid.start == 0 && b->grid.stop == curve->rows &&
           hub_level_is_worth(curve->selected->plan.layout, curve->rows, b->row_dims);
}

/* ---- one field ---- */

struct bucket_chunk {
    struct hub_buckets part;
    uint64_t leaves;
    struct hub_error err;
    enum hub_status status;
};

struct curve_fold {
    struct hub_rows_context rows;
    const struct hub_curves *curves;
    const struct hub_curve *curve;
    struct bucket_chunk *chunks;
    uint32_t count;
};

static enum hub_status open_file(void *user, uint32_t number, struct hub_file **out, struct hub_error *err)
{
    const struct curve_fold *f = user;
    const struct hub_selection *s = &f->curves->selection;
    struct hub_plan_file file = {.number = number};
    struct hub_plan_files one = {.items = &file, .count = 1};
    HUB_TRY(hub_rows_open(&f->rows, s->dataset, s->episode->part, &one, err));
    *out = file.file;
    return HUB_OK;
}

static bool nobody_waits(void *user)
{
    const struct curve_fold *f = user;
    const struct hub_parallel *parallel = f->rows.parallel;
    return parallel && parallel->cancelled && atomic_load(parallel->cancelled);
}

static enum hub_status next_block(void *user, uint64_t bytes, uint64_t memory, struct hub_error *err)
{
    (void)bytes, (void)memory;
    return nobody_waits(user) ? hub_fail(err, HUB_CANCELLED, "the request for these rows has ended") : HUB_OK;
}

static enum hub_status check_files(const struct curve_fold *f, const struct hub_plan_files *files,
                                   struct hub_error *err)
{
    const struct hub_selection *s = &f->curves->selection;
    for (uint32_t i = 0; i < files->count; i++)
        if (hub_file_unchanged(files->items[i].file, NULL))
            return hub_rows_changed(&f->rows, s->dataset->summary, err);
    return HUB_OK;
}

static enum hub_status fold_chunk(struct curve_fold *f, struct bucket_chunk *chunk)
{
    const struct hub_plan *plan = &f->curve->selected->plan;
    const struct hub_measure_host host = {
        .user = f, .open = open_file, .turn = next_block, .stops = nobody_waits};
    const struct hub_window window = window_of(f->curve);
    HUB_CLEANUP(hub_plan_files_dispose) struct hub_plan_files files = {0};
    HUB_CLEANUP(hub_source_dispose)
    struct hub_row_source source = {.host = &host,
                                    .layout = plan->layout,
                                    .files = &files,
                                    .leaf = f->curves->leaf,
                                    .end = window.first + chunk->part.grid.stop};
    HUB_TRY(hub_buckets_fold(&chunk->part, &source, &window, &chunk->err));
    chunk->leaves = source.leaves;
    return check_files(f, &files, &chunk->err);
}

static void run_chunk(void *arg, uint32_t i)
{
    struct curve_fold *f = arg;
    f->chunks[i].status = fold_chunk(f, &f->chunks[i]);
}

static void run_all(struct curve_fold *f)
{
    const struct hub_parallel *parallel = f->rows.parallel;
    if (f->count > 1 && parallel && parallel->run) {
        parallel->run(parallel->pool, run_chunk, f, f->count);
        return;
    }
    for (uint32_t i = 0; i < f->count; i++)
        run_chunk(f, i);
}

static enum hub_status join(struct curve_fold *f, struct hub_error *err)
{
    uint64_t leaves = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->chunks[i].status)
            return hub_pass(f->chunks[i].status, &f->chunks[i].err, err);
        leaves += f->chunks[i].leaves;
    }
    if (f->curves->leaf && !leaves && f->curve->buckets.grid.count)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "leaf", f->curves->leaf,
                              "no row of '%s' has a number at '%s'", f->curve->field->path, f->curves->leaf);
    return HUB_OK;
}

static enum hub_status fold(struct hub_request *request, const struct hub_curves *c,
                            const struct hub_curve *curve, struct hub_buckets *b, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct bucket_chunk *all = NULL;
    const uint32_t n = chunks(curve, b);
    HUB_TRY(hub_buckets_init(b, err));
    HUB_TRY(hub_new(&all, n, sizeof *all, err));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t from = (uint32_t)((uint64_t)b->grid.count * i / n);
        const uint32_t end = (uint32_t)((uint64_t)b->grid.count * (i + 1) / n);
        hub_buckets_part(b, from, end - from, &all[i].part);
    }
    struct curve_fold f = {hub_request_rows(request), c, curve, all, n};
    run_all(&f);
    return join(&f, err);
}

static enum hub_status fold_level(struct hub_request *request, const struct hub_curves *c,
                                  struct hub_curve *curve, struct hub_error *err)
{
    const struct hub_window window = window_of(curve);
    const uint32_t dims = curve->buckets.row_dims;
    HUB_CLEANUP(hub_buckets_dispose)
    struct hub_buckets b = {
        .grid = hub_bucket_grid_wide(0, curve->rows, HUB_LEVEL_WIDTH), .row_dims = dims, .dims = dims};
    HUB_TRY(fold(request, c, curve, &b, err));
    curve->level = hub_kept_level_add(curve->selected->plan.layout, &window, &b);
    return HUB_OK;
}

static enum hub_status fold_curve(struct hub_request *request, const struct hub_curves *c,
                                  struct hub_curve *curve, struct hub_error *err)
{
    if (!curve->level && makes_level(c, curve))
        HUB_TRY(fold_level(request, c, curve, err));
    if (!curve->level)
        return fold(request, c, curve, &curve->buckets, err);
    HUB_TRY(hub_buckets_init(&curve->buckets, err));
    hub_kept_level_take(curve->level, &curve->buckets);
    return HUB_OK;
}

enum hub_status hub_curves_fold(struct hub_request *request, struct hub_response *response,
                                struct hub_curves *c, struct hub_error *err)
{
    for (uint32_t i = 0; i < c->count; i++)
        find_level(c, &c->curves[i]);
    HUB_TRY(admit(request, c, err));
    HUB_TRY(reserve(request, response, c, err));
    for (uint32_t i = 0; i < c->count; i++)
        HUB_TRY(fold_curve(request, c, &c->curves[i], err));
    return HUB_OK;
}
