/*
 * Parts are sorted by array and row; those that overlap, share a chunk or page, or lie so close that
 * reading over what is between them is cheaper than another read, are read as one run of rows and copied to
 * their places. A long run is cut where no chunk or page is.
 */
#include "storage/read/scatter.h"

#include "storage/base/order.h"
#include "storage/read/gather.h"

enum { UNITS = 4, UNIT_NS = 200 * 1000 }; /* threads that read at once, and what is worth another one */
#define RUN_BYTES (1 * MIB)               /* of a run that several parts share */

/* Rows of one array that are read together, and the parts that have some of them. */
struct hub_scatter_span {
    struct hub_plan plan;
    const struct hub_scatter_part *parts;
    uint32_t count;
};

void hub_scatter_dispose(struct hub_scatter *many)
{
    free(many->runs);
    many->runs = NULL;
    many->run_count = 0;
}

/* ---- runs ---- */

static int by_position(const void *a_, const void *b_)
{
    const struct hub_scatter_part *a = a_, *b = b_;
    if (a->array != b->array)
        return (uintptr_t)a->array < (uintptr_t)b->array ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static uint64_t end_of(const struct hub_scatter_part *part)
{
    return part->first + part->count;
}

/* The first row behind those that are decoded with this one, or better read with it than later. */
static uint64_t reach(const struct hub_scatter_part *part, uint64_t row)
{
    const struct hub_layout *layout = part->layout;
    const struct hub_piece *piece = hub_piece_of(layout, part->array, row);
    const struct hub_variant *variant = &layout->variants[part->array->variant];
    const struct hub_piece_ops *ops = hub_piece_ops(piece);
    const uint64_t within = row - piece->first_row, row_bytes = hub_variant_row_bytes(variant);
    const uint64_t behind = ops->together ? ops->together(layout, variant, piece, within)
                                          : within + 1 + (row_bytes ? HUB_READ_GAP / row_bytes : 0);
    return piece->first_row + HUB_MIN(HUB_MAX(behind, within + 1), piece->rows);
}

struct scatter_sums {
    uint64_t temporary, scratch; /* of the largest run */
    uint64_t kept;               /* of all runs whose rows are kept until the last is read */
    bool nulls;
};

static enum hub_status price_plan(struct hub_plan *plan, const struct hub_scatter_part *part, uint64_t first,
                                  uint64_t count, struct hub_plan_files *files, struct hub_error *err)
{
    *plan = (struct hub_plan){.layout = part->layout,
                              .array = part->array,
                              .variant = &part->layout->variants[part->array->variant],
                              .files = files,
                              .slice = {first, count, 1}};
    return hub_plan_price(plan, err);
}

static enum hub_status add_run(struct hub_scatter *many, uint32_t *capacity,
                               const struct hub_scatter_span *parts, uint64_t first, uint64_t count,
                               struct scatter_sums *sums, struct hub_error *err)
{
    HUB_TRY(hub_grow(&many->runs, many->run_count, capacity, sizeof *many->runs, err));
    struct hub_scatter_span *run = &many->runs[many->run_count];
    *run = *parts;
    HUB_TRY(price_plan(&run->plan, run->parts, first, count, run->parts->files, err));
    const bool alone = run->count == 1 && many->variant.kind != HUB_KIND_VAR;
    const uint64_t copied = alone ? 0 : run->plan.bytes_out;
    many->run_count++;
    many->bytes_decode += run->plan.bytes_decode;
    many->cost_ns += run->plan.cost_us * UINT64_C(1000) + (uint64_t)((double)copied * HUB_NS_COPY_BYTE);
    sums->scratch = HUB_MAX(sums->scratch, run->plan.scratch_peak);
    sums->temporary = HUB_MAX(sums->temporary, copied);
    sums->kept += run->plan.bytes_out + run->plan.scratch_peak;
    sums->nulls |= run->plan.nulls;
    return HUB_OK;
}

/* Rows from `first` on, up to `end`, of which these parts have some. */
static enum hub_status add_runs(struct hub_scatter *many, uint32_t *capacity,
                                const struct hub_scatter_span *parts, uint64_t first, uint64_t end,
                                struct scatter_sums *sums, struct hub_error *err)
{
    const uint64_t row_bytes = hub_variant_row_bytes(&many->variant);
    const uint64_t most = row_bytes && parts->count > 1 ? RUN_BYTES / row_bytes + 1 : end - first;
    while (first < end) {
        const uint64_t to = end - first <= most ? end : HUB_MIN(reach(parts->parts, first + most - 1), end);
        HUB_TRY(add_run(many, capacity, parts, first, to - first, sums, err));
        first = to;
    }
    return HUB_OK;
}

static enum hub_status find_runs(struct hub_scatter *many, struct scatter_sums *sums, struct hub_error *err)
{
    uint32_t capacity = 0;
    for (uint32_t i = 0, next; i < many->count; i = next) {
        const struct hub_scatter_part *part = &many->parts[i];
        uint64_t end = end_of(part);
        for (next = i + 1; next < many->count; next++) {
            const struct hub_scatter_part *other = &many->parts[next];
            if (other->array != part->array || (other->first > end && other->first >= reach(part, end - 1)))
                break;
            end = HUB_MAX(end, end_of(other));
        }
        const struct hub_scatter_span parts = {.parts = part, .count = next - i};
        HUB_TRY(add_runs(many, &capacity, &parts, part->first, end, sums, err));
    }
    return HUB_OK;
}

/* ---- the price ---- */

/* Rows of varying length may be read once and come out often. */
static enum hub_status add_lengths(struct hub_scatter *many, struct hub_error *err)
{
    struct hub_plan plan;
    for (uint32_t i = 0; i < many->count; i++) {
        const struct hub_scatter_part *part = &many->parts[i];
        HUB_TRY(price_plan(&plan, part, part->first, part->count, NULL, err));
        many->bytes_out += plan.bytes_out;
        if (part->repeat) {
            HUB_TRY(price_plan(&plan, part, end_of(part) - 1, 1, NULL, err));
            if (plan.bytes_out > HUB_MAX_OUT / part->repeat)
                return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
            many->bytes_out += plan.bytes_out * part->repeat;
        }
        if (many->bytes_out > HUB_MAX_OUT)
            return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    }
    return HUB_OK;
}

/* Parts of no rows have no place. Returns how many rows the others have. */
static uint64_t drop_empty(struct hub_scatter *many)
{
    uint32_t kept = 0;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < many->count; i++)
        if (many->parts[i].count) {
            rows += many->parts[i].count + many->parts[i].repeat;
            many->parts[kept++] = many->parts[i];
        }
    many->count = kept;
    return rows;
}

enum hub_status hub_scatter_price(struct hub_scatter *many, struct hub_error *err)
{
    const bool var = many->variant.kind == HUB_KIND_VAR;
    const uint64_t row_bytes = hub_variant_row_bytes(&many->variant);
    struct scatter_sums sums = {0};
    hub_scatter_dispose(many);
    if (many->rows > HUB_MAX_OUT / HUB_MAX(row_bytes, var ? 9 : 1))
        return hub_fail(err, HUB_TOO_BIG, "more than 2 GiB of rows");
    many->sparse = drop_empty(many) < many->rows;
    many->bytes_decode = many->cost_ns = 0;
    many->bytes_out = many->rows * row_bytes;
    if (many->count)
        qsort(many->parts, many->count, sizeof *many->parts, by_position);
    HUB_TRY(find_runs(many, &sums, err));
    if (var)
        HUB_TRY(add_lengths(many, err));
    many->nulls = sums.nulls;
    many->memory = many->run_count * sizeof *many->runs + (sums.scratch + sums.temporary) * UNITS +
                   (var ? sums.kept + (many->rows + 1) * sizeof(uint64_t) : 0) +
                   (sums.nulls ? many->rows * hub_variant_row_items(&many->variant) : 0);
    return HUB_OK;
}

/* ---- what is fetched ---- */

static int by_file(const void *a_, const void *b_)
{
    const struct hub_want *a = a_, *b = b_;
    return ((uintptr_t)a->file > (uintptr_t)b->file) - ((uintptr_t)a->file < (uintptr_t)b->file);
}

enum hub_status hub_scatter_wants(struct hub_plan_files *const *lists, uint32_t count, struct hub_wants *out,
                                  struct hub_error *err)
{
    out->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_wants *wants = lists[i]->wants;
        for (uint32_t k = 0; wants && k < wants->count; k++) {
            HUB_TRY(hub_grow(&out->items, out->count, &out->capacity, sizeof *out->items, err));
            out->items[out->count] = wants->items[k];
            out->items[out->count++].file = hub_plan_files_get(lists[i], wants->items[k].number);
        }
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_file);
    /* one file may have other numbers in other lists */
    for (uint32_t i = 0, number = 0; i < out->count; i++) {
        number += i && out->items[i].file != out->items[i - 1].file;
        out->items[i].number = number;
    }
    (void)hub_wants_join(out);
    return HUB_OK;
}

/* ---- reading ---- */

/* One call of hub_scatter_run. */
struct scatter_call {
    const struct hub_scatter *many;
    struct hub_parallel alone;           /* where several threads read already */
    const struct hub_parallel *parallel; /* of one run */
    uint32_t units;
    uint64_t row_bytes, row_items;
    uint8_t *data, *valid;
    struct hub_rows *kept; /* VAR: those of each run */
    atomic_int status;     /* the first failure's */
    struct hub_error *err;
};

/* The rows of a part that a run has: [*from, *to) of the array. */
static bool shared_rows(const struct hub_scatter_span *run, const struct hub_scatter_part *part,
                        uint64_t *from, uint64_t *to)
{
    const struct hub_slice *slice = &run->plan.slice;
    *from = HUB_MAX(part->first, slice->start);
    *to = HUB_MIN(end_of(part), slice->start + slice->count);
    return *from < *to;
}

/* Items of `size` a row, of rows that were read together, to their places. */
static void scatter(const struct hub_scatter_span *run, const uint8_t *rows, uint64_t size, uint8_t *out)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const struct hub_scatter_part *part = &run->parts[i];
        uint64_t from, to;
        if (!shared_rows(run, part, &from, &to))
            continue;
        uint8_t *at = out + (part->to + (from - part->first)) * size;
        const uint8_t *source = rows + (from - run->plan.slice.start) * size;
        if (at != source)
            memcpy(at, source, (to - from) * size);
        at += (to - from) * size;
        for (uint64_t n = to == end_of(part) ? part->repeat : 0; n > 0; n--, at += size)
            memcpy(at, at - size, size);
    }
}

static uint64_t size_of(enum hub_scatter_sized sized, const struct hub_variant *variant, const uint8_t *row)
{
    uint64_t size = hub_variant_row_bytes(variant);
    if (sized == HUB_SIZED_TEXT && variant->kind == HUB_KIND_FIXED)
        return hub_variant_text_size(variant, row);
    while (sized == HUB_SIZED_TRIMMED && size && !row[size - 1])
        size--;
    return size;
}

/* Rows of one size become rows of their own length, in place. */
static enum hub_status make_lengths(struct hub_rows *rows, enum hub_scatter_sized sized,
                                    struct hub_error *err)
{
    const uint64_t row = hub_variant_row_bytes(&rows->variant),
                   values = hub_variant_row_items(&rows->variant);
    HUB_TRY(hub_new(&rows->offsets, rows->rows + 1, sizeof *rows->offsets, err));
    for (uint64_t i = 0; i < rows->rows; i++) {
        const uint8_t *from = rows->data + i * row;
        const bool null = rows->valid && !rows->valid[i * values];
        const uint64_t size = null ? 0 : size_of(sized, &rows->variant, from);
        memmove(rows->data + rows->offsets[i], from, size);
        rows->offsets[i + 1] = rows->offsets[i] + size;
        if (rows->valid)
            rows->valid[i] = !null;
    }
    rows->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    return HUB_OK;
}

static enum hub_status read_run(struct scatter_call *r, uint32_t number, struct hub_error *err)
{
    const struct hub_scatter_span *run = &r->many->runs[number];
    if (r->kept) {
        struct hub_rows *kept = &r->kept[number];
        HUB_TRY(hub_read(&run->plan, 0, r->parallel, NULL, kept, err));
        return kept->offsets ? HUB_OK : make_lengths(kept, r->many->sized, err);
    }
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows rows = {0};
    uint8_t *into = run->count == 1 ? r->data + run->parts->to * r->row_bytes : NULL;
    HUB_TRY(hub_read(&run->plan, 0, r->parallel, into, &rows, err));
    scatter(run, rows.data, r->row_bytes, r->data);
    if (rows.valid)
        scatter(run, rows.valid, r->row_items, r->valid);
    return HUB_OK;
}

static void read_unit(void *arg, uint32_t unit)
{
    struct scatter_call *r = arg;
    const uint32_t runs = r->many->run_count;
    const uint32_t from = (uint32_t)((uint64_t)runs * unit / r->units),
                   to = (uint32_t)((uint64_t)runs * (unit + 1) / r->units);
    struct hub_error err = {0};
    enum hub_status st = HUB_OK;
    for (uint32_t i = from; i < to && !st && !atomic_load_explicit(&r->status, memory_order_relaxed); i++)
        st = read_run(r, i, &err);
    int none = HUB_OK;
    if (st && atomic_compare_exchange_strong(&r->status, &none, (int)st) && r->err)
        *r->err = err;
}

static enum hub_status read_runs(struct scatter_call *r, const struct hub_parallel *parallel,
                                 struct hub_error *err)
{
    const struct hub_scatter *many = r->many;
    const uint64_t worth = HUB_MIN(many->cost_ns / UNIT_NS, many->run_count);
    r->err = err;
    r->parallel = parallel;
    r->units = (uint32_t)HUB_MIN(worth, UNITS);
    if (!parallel || !parallel->run || r->units < 2) {
        r->units = 1;
        read_unit(r, 0);
    } else {
        r->alone = (struct hub_parallel){.cancelled = parallel->cancelled};
        r->parallel = &r->alone;
        parallel->run(parallel->pool, read_unit, r, r->units);
    }
    return (enum hub_status)atomic_load(&r->status);
}

/* ---- rows of varying length ---- */

static uint64_t length_of(const struct hub_rows *rows, uint64_t row)
{
    return rows->offsets[row + 1] - rows->offsets[row];
}

/* What is done with a row that was read, for each place where it goes. */
typedef void each_row(struct hub_rows *out, uint64_t to, const struct hub_rows *rows, uint64_t row);

static void set_length(struct hub_rows *out, uint64_t to, const struct hub_rows *rows, uint64_t row)
{
    out->offsets[to + 1] = length_of(rows, row);
    if (rows->valid)
        out->valid[to] = rows->valid[row];
}

static void copy_row(struct hub_rows *out, uint64_t to, const struct hub_rows *rows, uint64_t row)
{
    memcpy(out->data + out->offsets[to], rows->data + rows->offsets[row], length_of(rows, row));
}

static void walk(const struct scatter_call *r, struct hub_rows *out, each_row *each)
{
    for (uint32_t i = 0; i < r->many->run_count; i++) {
        const struct hub_scatter_span *run = &r->many->runs[i];
        const uint64_t start = run->plan.slice.start;
        for (uint32_t p = 0; p < run->count; p++) {
            const struct hub_scatter_part *part = &run->parts[p];
            uint64_t from, to;
            if (!shared_rows(run, part, &from, &to))
                continue;
            for (uint64_t row = from; row < to; row++)
                each(out, part->to + (row - part->first), &r->kept[i], row - start);
            for (uint64_t n = 0; to == end_of(part) && n < part->repeat; n++)
                each(out, part->to + part->count + n, &r->kept[i], to - 1 - start);
        }
    }
}

static enum hub_status assemble(const struct scatter_call *r, struct hub_rows *out, struct hub_error *err)
{
    const uint64_t rows = r->many->rows;
    walk(r, out, set_length);
    for (uint64_t i = 0; i < rows; i++) {
        if (out->offsets[i + 1] > r->many->bytes_out - out->offsets[i])
            return hub_fail(err, HUB_TOO_BIG, "the rows are longer than planned");
        out->offsets[i + 1] += out->offsets[i];
    }
    out->data = malloc(HUB_MAX(out->offsets[rows], 1));
    HUB_TRY(hub_allocated(out->data, err));
    walk(r, out, copy_row);
    return HUB_OK;
}

/* ---- the call ---- */

static enum hub_status prepare(struct scatter_call *r, void *into, struct hub_rows *out,
                               struct hub_error *err)
{
    const struct hub_scatter *many = r->many;
    const uint64_t values = many->rows * r->row_items;
    if (many->variant.kind == HUB_KIND_VAR) {
        HUB_TRY(hub_new(&out->offsets, many->rows + 1, sizeof *out->offsets, err));
        HUB_TRY(hub_new(&r->kept, many->run_count, sizeof *r->kept, err));
    } else {
        out->data = into ? into : malloc(HUB_MAX(many->bytes_out, 1));
        HUB_TRY(hub_allocated(out->data, err));
        if (many->sparse)
            memset(out->data, 0, many->bytes_out);
    }
    if (many->nulls) {
        out->valid = malloc(HUB_MAX(values, 1));
        HUB_TRY(hub_allocated(out->valid, err));
        memset(out->valid, 1, values);
    }
    r->data = out->data;
    r->valid = out->valid;
    return HUB_OK;
}

enum hub_status hub_scatter_run(const struct hub_scatter *many, const struct hub_parallel *parallel,
                                void *into, struct hub_rows *out, struct hub_error *err)
{
    const bool var = many->variant.kind == HUB_KIND_VAR;
    struct scatter_call r = {.many = many,
                             .row_bytes = hub_variant_row_bytes(&many->variant),
                             .row_items = hub_variant_row_items(&many->variant)};
    struct hub_rows rows = {.variant = many->variant, .rows = many->rows, .owned = var || !into};
    enum hub_status st = prepare(&r, into, &rows, err);
    if (!st)
        st = read_runs(&r, parallel, err);
    if (!st && var)
        st = assemble(&r, &rows, err);
    for (uint32_t i = 0; r.kept && i < many->run_count; i++)
        hub_rows_dispose(&r.kept[i]);
    free(r.kept);
    if (!st && rows.valid && !memchr(rows.valid, 0, many->rows * r.row_items)) {
        free(rows.valid);
        rows.valid = NULL;
    }
    if (st)
        hub_rows_dispose(&rows);
    else
        *out = rows;
    return st;
}
