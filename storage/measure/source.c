/* Rows in blocks: see source.h. */
#include "storage/measure/source.h"

#include "storage/base/order.h"
#include "storage/measure/leaf.h"
#include "storage/measure/numbers.h"

#include <stdlib.h>

#define BLOCK_BYTES (1 * MIB)
#define TEXT_BYTES UINT64_C(512) /* of a row of varying length, as a guess */
#define MOST_BYTES (16 * MIB)    /* of a block that takes chunks whole */

uint32_t hub_source_dims(const struct hub_layout *layout, const struct hub_window *window)
{
    if (window->array == HUB_NONE)
        return 0;
    const struct hub_variant *v = &layout->variants[layout->arrays[window->array].variant];
    const uint64_t dims = hub_numbers_are(v) ? hub_variant_row_items(v) : 0;
    return dims <= HUB_MEASURE_DIMS ? (uint32_t)dims : 0;
}

/* For the first piece that ends at a row or behind it. */
static int by_end(const void *row, const void *piece)
{
    const struct hub_piece *p = piece;
    return p->first_row + p->rows < *(const uint64_t *)row ? 1 : -1;
}

/* The piece that holds the row before. */
static const struct hub_piece *piece_before(const struct hub_layout *layout, const struct hub_array *array,
                                            uint64_t end)
{
    const struct hub_piece *pieces = layout->pieces + array->first_piece;
    return pieces + hub_lower_bound(&end, pieces, array->piece_count, sizeof *pieces, by_end);
}

/* Where a chunk of the piece ends, at a row or behind it. */
static uint64_t chunk_end(const struct hub_layout *layout, const struct hub_piece *p, uint64_t row)
{
    const uint64_t rows = layout->grids[p->geometry].chunk[0], inside = row - p->first_row;
    return p->first_row + HUB_MIN((inside + rows - 1) / rows * rows, p->rows);
}

/* The last row of a chunk that is begun belongs to the block too. */
static uint64_t end_of_chunk(const struct hub_layout *layout, const struct hub_array *array, uint64_t end)
{
    const struct hub_piece *p = piece_before(layout, array, end);
    if (p->kind != HUB_PIECE_CHUNKED || !layout->pipelines[layout->grids[p->geometry].pipeline].count)
        return end;
    return chunk_end(layout, p, end);
}

uint32_t hub_source_column(const struct hub_row_source *s, const struct hub_window *window)
{
    return s->leaf ? 0 : hub_array_column(s->layout, &s->layout->arrays[window->array]);
}

uint64_t hub_source_column_rows(const struct hub_row_source *s, const struct hub_window *window,
                                uint64_t from)
{
    const struct hub_array *array = &s->layout->arrays[window->array];
    const uint64_t row = window->first + from;
    return chunk_end(s->layout, piece_before(s->layout, array, row + 1), row + 1) - row;
}

void hub_source_take_column(struct hub_row_source *s, uint32_t column)
{
    s->column = column + 1;
    s->count = 0;
}

uint64_t hub_source_block_bytes(const struct hub_layout *layout, const struct hub_array *a)
{
    const uint64_t row_bytes = HUB_MAX(hub_variant_row_bytes(&layout->variants[a->variant]), UINT64_C(1));
    uint64_t most = HUB_MAX(BLOCK_BYTES, row_bytes);
    for (uint32_t i = 0; i < a->piece_count; i++) {
        const struct hub_piece *p = &layout->pieces[a->first_piece + i];
        if (p->kind == HUB_PIECE_CHUNKED)
            most = HUB_MAX(most, BLOCK_BYTES + layout->grids[p->geometry].chunk[0] * row_bytes);
    }
    return HUB_MIN(most, HUB_MAX(MOST_BYTES, row_bytes));
}

static uint64_t rows_to_read(const struct hub_row_source *s, const struct hub_array *array, uint64_t first,
                             uint64_t row_bytes)
{
    const uint64_t rows = HUB_MAX(BLOCK_BYTES / row_bytes, UINT64_C(1));
    const uint64_t last = s->end ? s->end : array->rows;
    const uint64_t end = HUB_MIN(first + rows, last),
                   whole = HUB_MIN(end_of_chunk(s->layout, array, end), last);
    return (whole - first) * row_bytes <= MOST_BYTES ? whole - first : end - first;
}

static enum hub_status open_files(const struct hub_row_source *s, struct hub_error *err)
{
    for (uint32_t i = 0; i < s->files->count; i++) {
        struct hub_plan_file *file = &s->files->items[i];
        if (!file->file)
            HUB_TRY(s->host->open(s->host->user, file->number, &file->file, err));
    }
    return HUB_OK;
}

/* Blocks until what is not in place is fetched. */
static enum hub_status fetch(struct hub_row_source *s, struct hub_file_fetch **out, struct hub_error *err)
{
    if (!s->wants.count)
        return HUB_OK;
    hub_wants_join(&s->wants);
    for (uint32_t i = 0; i < s->wants.count; i++)
        s->wants.items[i].file = hub_plan_files_get(s->files, s->wants.items[i].number);
    const enum hub_status st = hub_fetch_start(&s->wants, out, err);
    return st == HUB_AGAIN ? hub_fetch_join(*out, s->host->stops, s->host->user, err) : st;
}

static enum hub_status read_planned(struct hub_row_source *s, const struct hub_plan *plan,
                                    struct hub_error *err)
{
    struct hub_file_fetch *fetched = NULL;
    HUB_TRY(open_files(s, err));
    enum hub_status st = fetch(s, &fetched, err);
    s->files->fetch = fetched;
    if (!st)
        st = hub_read(plan, 0, NULL, NULL, &s->rows, err);
    s->files->fetch = NULL;
    hub_fetch_put(fetched);
    return st;
}

/* They are doubles as they are stored. */
static bool are_doubles(const struct hub_rows *rows)
{
    const struct hub_variant *v = &rows->variant;
    return v->kind == HUB_KIND_FLOAT && v->item_size == sizeof(double) && !v->big_endian && !rows->valid &&
           (uintptr_t)rows->data % sizeof(double) == 0;
}

static enum hub_status convert(struct hub_row_source *s, struct hub_error *err)
{
    s->in_place = !s->leaf && are_doubles(&s->rows);
    if (s->in_place)
        return HUB_OK;
    const uint64_t values = s->rows.rows * (s->leaf ? 1 : hub_variant_row_items(&s->rows.variant));
    if (values > s->room) {
        free(s->values);
        s->values = NULL;
        s->room = 0;
        HUB_TRY(hub_new(&s->values, values, sizeof *s->values, err));
        s->room = values;
    }
    if (s->leaf)
        s->leaves += hub_leaf_numbers(&s->rows, s->leaf, s->values);
    else
        hub_numbers(&s->rows.variant, s->rows.data, s->rows.valid, values, s->values);
    return HUB_OK;
}

/* At most so many rows. */
static enum hub_status read_block(struct hub_row_source *s, uint32_t array, uint64_t first, uint64_t most,
                                  struct hub_error *err)
{
    const struct hub_array *a = &s->layout->arrays[array];
    struct hub_plan plan = {
        .layout = s->layout, .array = a, .variant = &s->layout->variants[a->variant], .files = s->files};
    plan.held = &s->held;
    if (s->column)
        hub_plan_column(&plan, s->column - 1, &s->narrow);
    const uint64_t row_bytes = s->leaf ? HUB_MAX(hub_variant_row_bytes(plan.variant), TEXT_BYTES)
                                       : hub_variant_row_bytes(plan.variant);
    plan.slice = (struct hub_slice){first, HUB_MIN(rows_to_read(s, a, first, row_bytes), most), 1};
    s->tried = plan.slice.count;
    hub_rows_dispose(&s->rows);
    s->count = s->wants.count = 0;
    s->files->wants = hub_store_in_place() ? NULL : &s->wants;
    HUB_TRY(hub_plan_price(&plan, err));
    const uint64_t doubles = plan.slice.count * hub_variant_row_items(plan.variant) * sizeof(double);
    HUB_TRY(s->host->turn(s->host->user, plan.bytes_out, plan.bytes_out + plan.scratch_peak + doubles, err));
    HUB_TRY(read_planned(s, &plan, err));
    HUB_TRY(convert(s, err));
    s->array = array;
    s->first = first;
    s->count = plan.slice.count;
    return HUB_OK;
}

/* One damaged chunk is no reason to miss the rows before it. */
static enum hub_status read_sound(struct hub_row_source *s, uint32_t array, uint64_t first, uint64_t count,
                                  struct hub_error *err)
{
    struct hub_error why = {0};
    const bool careful = s->bad_end > first && s->bad_array == array;
    const enum hub_status st = read_block(s, array, first, careful ? count : UINT64_MAX, &why);
    if (!hub_measure_is_verdict(st) || s->tried <= count)
        return st ? hub_pass(st, &why, err) : HUB_OK;
    s->bad_array = array;
    s->bad_end = first + s->tried;
    return read_block(s, array, first, count, err);
}

enum hub_status hub_source_get(struct hub_row_source *s, const struct hub_window *window, uint64_t from,
                               uint64_t count, struct hub_block *out, struct hub_error *err)
{
    const uint64_t first = window->first + from;
    if (!s->count || s->array != window->array || first < s->first || first >= s->first + s->count)
        HUB_TRY(read_sound(s, window->array, first, count, err));
    static const struct hub_variant real = {.kind = HUB_KIND_FLOAT, .item_size = sizeof(double)};
    const uint64_t at = first - s->first;
    if (s->leaf) {
        *out = (struct hub_block){
            .variant = &real, .dims = 1, .rows = HUB_MIN(count, s->count - at), .values = s->values + at};
        return HUB_OK;
    }
    const struct hub_variant *v = &s->rows.variant;
    const uint64_t dims = hub_variant_row_items(v);
    *out = (struct hub_block){
        .variant = v,
        .dims = (uint32_t)dims,
        .rows = HUB_MIN(count, s->count - at),
        .values = (s->in_place ? (const double *)(const void *)s->rows.data : s->values) + at * dims,
        .raw = s->rows.data + at * dims * v->item_size,
        .valid = s->rows.valid ? s->rows.valid + at * dims : NULL};
    return HUB_OK;
}

void hub_source_dispose(struct hub_row_source *s)
{
    hub_wants_dispose(&s->wants);
    hub_rows_dispose(&s->rows);
    hub_held_dispose(&s->held);
    free(s->values);
}

bool hub_measure_is_verdict(enum hub_status st)
{
    return st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG || st == HUB_OUT_OF_RANGE;
}
